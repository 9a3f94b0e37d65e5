"""Iteration over index tensors. `index_iterator.pxd` describes the contract."""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.stdint cimport int8_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport (
    BOOL, DOUBLE, FLOAT, INT32, INT64, PyArrayObject, data_of, dims_of, flags_of, ndim_of, size_of, strides_of
)
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.value.container cimport List, list_slot
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS, contiguous_array_or_null, is_tensor, new_contiguous, scalar_type
from ts.backends.cpu.kernels.unaligned_types cimport eight_bytes, four_bytes, two_bytes

cnp.import_array()

ctypedef fused element:
    int8_t
    two_bytes
    four_bytes
    eight_bytes
    float
    double


# ---------------------------------------------------------------- one row of indices

cdef inline void apply_at(IndexOp index_op, element *array, element *other) noexcept nogil:
    if index_op == TAKE:
        other[0] = array[0]
    elif index_op == PUT:
        array[0] = other[0]
    elif index_op == ADD:
        array[0] += other[0]
    elif index_op == MULTIPLY:
        array[0] *= other[0]
    elif index_op == MAXIMUM:
        if other[0] > array[0] or other[0] != other[0]:
            array[0] = other[0]
    elif index_op == MINIMUM:
        if other[0] < array[0] or other[0] != other[0]:
            array[0] = other[0]


cdef inline void apply_to_line(IndexOp index_op, npy_intp n, element *array, npy_intp stride, element *other, npy_intp other_stride) noexcept nogil:
    """Apply the operation to `n` elements at one index. `stride` and `other_stride` are in bytes."""
    cdef npy_intp j
    if stride == sizeof(element) and other_stride == sizeof(element):
        if index_op == ADD:
            for j in range(n):
                array[j] += other[j]
        elif index_op == PUT:
            memcpy(array, other, n * sizeof(element))
        else:
            for j in range(n):
                apply_at(index_op, array + j, other + j)
    else:
        for j in range(n):
            apply_at(index_op, <element *>(<char *>array + j * stride), <element *>(<char *>other + j * other_stride))


cdef inline bint iterate_index_row(
    bint narrow, IndexOp index_op, uint64_t length, npy_intp stride, npy_intp n, char *array, npy_intp array_stride, const char *index,
    npy_intp index_stride, element *other, npy_intp other_stride
) noexcept nogil:
    """Apply the operation to one row of `n` indices. Return False at an index that is out of range.

    The loop constants are separate arguments. The compiler would assume that stores change fields of a
    structure.
    """
    cdef npy_intp j
    cdef int64_t position
    cdef char *to = <char *>other
    for j in range(n):
        position = wrap_index(index, narrow, 0, 0)
        if <uint64_t>position >= length:
            return False
        apply_at(index_op, <element *>(array + position * stride), <element *>to)
        array += array_stride
        index += index_stride
        to += other_stride
    return True


cdef bint iterate_row(
    IndexIterator *walk, IndexOp index_op, npy_intp n, char *array, npy_intp array_stride, const char *index, npy_intp index_stride, element *other,
    npy_intp other_stride
) noexcept nogil:
    cdef int64_t position
    if index_stride == 0:
        position = wrap_index(index, walk.narrow, 0, 0)
        if <uint64_t>position >= <uint64_t>walk.n:
            return False
        apply_to_line(index_op, n, <element *>(array + position * walk.stride), array_stride, other, other_stride)
        return True
    if index_op == PUT and not walk.narrow:
        return iterate_index_row(False, PUT, walk.n, walk.stride, n, array, array_stride, index, index_stride, other, other_stride)
    if index_op == ADD and not walk.narrow:
        return iterate_index_row(False, ADD, walk.n, walk.stride, n, array, array_stride, index, index_stride, other, other_stride)
    if index_op == TAKE and not walk.narrow:
        return iterate_index_row(False, TAKE, walk.n, walk.stride, n, array, array_stride, index, index_stride, other, other_stride)
    return iterate_index_row(walk.narrow, index_op, walk.n, walk.stride, n, array, array_stride, index, index_stride, other, other_stride)


cdef bint iterate_elements(IndexIterator *walk, IndexOp index_op, char *array, const char *index, element *other) noexcept nogil:
    """Apply the operation at all indices, row by row. Return False at an index that is out of range."""
    cdef npy_intp at[MAX_DIMS]
    cdef char *other_data = <char *>other
    cdef int d, last = walk.nd - 1
    if last < 0:
        return iterate_row(walk, index_op, 1, array, 0, index, 0, other, 0)
    for d in range(walk.nd):
        at[d] = 0
        if walk.dims[d] == 0:
            return True
    while True:
        if not iterate_row(
            walk, index_op, walk.dims[last], array, walk.array[last], index, walk.index[last], <element *>other_data, walk.other[last]
        ):
            return False
        d = last - 1
        while d >= 0:
            at[d] += 1
            array += walk.array[d]
            index += walk.index[d]
            other_data += walk.other[d]
            if at[d] < walk.dims[d]:
                break
            array -= walk.array[d] * walk.dims[d]
            index -= walk.index[d] * walk.dims[d]
            other_data -= walk.other[d] * walk.dims[d]
            at[d] = 0
            d -= 1
        if d < 0:
            return True


# ---------------------------------------------------------------- selection by dtype

cdef bint supports_arithmetic(int kind) noexcept nogil:
    return kind == FLOAT or kind == DOUBLE or kind == INT64 or kind == INT32


cdef bint iterate_indices(IndexIterator *walk, IndexOp index_op, int kind, char *array, const char *index, char *other) noexcept nogil:
    if kind == FLOAT:
        return iterate_elements[float](walk, index_op, array, index, <float *>other)
    if kind == DOUBLE:
        return iterate_elements[double](walk, index_op, array, index, <double *>other)
    if walk.width == 8:
        return iterate_elements[eight_bytes](walk, index_op, array, index, <eight_bytes *>other)
    if walk.width == 4:
        return iterate_elements[four_bytes](walk, index_op, array, index, <four_bytes *>other)
    if walk.width == 2:
        return iterate_elements[two_bytes](walk, index_op, array, index, <two_bytes *>other)
    return iterate_elements[int8_t](walk, index_op, array, index, <int8_t *>other)


# ---------------------------------------------------------------- offsets of elements

cdef PyArrayObject *read_indices(IValue *x) noexcept:
    cdef PyArrayObject *a
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU:
        return NULL
    if scalar_type(x) != INT64 and scalar_type(x) != INT32:
        return NULL
    a = <PyArrayObject *>(<Tensor>x.v.o).array
    return a if flags_of(a) & cnp.NPY_ARRAY_ALIGNED else NULL


cdef object mask_offsets(PyArrayObject *mask, const npy_intp *lengths, const npy_intp *steps):
    """Return the sum of steps[d] * i[d] for the indices i of each true element, or None for another mask shape."""
    cdef npy_intp at[MAX_DIMS]
    cdef npy_intp n = size_of(mask), count = 0, i
    cdef int d, nd = ndim_of(mask)
    cdef const uint8_t *is_selected = <const uint8_t *>data_of(mask)
    cdef int64_t *offsets
    cdef int64_t offset = 0
    for d in range(nd):
        at[d] = 0
        if dims_of(mask)[d] != lengths[d]:
            return None
    for i in range(n):
        count += is_selected[i] != 0
    result = new_contiguous(1, &count, INT64)
    offsets = <int64_t *>data_of(<PyArrayObject *>result)
    for i in range(n):
        if count == 0:
            break
        if is_selected[i]:
            offsets[0] = offset
            offsets += 1
            count -= 1
        d = nd - 1
        while d >= 0:
            at[d] += 1
            offset += steps[d]
            if at[d] < lengths[d]:
                break
            offset -= steps[d] * lengths[d]
            at[d] = 0
            d -= 1
    return result if count == 0 else None  # another thread may have changed the mask


cdef object index_offsets(List indices, int first, int nd, const npy_intp *lengths, const npy_intp *steps, int *covered):
    cdef PyArrayObject *index
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef npy_intp at[MAX_DIMS]
    cdef npy_intp n = 1, i, length
    cdef int k, d, lead, rank = 0, count = <int>indices.size - first
    cdef int64_t *offsets
    cdef int64_t position
    cdef char *data
    cdef bint narrow
    cdef IValue *mask
    covered[0] = count
    if count == 1 and is_tensor(list_slot(<PyObject *>indices, first)) and scalar_type(list_slot(<PyObject *>indices, first)) == BOOL:
        mask = list_slot(<PyObject *>indices, first)
        if contiguous_array_or_null(mask) == NULL:
            return None
        covered[0] = ndim_of(contiguous_array_or_null(mask))
        return mask_offsets(contiguous_array_or_null(mask), lengths, steps) if 0 < covered[0] <= nd else None
    if not 0 < count <= nd:
        return None
    for k in range(count):
        index = read_indices(list_slot(<PyObject *>indices, first + k))
        if index == NULL:
            return None
        rank = max(rank, ndim_of(index))
    for d in range(rank):
        dims[d] = 1
    for k in range(count):
        index = read_indices(list_slot(<PyObject *>indices, first + k))
        lead = rank - ndim_of(index)
        for d in range(ndim_of(index)):
            if dims_of(index)[d] != 1:
                if dims[lead + d] != 1 and dims[lead + d] != dims_of(index)[d]:
                    return None
                dims[lead + d] = dims_of(index)[d]
    result = new_contiguous(rank, dims, INT64)
    for k in range(count):
        index = read_indices(list_slot(<PyObject *>indices, first + k))
        narrow = scalar_type(list_slot(<PyObject *>indices, first + k)) == INT32
        lead, data, n, length = rank - ndim_of(index), data_of(index), 1, lengths[k]
        offsets = <int64_t *>data_of(<PyArrayObject *>result)
        for d in range(rank):
            at[d] = 0
            n *= dims[d]
            strides[d] = 0 if d < lead or dims_of(index)[d - lead] == 1 else strides_of(index)[d - lead]
        if flags_of(index) & cnp.NPY_ARRAY_C_CONTIGUOUS and size_of(index) == n:
            for i in range(n):
                position = wrap_index(data, narrow, i, length)
                if <uint64_t>position >= <uint64_t>length:
                    return None
                offsets[i] = position * steps[k] + (0 if k == 0 else offsets[i])
            continue
        for i in range(n):
            position = wrap_index(data, narrow, 0, length)
            if <uint64_t>position >= <uint64_t>length:
                return None
            offsets[i] = position * steps[k] + (0 if k == 0 else offsets[i])
            d = rank - 1
            while d >= 0:
                at[d] += 1
                data += strides[d]
                if at[d] < dims[d]:
                    break
                data -= strides[d] * dims[d]
                at[d] = 0
                d -= 1
    return result
