"""Declarations of `conv_depthwise.pyx`: depthwise convolutions by rows of the output."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.conv_weight_packing cimport ConvWeight
from ts.backends.cpu.kernels.microkernels cimport DepthwisePlane, Kernels

cdef struct DepthwiseTask:
    # Operands of a depthwise convolution. Strides count elements.
    Kernels *kernels
    DepthwisePlane plane
    char *input
    int64_t image_stride
    int64_t channel_stride
    int64_t row_stride
    ConvWeight *weight
    const int64_t *tap_index           # 3 indices into the weight's window per tap
    char *bias
    int64_t bias_stride
    char *out
    int64_t images


# Set the layout of the copied channel in `task.plane`, in which `column_offsets` are relative to the input. Write
# the offsets in the copy to `column_offsets`. Return False if the copy would need too much memory.
cdef bint lay_out_columns(DepthwiseTask *task, int64_t *column_offsets) noexcept nogil
# Compute one partition of the channels of all images. Return -1 if memory is exhausted.
cdef int compute_channels(DepthwiseTask *task, int64_t partition, int64_t partition_count) noexcept nogil
