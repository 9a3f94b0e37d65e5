"""Sums, means and maxima of bags of embeddings on the CPU.

Input: interpreter registers with a table of embeddings, indices of its rows, and the position of the first index
of each bag. Output: the registers of the results, of which the first has a row for each bag. Example:

    embedding_bag(table, [4, 1, 3], offsets=[0, 2])      rows: table[4] + table[1], table[3]

For other layouts and for invalid arguments, the operator's Python kernel runs. Rows are added in the order of the
indices. 16-bit floats are added in float32, and each sum is rounded once. Each index is read from memory once, then
checked and used.
"""

cimport numpy as cnp
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, HALF, INT32, INT64, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.value.ivalue cimport IValue, TAG_NONE
from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, item_size, new_contiguous, new_zeros, scalar_type, set_result
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel
from ts.backends.cpu.kernels.short_floats cimport BFLOAT16, shorten, to_float32

cnp.import_array()

ctypedef fused integer:
    int32_t
    int64_t

cdef extern from "simd_embedding_bag.h" nogil:
    ctypedef struct BagKernels:
        void (*sum)(const void **rows, Py_ssize_t count, Py_ssize_t width, const void *scales, double divisor, void *out, bint prefetches) noexcept nogil
        void (*max)(const void **rows, Py_ssize_t count, Py_ssize_t width, void *out, void *at, bint prefetches) noexcept nogil
    const BagKernels *float_bags()
    const BagKernels *double_bags()
    const BagKernels *half_bags()
    const BagKernels *bfloat16_bags()
    enum:
        PREFETCH_DISTANCE

cdef enum:
    SUM, MEAN, MAX                     # values of the argument `mode`
    MAX_CACHED_TABLE_BYTES = 1 << 19   # rows of smaller tables are not prefetched, because they fit in the L2 cache

ctypedef struct BagTask:
    const BagKernels *kernels
    int kind                           # ScalarType of the table
    int64_t mode
    const char *table
    npy_intp rows, width, row_bytes
    npy_intp count                     # number of indices
    int64_t padding                    # index to skip, or -1
    const char *scales                 # a factor for each index, or NULL; float32 for 16-bit tables
    char *out


cdef bint are_valid_offsets(const integer *offsets, npy_intp count, npy_intp indices) noexcept nogil:
    """Return whether offsets begin with 0, are ascending, and do not exceed the number of indices."""
    cdef npy_intp i
    if count and (offsets[0] != 0 or offsets[count - 1] > indices):
        return False
    for i in range(1, count):
        if offsets[i] < offsets[i - 1]:
            return False
    return True


cdef void list_next_rows(const BagTask *task, const integer *indices, npy_intp first, const void **rows) noexcept nogil:
    """List the rows of PREFETCH_DISTANCE indices from `first` on, which are prefetched but not read."""
    cdef npy_intp i
    cdef int64_t index
    for i in range(PREFETCH_DISTANCE):
        index = indices[first + i] if first + i < task.count else 0
        rows[i] = task.table + index * task.row_bytes if <uint64_t>index < <uint64_t>task.rows else task.table


cdef npy_intp list_rows(const BagTask *task, const integer *indices, npy_intp count, const void **rows) noexcept nogil:
    """List the rows of indices. Return the number of rows, or -1 if an index is out of range."""
    cdef npy_intp i
    cdef int64_t index
    for i in range(count):
        index = indices[i]
        if <uint64_t>index >= <uint64_t>task.rows:
            return -1
        rows[i] = task.table + index * task.row_bytes
    return count


cdef npy_intp select_rows(
    const BagTask *task, const integer *indices, npy_intp count, const void **rows, int64_t *selected, const char *scales,
    char *selected_scales
) noexcept nogil:
    """List the rows of indices that are not the padding index, and their factors, unless `scales` is NULL.

    Return the number of rows, or -1 if an index is out of range.
    """
    cdef npy_intp i, n = 0
    cdef int64_t index
    for i in range(count):
        index = indices[i]
        if <uint64_t>index >= <uint64_t>task.rows:
            return -1
        rows[n], selected[n] = task.table + index * task.row_bytes, index
        if scales != NULL and task.kind == DOUBLE:
            (<double *>selected_scales)[n] = (<const double *>scales)[i]
        elif scales != NULL:
            (<float *>selected_scales)[n] = (<const float *>scales)[i]
        n += index != task.padding
    return n


cdef int reduce_bags(
    const BagTask *task, const integer *indices, npy_intp end, const integer *offsets, npy_intp bags, integer *sizes, integer *best
) noexcept nogil:
    """Reduce the embeddings of each bag to a row of `out`. Write bag sizes to `sizes`, and indices of maxima to `best`.

    `sizes` and `best` may be NULL. Return 0 if an index or an offset is out of range, -1 if memory is exhausted.
    """
    cdef npy_intp bag, c, first, last, longest = 0, capacity, count, width = task.width
    cdef bint prefetches = task.rows * task.row_bytes > MAX_CACHED_TABLE_BYTES
    cdef bint is_short = task.kind == HALF or task.kind == BFLOAT16
    cdef npy_intp size = 8 if task.kind == DOUBLE else 4, out_bytes = width * (2 if is_short else size)
    cdef const void **rows
    cdef int64_t *selected
    cdef char *memory
    cdef char *selected_scales
    cdef const char *scales
    cdef char *sums
    cdef char *at
    cdef char *target
    cdef int result = 1
    for bag in range(bags):
        first = offsets[bag]
        last = offsets[bag + 1] if bag + 1 < bags else end
        # another thread may have changed the offsets since `are_valid_offsets`
        if not 0 <= first <= last <= end:
            return 0
        longest = max(longest, last - first)
    capacity = longest + PREFETCH_DISTANCE
    memory = <char *>malloc_aligned(capacity * (sizeof(void *) + sizeof(int64_t) + size) + 2 * width * size)
    if memory == NULL:
        return -1
    rows, selected = <const void **>memory, <int64_t *>(memory + capacity * sizeof(void *))
    selected_scales = <char *>(selected + capacity)
    sums = selected_scales + capacity * size
    at = sums + width * size
    for bag in range(bags):
        first = offsets[bag]
        last = offsets[bag + 1] if bag + 1 < bags else end
        if not 0 <= first <= last <= end or last - first > longest:
            result = 0
            break
        scales = NULL if task.scales == NULL else task.scales + first * size
        if task.padding < 0 and task.mode != MAX:
            count = list_rows(task, indices + first, last - first, rows)
        else:
            count = select_rows(task, indices + first, last - first, rows, selected, scales, selected_scales)
            scales = NULL if scales == NULL else selected_scales
        if count < 0:
            result = 0
            break
        if prefetches:
            list_next_rows(task, indices, last, rows + count)
        target = sums if is_short else task.out + bag * out_bytes
        if count == 0:
            memset(task.out + bag * out_bytes, 0, out_bytes)
        elif task.mode == MAX:
            task.kernels.max(rows, count, width, target, at, prefetches)
            if best != NULL and task.kind == DOUBLE:
                for c in range(width):
                    best[bag * width + c] = <integer>selected[(<int64_t *>at)[c]]
            elif best != NULL:
                for c in range(width):
                    best[bag * width + c] = <integer>selected[(<int32_t *>at)[c]]
        else:
            task.kernels.sum(
                rows, count, width, scales, <double>count if task.mode == MEAN else 1.0, target, prefetches
            )
        if is_short and count > 0:
            shorten(<const float *>sums, width, task.kind == BFLOAT16, task.out + bag * out_bytes, 2)
        if sizes != NULL:
            sizes[bag] = <integer>count
    free(memory)
    return result


cdef void fill_bag_numbers(const integer *offsets, npy_intp bags, npy_intp count, integer *out) noexcept nogil:
    """Write the number of the bag of each index to `out`, -1 for indices before the first bag."""
    cdef npy_intp i, bag = -1
    for i in range(count):
        while bag + 1 < bags and offsets[bag + 1] <= i:
            bag += 1
        out[i] = <integer>bag


cdef int compute_bags(
    const BagTask *task, const integer *indices, const integer *offsets, npy_intp offset_count, bint include_last_offset,
    integer *bag_numbers, integer *sizes, integer *best
) noexcept nogil:
    """Compute the results of a call. Return 0 if an index or an offset is out of range, -1 if memory is exhausted.

    With `include_last_offset`, the last offset is the end of the last bag. `bag_numbers` is NULL if the result with
    the bag number of each index is empty. `sizes` is NULL if the result with the bag sizes is zero.
    """
    cdef npy_intp bags = offset_count - 1 if include_last_offset else offset_count
    cdef npy_intp end = <npy_intp>offsets[offset_count - 1] if include_last_offset else task.count
    cdef int done
    if end > task.count or not are_valid_offsets(offsets, offset_count, task.count):
        return 0
    done = reduce_bags(task, indices, end, offsets, bags, sizes, best)
    if done == 1 and bag_numbers != NULL:
        fill_bag_numbers(offsets, bags, task.count, bag_numbers)
    return done


cdef bint read_table(BagTask *task, IValue *x) noexcept:
    cdef PyArrayObject *table = contiguous_array_or_null(x)
    if table == NULL or ndim_of(table) != 2 or size_of(table) == 0:
        return False
    task.kind = scalar_type(x)
    if task.kind == FLOAT:
        task.kernels = float_bags()
    elif task.kind == DOUBLE:
        task.kernels = double_bags()
    elif task.kind == HALF:
        task.kernels = half_bags()
    elif task.kind == BFLOAT16:
        task.kernels = bfloat16_bags()
    else:
        return False
    task.table = <const char *>data_of(table)
    task.rows, task.width = dims_of(table)[0], dims_of(table)[1]
    task.row_bytes = task.width * item_size(table)
    return True


cdef int run_embedding_bag(Operator op, IValue *r, const int32_t *at, bint has_padding, int64_t padding) except -1:
    """Run an operator. `has_padding` is True if the call has a padding index."""
    cdef PyArrayObject *indices = contiguous_array_or_null(&r[at[1]])
    cdef PyArrayObject *offsets = contiguous_array_or_null(&r[at[2]])
    cdef PyArrayObject *scales = NULL
    cdef BagTask task
    cdef bint include_last_offset = r[at[7]].v.i
    cdef int done, index_kind
    cdef npy_intp shape[2]
    cdef npy_intp offset_count, bags, bag_number_count, size_count
    cdef void *bag_numbers = NULL
    cdef void *sizes = NULL
    cdef void *best = NULL
    cdef object wide_scales
    cdef ReleasedGil gil_state
    task.mode, task.padding, task.scales = r[at[4]].v.i, padding if has_padding else -1, NULL
    if indices == NULL or offsets == NULL or not SUM <= task.mode <= MAX or not read_table(&task, &r[at[0]]):
        return UNSUPPORTED
    index_kind = scalar_type(&r[at[1]])
    if (index_kind != INT64 and index_kind != INT32) or scalar_type(&r[at[2]]) != index_kind:
        return UNSUPPORTED
    if ndim_of(offsets) != 1 or not 1 <= ndim_of(indices) <= 2:
        return UNSUPPORTED
    if r[at[6]].tag != TAG_NONE:
        scales = contiguous_array_or_null(&r[at[6]])
        if scales == NULL or scalar_type(&r[at[6]]) != task.kind or task.mode != SUM or ndim_of(scales) != ndim_of(indices):
            return UNSUPPORTED
        if dims_of(scales)[0] != dims_of(indices)[0] or size_of(scales) != size_of(indices):
            return UNSUPPORTED
        task.scales = <const char *>data_of(scales)
        if task.kind == HALF or task.kind == BFLOAT16:
            wide_scales = to_float32(scales)
            task.scales = <const char *>data_of(<PyArrayObject *>wide_scales)
    offset_count, task.count = dims_of(offsets)[0], size_of(indices)
    if offset_count < 1 or task.count > INT32_MAX:
        return UNSUPPORTED
    bags = offset_count - 1 if include_last_offset else offset_count
    shape[0], shape[1] = bags, task.width
    result = new_contiguous(2, shape, task.kind)
    task.out = <char *>data_of(<PyArrayObject *>result)
    # As in PyTorch, the bag numbers of indices are empty for sums of float32 and 16-bit floats without a padding index.
    bag_number_count = task.count if task.mode != SUM or has_padding or task.kind == DOUBLE else 0
    size_count = offset_count if task.mode == SUM else bags
    bag_number_array, size_array = new_zeros(1, &bag_number_count, index_kind), new_zeros(1, &size_count, index_kind)
    best_array = new_zeros(2, shape, index_kind) if task.mode == MAX else None
    if bag_number_count > 0:
        bag_numbers = data_of(<PyArrayObject *>bag_number_array)
    if task.mode != SUM:
        sizes = data_of(<PyArrayObject *>size_array)
    if task.mode == MAX:
        best = data_of(<PyArrayObject *>best_array)
    gil_state = leave_gil(task.count * task.width, r, at, op.nargs)
    if index_kind == INT64:
        done = compute_bags(
            &task, <int64_t *>data_of(indices), <int64_t *>data_of(offsets), offset_count, include_last_offset,
            <int64_t *>bag_numbers, <int64_t *>sizes, <int64_t *>best,
        )
    else:
        done = compute_bags(
            &task, <int32_t *>data_of(indices), <int32_t *>data_of(offsets), offset_count, include_last_offset,
            <int32_t *>bag_numbers, <int32_t *>sizes, <int32_t *>best,
        )
    take_gil(gil_state)
    if done < 0:
        raise MemoryError()
    if done == 0:
        return UNSUPPORTED
    set_result(&r[at[op.nargs]], result, task.kind)
    set_result(&r[at[op.nargs + 1]], bag_number_array, index_kind)
    set_result(&r[at[op.nargs + 2]], size_array, index_kind)
    return set_result(&r[at[op.nargs + 3]], size_array.copy() if best_array is None else best_array, index_kind)


cdef int embedding_bag(Operator op, IValue *r, const int32_t *at) except -1:
    return run_embedding_bag(op, r, at, False, -1)


cdef int embedding_bag_padding_idx(Operator op, IValue *r, const int32_t *at) except -1:
    """Run the public operator, whose padding index may be negative, relative to the end of the table."""
    cdef PyArrayObject *table = contiguous_array_or_null(&r[at[0]])
    cdef int64_t padding, rows
    if r[at[8]].tag == TAG_NONE:
        return run_embedding_bag(op, r, at, False, -1)
    if table == NULL or ndim_of(table) != 2:
        return UNSUPPORTED
    padding, rows = r[at[8]].v.i, dims_of(table)[0]
    if not -rows <= padding < rows:
        return UNSUPPORTED
    return run_embedding_bag(op, r, at, True, padding if padding >= 0 else padding + rows)


cdef int embedding_bag_int_padding_idx(Operator op, IValue *r, const int32_t *at) except -1:
    return run_embedding_bag(op, r, at, r[at[8]].v.i >= 0, r[at[8]].v.i)


register_kernel("aten::embedding_bag", embedding_bag, CONTIGUOUS)
register_kernel("aten::embedding_bag.padding_idx", embedding_bag_padding_idx, CONTIGUOUS)
register_kernel("aten::_embedding_bag", embedding_bag_int_padding_idx, CONTIGUOUS)
register_kernel("aten::_embedding_bag_forward_only", embedding_bag_int_padding_idx, CONTIGUOUS)
