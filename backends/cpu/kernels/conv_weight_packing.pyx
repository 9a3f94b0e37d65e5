"""Weight packing of convolutions: the layout that the microkernels read, and its cache.

Input: the weight of a convolution, and the taps of a correlation. Output: the weight as (group, block of the depth,
tile of filters, step of the depth, filter in the tile). A step of the depth is a pair of channel and tap. A block has
WEIGHT_BLOCK_DEPTH steps, the last block the remaining ones. A tile has as many filters as a microkernel has rows. A
convolution reads the packed weight in the order of its addresses. For example, a weight of shape (6, channels, taps)
and a microkernel with 4 rows have two tiles:

    tile 0: filters 0, 1, 2, 3          tile 1: filters 4, 5, and zeros in place of two more filters

The first call with a weight packs the weight only for this call. The second call stores the packed weight in
`packed_operand_cache`, from which later calls read it. A weight that cannot be cached is packed in each call.
"""

cimport numpy as cnp
from libc.stdint cimport int64_t

from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of, size_of, strides_of
from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.blas_matrix cimport Matrix
from ts.backends.cpu.kernels.conv_layout cimport real
from ts.backends.cpu.kernels.gemm_tiles cimport Packed, new_packed
from ts.backends.cpu.kernels.kernel cimport item_size
from ts.backends.cpu.kernels.microkernels cimport Kernels, microkernels
from ts.backends.cpu.kernels.packed_operand_cache cimport CacheEntry, cached_in_layout


cdef void describe_weight(ConvWeight *w, PyArrayObject *array, int64_t groups, bint transposed) noexcept:
    cdef int ndim = ndim_of(array), d
    cdef Py_ssize_t itemsize = item_size(array)
    cdef int64_t first = strides_of(array)[0] // itemsize, second = strides_of(array)[1] // itemsize
    w.data = data_of(array)
    w.groups = groups
    w.double_ = itemsize == 8
    if transposed:
        w.channels, w.filters = dims_of(array)[0] // groups, dims_of(array)[1]
        w.strides[0], w.strides[1], w.strides[2] = first * w.channels, second, first
    else:
        w.filters, w.channels = dims_of(array)[0] // groups, dims_of(array)[1]
        w.strides[0], w.strides[1], w.strides[2] = first * w.filters, first, second
    for d in range(3):
        w.strides[3 + d] = strides_of(array)[ndim - 3 + d] // itemsize if ndim - 3 + d >= 2 else 0


cdef int64_t packed_group_size(ConvWeight *w, int64_t taps) noexcept nogil:
    cdef int64_t rows = microkernels(w.double_).rows
    return (w.filters + rows - 1) // rows * rows * w.channels * taps


cdef bint has_contiguous_filters(ConvWeight *w, const int64_t *tap_index, int64_t taps) noexcept nogil:
    cdef int64_t tap
    if w.channels > 1 and w.strides[2] != taps:
        return False
    for tap in range(taps):
        if weight_offset(w, tap_index + 3 * tap, 0, 0, 0) != tap:
            return False
    return True


cdef void pack_tiles(ConvWeight *w, const int64_t *tap_index, int64_t taps, real *to) noexcept nogil:
    cdef int64_t rows = microkernels(w.double_).rows, depth = w.channels * taps, group, block, start, tile
    cdef int64_t blocks = (depth + WEIGHT_BLOCK_DEPTH - 1) // WEIGHT_BLOCK_DEPTH
    cdef bint contiguous = has_contiguous_filters(w, tap_index, taps)
    for group in range(w.groups):
        for block in range(blocks):
            start = block * WEIGHT_BLOCK_DEPTH
            for tile in range((w.filters + rows - 1) // rows):
                to = pack_tile(
                    w, tap_index, taps, contiguous, group, tile * rows, start, min(start + WEIGHT_BLOCK_DEPTH, depth), to
                )


cdef real *pack_tile(
    ConvWeight *w, const int64_t *tap_index, int64_t taps, bint contiguous, int64_t group, int64_t filter, int64_t start,
    int64_t end, real *to
) noexcept nogil:
    """Pack steps [start, end) of the depth for the filters of the tile that begins at `filter`.

    Return the end of the packed tile.
    """
    cdef Kernels *kernels = microkernels(w.double_)
    cdef int64_t rows = kernels.rows, stride = w.strides[1], filled = min(rows, w.filters - filter), k, r
    cdef real *line
    if contiguous and filled == rows:
        line = <real *>w.data + weight_offset(w, tap_index, group, filter, 0) + start
        kernels.transpose_rows(end - start, line, stride, to, <int>rows)
        return to + (end - start) * rows
    for k in range(start, end):
        line = <real *>w.data + weight_offset(w, tap_index + 3 * (k % taps), group, filter, k // taps)
        for r in range(filled):
            to[r] = line[r * stride]
        for r in range(filled, rows):
            to[r] = 0
        to += rows
    return to


cdef void pack_weight(ConvWeight *w, const int64_t *tap_index, int64_t taps, void *to) noexcept nogil:
    if w.double_:
        pack_tiles(w, tap_index, taps, <double *>to)
    else:
        pack_tiles(w, tap_index, taps, <float *>to)


# ---------------------------------------------------------------- cache

cdef struct PackingTask:
    ConvWeight *weight
    const int64_t *tap_index
    int64_t taps


cdef Packed pack_for_cache(const void *context, CacheEntry entry):
    cdef const PackingTask *task = <const PackingTask *>context
    cdef int64_t count = packed_group_size(task.weight, task.taps) * task.weight.groups
    cdef Packed result = new_packed(count * (8 if task.weight.double_ else 4))
    if result is not None:
        pack_weight(task.weight, task.tap_index, task.taps, result.panels.memory)
    return result


cdef Packed cached_weight(
    Tensor t, ConvWeight *w, const int64_t *tap_index, int64_t taps, bytes layout, Py_ssize_t caller_references
):
    cdef PyArrayObject *array = <PyArrayObject *>t.array
    cdef Matrix key
    cdef PackingTask task
    # Another thread may have replaced the array of `t`.
    if data_of(array) != w.data or not flags_of(array) & cnp.NPY_ARRAY_C_CONTIGUOUS:
        return None
    key.data, key.rows, key.columns = w.data, size_of(array), w.groups
    key.pitch, key.flag = microkernels(w.double_).rows, 0
    task.weight, task.tap_index, task.taps = w, tap_index, taps
    return cached_in_layout(t, w.double_, &key, layout, pack_for_cache, &task, caller_references)
