"""Sums and means of bags of embeddings on the CPU.

Input: interpreter registers with a table of embeddings, indices of its rows, and the position of the first index
of each bag. Output: the registers of the results, of which the first has a row for each bag. Example:

    embedding_bag(table, [4, 1, 3], offsets=[0, 2])      rows: table[4] + table[1], table[3]

For other modes, dtypes and layouts, for a padding index and for invalid arguments, the operator's Python kernel
runs. Rows are added in the order of the indices. Each index is read from memory once, then checked and used.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT32, INT64, PyArrayObject, data_of, dims_of, ndim_of, new_array, size_of
from ts._core.tensor.scalar_types cimport number_of_scalar_type
from ts._core.value.ivalue cimport IValue, TAG_NONE
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, float_array, new_contiguous, scalar_type, set_result
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel

cnp.import_array()

ctypedef fused floating:
    float
    double

ctypedef fused integer:
    int32_t
    int64_t

cdef enum:
    SUM, MEAN                          # values of the argument `mode`


cdef bint are_valid_offsets(const integer *offsets, npy_intp count, npy_intp indices) noexcept nogil:
    """Return whether offsets begin with 0, are ascending, and do not exceed the number of indices."""
    cdef npy_intp i
    if count and (offsets[0] != 0 or offsets[count - 1] > indices):
        return False
    for i in range(1, count):
        if offsets[i] < offsets[i - 1]:
            return False
    return True


cdef bint reduce_bags(
    const floating *table, npy_intp rows, npy_intp width, const integer *indices, npy_intp end, const integer *offsets,
    npy_intp bags, const floating *scales, bint mean, floating *out, integer *sizes
) noexcept nogil:
    """Reduce the embeddings of each bag to a row of `out`, their sum or mean. Write bag sizes to `sizes`.

    `scales` has a factor for each index. `scales` and `sizes` may be NULL. Return False if an index or an offset
    is out of range.
    """
    cdef npy_intp bag, i, c, first, last
    cdef int64_t row
    cdef floating scale
    cdef const floating *line
    for bag in range(bags):
        first = offsets[bag]
        last = offsets[bag + 1] if bag + 1 < bags else end
        # another thread may have changed the offsets since `are_valid_offsets`
        if not 0 <= first <= last <= end:
            return False
        memset(out, 0, width * sizeof(floating))
        for i in range(first, last):
            row = indices[i]
            if <uint64_t>row >= <uint64_t>rows:
                return False
            line = table + row * width
            if scales != NULL:
                scale = scales[i]
                for c in range(width):
                    out[c] += line[c] * scale
            else:
                for c in range(width):
                    out[c] += line[c]
        if mean and last > first:
            scale = <floating>(last - first)
            for c in range(width):
                out[c] /= scale
        if sizes != NULL:
            sizes[bag] = <integer>(last - first)
        out += width
    return True


cdef void fill_bag_numbers(const integer *offsets, npy_intp bags, npy_intp count, integer *out) noexcept nogil:
    """Write the number of the bag of each index to `out`, -1 for indices before the first bag."""
    cdef npy_intp i, bag = -1
    for i in range(count):
        while bag + 1 < bags and offsets[bag + 1] <= i:
            bag += 1
        out[i] = <integer>bag


cdef bint compute_bags(
    const floating *table, npy_intp rows, npy_intp width, const integer *indices, npy_intp count, const integer *offsets,
    npy_intp offset_count, bint include_last_offset, const floating *scales, bint mean, floating *out,
    integer *bag_numbers, integer *sizes
) noexcept nogil:
    """Compute the results of a call. Return False if an index or an offset is out of range.

    With `include_last_offset`, the last offset is the end of the last bag. `bag_numbers` is NULL if the result with
    the bag number of each index is empty. `sizes` is NULL if the result with the bag sizes is zero.
    """
    cdef npy_intp bags = offset_count - 1 if include_last_offset else offset_count
    cdef npy_intp end = <npy_intp>offsets[offset_count - 1] if include_last_offset else count
    if end > count or not are_valid_offsets(offsets, offset_count, count):
        return False
    if not reduce_bags(table, rows, width, indices, end, offsets, bags, scales, mean, out, sizes):
        return False
    if bag_numbers != NULL:
        fill_bag_numbers(offsets, bags, count, bag_numbers)
    return True


cdef object zero_array(npy_intp count, int kind):
    """Return an array of `count` zeros of ScalarType `kind`."""
    cdef object result = new_array(1, &count, number_of_scalar_type(kind))
    memset(data_of(<PyArrayObject *>result), 0, count * (4 if kind == INT32 else 8))
    return result


cdef int run_embedding_bag(Operator op, IValue *r, const int32_t *at, bint has_padding) except -1:
    """Run an operator. `has_padding` is True if the call has a padding index."""
    cdef PyArrayObject *table = float_array(&r[at[0]])
    cdef PyArrayObject *indices = contiguous_array_or_null(&r[at[1]])
    cdef PyArrayObject *offsets = contiguous_array_or_null(&r[at[2]])
    cdef PyArrayObject *scales = NULL
    cdef int64_t mode = r[at[4]].v.i
    cdef bint include_last_offset = r[at[7]].v.i, done, mean = mode == MEAN
    cdef int kind, index_kind
    cdef npy_intp shape[2]
    cdef npy_intp offset_count, count, bags
    cdef void *bag_numbers = NULL
    cdef void *sizes = NULL
    cdef void *out
    cdef const void *factors = NULL
    cdef ReleasedGil gil_state
    if table == NULL or indices == NULL or offsets == NULL or has_padding or (mode != SUM and not mean):
        return UNSUPPORTED
    kind, index_kind = scalar_type(&r[at[0]]), scalar_type(&r[at[1]])
    if (index_kind != INT64 and index_kind != INT32) or scalar_type(&r[at[2]]) != index_kind:
        return UNSUPPORTED
    if ndim_of(table) != 2 or ndim_of(offsets) != 1 or not 1 <= ndim_of(indices) <= 2 or size_of(table) == 0:
        return UNSUPPORTED
    if r[at[6]].tag != TAG_NONE:
        scales = float_array(&r[at[6]])
        if scales == NULL or scalar_type(&r[at[6]]) != kind or mean or ndim_of(scales) != ndim_of(indices):
            return UNSUPPORTED
        if dims_of(scales)[0] != dims_of(indices)[0] or size_of(scales) != size_of(indices):
            return UNSUPPORTED
        factors = data_of(scales)
    offset_count, count = dims_of(offsets)[0], size_of(indices)
    if offset_count < 1:
        return UNSUPPORTED
    bags = offset_count - 1 if include_last_offset else offset_count
    shape[0], shape[1] = bags, dims_of(table)[1]
    result = new_contiguous(2, shape, kind)
    out = data_of(<PyArrayObject *>result)
    # Only the mean and float64 fill the bag numbers of indices, as in PyTorch.
    bag_number_array = zero_array(count if mean or kind == DOUBLE else 0, index_kind)
    size_array = zero_array(bags if mean else offset_count, index_kind)
    if mean or kind == DOUBLE:
        bag_numbers = data_of(<PyArrayObject *>bag_number_array)
    if mean:
        sizes = data_of(<PyArrayObject *>size_array)
    gil_state = leave_gil(count * shape[1], r, at, op.nargs)
    if kind == FLOAT and index_kind == INT64:
        done = compute_bags[float, int64_t](
            <float *>data_of(table), dims_of(table)[0], shape[1], <int64_t *>data_of(indices), count,
            <int64_t *>data_of(offsets), offset_count, include_last_offset, <const float *>factors, mean,
            <float *>out, <int64_t *>bag_numbers, <int64_t *>sizes,
        )
    elif kind == FLOAT:
        done = compute_bags[float, int32_t](
            <float *>data_of(table), dims_of(table)[0], shape[1], <int32_t *>data_of(indices), count,
            <int32_t *>data_of(offsets), offset_count, include_last_offset, <const float *>factors, mean,
            <float *>out, <int32_t *>bag_numbers, <int32_t *>sizes,
        )
    elif index_kind == INT64:
        done = compute_bags[double, int64_t](
            <double *>data_of(table), dims_of(table)[0], shape[1], <int64_t *>data_of(indices), count,
            <int64_t *>data_of(offsets), offset_count, include_last_offset, <const double *>factors, mean,
            <double *>out, <int64_t *>bag_numbers, <int64_t *>sizes,
        )
    else:
        done = compute_bags[double, int32_t](
            <double *>data_of(table), dims_of(table)[0], shape[1], <int32_t *>data_of(indices), count,
            <int32_t *>data_of(offsets), offset_count, include_last_offset, <const double *>factors, mean,
            <double *>out, <int32_t *>bag_numbers, <int32_t *>sizes,
        )
    take_gil(gil_state)
    if not done:
        return UNSUPPORTED
    set_result(&r[at[op.nargs]], result, kind)
    set_result(&r[at[op.nargs + 1]], bag_number_array, index_kind)
    set_result(&r[at[op.nargs + 2]], size_array, index_kind)
    return set_result(&r[at[op.nargs + 3]], size_array.copy(), index_kind)


cdef int embedding_bag(Operator op, IValue *r, const int32_t *at) except -1:
    return run_embedding_bag(op, r, at, False)


cdef int embedding_bag_padding_idx(Operator op, IValue *r, const int32_t *at) except -1:
    return run_embedding_bag(op, r, at, r[at[8]].tag != TAG_NONE)


cdef int embedding_bag_int_padding_idx(Operator op, IValue *r, const int32_t *at) except -1:
    return run_embedding_bag(op, r, at, r[at[8]].v.i >= 0)


register_kernel("aten::embedding_bag", embedding_bag, CONTIGUOUS)
register_kernel("aten::embedding_bag.padding_idx", embedding_bag_padding_idx, CONTIGUOUS)
register_kernel("aten::_embedding_bag", embedding_bag_int_padding_idx, CONTIGUOUS)
register_kernel("aten::_embedding_bag_forward_only", embedding_bag_int_padding_idx, CONTIGUOUS)
