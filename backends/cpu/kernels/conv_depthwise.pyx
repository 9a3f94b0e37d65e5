"""Depthwise convolutions of floating arrays with two spatial dimensions, by rows of the output.

Input: a `DepthwiseTask`. Output: the convolution. Each group has one channel, which is copied with zero columns
around it. For column stride 2, the copy has the even and then the odd columns of each row:

    row a b c d e with one zero column at each side, stride 2      even: 0 b d 0     odd: a c e

Each tap reads adjacent elements of the copy for adjacent output columns. `conv.pyx` computes the depthwise
convolutions that have other strides or dimensions.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memset

from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.conv_layout cimport real
from ts.backends.cpu.kernels.conv_weight_packing cimport has_contiguous_filters, weight_offset

cdef enum:
    MAX_COPY_ELEMENTS = 1 << 22        # maximal number of elements of the copy of a channel


cdef bint lay_out_columns(DepthwiseTask *task, int64_t *column_offsets) noexcept nogil:
    cdef DepthwisePlane *plane = &task.plane
    cdef int64_t lanes = task.kernels.lanes, count = (plane.out_width + lanes - 1) // lanes * lanes
    cdef int64_t stride = plane.column_stride, k, column
    plane.left = 0
    for k in range(plane.tap_columns):
        plane.left = max(plane.left, -plane.column_offsets[k])
    plane.half = (plane.left + plane.width + stride - 1) // stride
    for k in range(plane.tap_columns):
        plane.half = max(plane.half, (plane.left + plane.column_offsets[k]) // stride + count)
    plane.pitch = stride * plane.half
    if plane.pitch > MAX_COPY_ELEMENTS or plane.height * plane.pitch > MAX_COPY_ELEMENTS:
        return False
    for k in range(plane.tap_columns):
        column = plane.left + plane.column_offsets[k]
        column_offsets[k] = column // stride + column % stride * plane.half
    plane.column_offsets = column_offsets
    return True


cdef void copy_weight(DepthwiseTask *task, int64_t group, int64_t filter, real *to) noexcept nogil:
    cdef int64_t tap
    for tap in range(task.plane.tap_rows * task.plane.tap_columns):
        to[tap] = (<real *>task.weight.data)[weight_offset(task.weight, task.tap_index + 3 * tap, group, filter, 0)]


cdef inline void copy_channel(DepthwiseTask *task, int64_t index, char *to) noexcept nogil:
    """Copy channel `index`, counted over all images."""
    cdef int64_t groups = task.weight.groups
    cdef int64_t offset = index // groups * task.image_stride + index % groups * task.channel_stride
    task.kernels.depthwise_copy(
        &task.plane, task.input + offset * (8 if task.weight.double_ else 4), task.row_stride, to
    )


cdef int compute_channels(DepthwiseTask *task, int64_t partition, int64_t partition_count) noexcept nogil:
    cdef DepthwisePlane *plane = &task.plane
    cdef int64_t groups = task.weight.groups, count = task.images * groups, size = 8 if task.weight.double_ else 4
    # a multiple of 64 bytes with room for the vector after the last row
    cdef int64_t bytes = ((plane.height * plane.pitch + task.kernels.lanes) * size + 63) // 64 * 64
    cdef int64_t out_plane = plane.out_height * plane.out_width * size
    cdef int64_t begin = count * partition // partition_count, end = count * (partition + 1) // partition_count
    cdef int64_t i, group, filter, number
    cdef double bias = 0
    cdef bint contiguous = has_contiguous_filters(task.weight, task.tap_index, plane.tap_rows * plane.tap_columns)
    cdef char *filter_weight
    cdef char *copies = <char *>malloc_aligned(2 * bytes)
    cdef char *weight = <char *>malloc_aligned((plane.tap_rows * plane.tap_columns + 1) * size)
    if copies == NULL or weight == NULL:
        free(copies)
        free(weight)
        return -1
    memset(copies, 0, 2 * bytes)  # channels are copied to the same elements, so that the columns around them stay zero
    if begin < end:
        copy_channel(task, begin, copies)
    for i in range(begin, end):
        # Copy the next channel first: vector loads of elements that were just stored in parts stall.
        if i + 1 < end:
            copy_channel(task, i + 1, copies + (i + 1 - begin) % 2 * bytes)
        group = i % groups
        for filter in range(task.weight.filters):
            number = group * task.weight.filters + filter
            if task.bias != NULL and task.weight.double_:
                bias = (<double *>task.bias)[number * task.bias_stride]
            elif task.bias != NULL:
                bias = (<float *>task.bias)[number * task.bias_stride]
            filter_weight = weight
            if contiguous:
                filter_weight = task.weight.data + (
                    group * task.weight.strides[0] + filter * task.weight.strides[1]
                ) * size
            elif task.weight.double_:
                copy_weight(task, group, filter, <double *>weight)
            else:
                copy_weight(task, group, filter, <float *>weight)
            task.kernels.depthwise(
                plane, copies + (i - begin) % 2 * bytes, filter_weight, bias,
                task.out + (i * task.weight.filters + filter) * out_plane,
            )
    free(copies)
    free(weight)
    return 0
