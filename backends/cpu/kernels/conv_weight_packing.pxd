"""Declarations of `conv_weight_packing.pyx`: the weight of a convolution, and its packed form."""

from libc.stdint cimport int64_t

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.gemm_tiles cimport Packed

cdef enum:
    WEIGHT_BLOCK_DEPTH = 128           # maximal depth (channels times taps) of a block of the packed weight

cdef struct ConvWeight:
    char *data
    int64_t strides[6]                 # strides of group, filter, channel and 3 window dimensions, in elements
    int64_t groups
    int64_t filters                    # number of filters of a group
    int64_t channels                   # number of channels of a group
    bint double_


cdef inline int64_t weight_offset(
    ConvWeight *w, const int64_t *tap, int64_t group, int64_t filter, int64_t channel
) noexcept nogil:
    """Return the offset of an element of the weight. `tap` has the 3 indices of a tap in the window."""
    cdef int64_t *stride = w.strides
    return (
        group * stride[0] + filter * stride[1] + channel * stride[2]
        + tap[0] * stride[3] + tap[1] * stride[4] + tap[2] * stride[5]
    )


# Describe the weight `array` of a convolution or of a transposed convolution with `groups` groups.
cdef void describe_weight(ConvWeight *w, PyArrayObject *array, int64_t groups, bint transposed) noexcept
# Return whether the elements of a filter are adjacent in the order (channel, tap).
cdef bint has_contiguous_filters(ConvWeight *w, const int64_t *tap_index, int64_t taps) noexcept nogil
# Number of elements of a packed group of a weight with `taps` taps.
cdef int64_t packed_group_size(ConvWeight *w, int64_t taps) noexcept nogil
# Pack a weight as (group, block of the depth, tile of filters, step of the depth, filter in the tile). `tap_index`
# has 3 indices for each of `taps` taps. The last tile of a group is padded with zeros.
cdef void pack_weight(ConvWeight *w, const int64_t *tap_index, int64_t taps, void *to) noexcept nogil
# Return the packed weight from the cache, or None if the weight is not cached. `layout` identifies the packed
# layout: weights of the same shape with equal `layout` are packed equally. `caller_references` is the number of
# references to the tensor's array that the caller holds.
cdef Packed cached_weight(
    Tensor t, ConvWeight *w, const int64_t *tap_index, int64_t taps, bytes layout, Py_ssize_t caller_references
)
