"""Sorting, top-k selection and medians along a dimension of contiguous CPU tensors.

Input: interpreter registers with a tensor, a dimension, and the number or index of the requested elements.
Output: the registers of values and indices.

NaN sorts as the largest number. Equal elements have PyTorch's order (`sort.pyx`). For other arguments, the
operator's Python kernel runs. The operators are:

    sort(x, 1)    argsort(x)    topk(x, 3)    kthvalue(x, 2)
    median(x), median(x, 0)    nanmedian(x)    msort(x)
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT32, INT64, UINT8, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.value.ivalue cimport IValue, TAG_NONE
from ts.backends.cpu.kernels.parallel_for cimport parallel_ranges
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS, Axis, contiguous_array_or_null, new_contiguous, set_result, read_axis, scalar_type
from ts.backends.cpu.kernels.sort cimport HEAP_SELECT_RATIO, Item, quickselect, select_smallest, sort
from ts.backends.cpu.kernels.kernel_registry cimport FLOAT32_CONTIGUOUS, register_kernel
from ts.backends.cpu.kernels.row_loops cimport RowLoops
from ts.backends.cpu.kernels.vector_math cimport row_loops_here

cnp.import_array()

cdef extern from "simd.h" nogil:
    npy_intp simd_find_float(const float *x, npy_intp n, float value)

cdef const RowLoops *LOOPS = row_loops_here()

cdef double RANKED_ELEMENT_COST = 20   # time to sort an element in units of 0.5 ns
cdef double COMPARED_ELEMENT_COST = 0.2
cdef int64_t MAX_INT64 = 0x7fffffffffffffff

ctypedef fused number:
    float
    double
    int64_t
    int32_t
    uint8_t

cdef enum SelectionKind:
    ALL                                # all elements, sorted
    ALL_STABLE
    FIRST                              # the first `k` elements, sorted
    FIRST_UNORDERED
    NTH                                # element `k` in sorted order, counted from 0
    MEDIAN                             # lower median, or the first NaN if there is one
    MEDIAN_OF_NUMBERS


ctypedef struct Task:
    SelectionKind selection
    Axis axis
    npy_intp k                         # number of results per slice. For NTH, it is the position of the result in sorted order.
    bint descending


cdef inline int64_t key_of(number x) noexcept nogil:
    """Return an int64 key that orders like the element.

    0.0 and -0.0 have equal keys, and NaN has the largest key.
    """
    cdef double wide
    cdef int64_t bits
    if number is float or number is double:
        if x != x:
            return MAX_INT64
        wide = x + 0.0
        bits = (<int64_t *>&wide)[0]
        return bits ^ MAX_INT64 if bits < 0 else bits
    return <int64_t>x


cdef void restore_tie_order(Item *items, npy_intp n) noexcept nogil:
    """Sort items with equal keys, which are adjacent in the sorted array `items`, by their original index."""
    cdef npy_intp first = 0, last, i
    cdef int64_t key
    while first < n:
        last = first + 1
        while last < n and items[last].key == items[first].key:
            last += 1
        if last - first > 1:
            key = items[first].key
            for i in range(first, last):
                items[i].key = items[i].index
            sort(items + first, items + last)
            for i in range(first, last):
                items[i].key = key
        first = last


cdef npy_intp median_index(const number *x, npy_intp n, npy_intp stride, bint of_numbers, Item *items) noexcept nogil:
    """Return the index of the lower median, which is the middle element after a stable sort.

    If `of_numbers`, NaN elements are ignored. Otherwise, return the index of the first NaN if there is one.
    """
    cdef npy_intp i, missing = 0, first = -1, middle, index, before = 0
    cdef int64_t key
    if number is float or number is double:
        for i in range(n):
            if x[i * stride] != x[i * stride]:
                missing += 1
                if first < 0:
                    first = i
    if missing and not of_numbers:
        return first
    middle = max((n - missing - 1) // 2, <npy_intp>0)
    index = quickselect(items, n, middle)
    key = key_of(x[index * stride])
    for i in range(n):
        before += key_of(x[i * stride]) < key
    for i in range(n):
        if key_of(x[i * stride]) == key:
            if before == middle:
                return i
            before += 1
    return index


cdef bint selects_extreme(const Task *task) noexcept nogil:
    """Return whether the result of each row is its first maximum or minimum, as found by heap selection.

    The selection of shorter rows, which is not by a heap, may find another one of equal elements.
    """
    cdef bint is_selection = task.selection == FIRST or task.selection == FIRST_UNORDERED
    return is_selection and task.k == 1 and task.axis.inner == 1 and task.axis.n >= HEAP_SELECT_RATIO


cdef void rank_lines(
    const number *x, const Task *task, Item *items, number *values, int64_t *indices, npy_intp first, npy_intp last
) noexcept nogil:
    """Sort, or select from, the slices [first, last) along the axis. `values` may be NULL."""
    cdef npy_intp n = task.axis.n, inner = task.axis.inner, slice, i, line, at, count = 1
    cdef bint is_extreme = selects_extreme(task)
    if task.selection <= FIRST_UNORDERED:
        count = task.k
    for slice in range(first, last):
        line = slice // inner * n * inner + slice % inner
        at = slice // inner * count * inner + slice % inner
        if number is float:
            if is_extreme:
                i = simd_find_float(x + line, n, LOOPS.max_or_nan(x + line, n) if task.descending else LOOPS.min_or_nan(x + line, n))
                if i < n:              # the row has no NaN
                    indices[at] = i
                    if values != NULL:
                        values[at] = x[line + i]
                    continue
        for i in range(n):
            items[i].key = key_of(x[line + i * inner])
            if task.descending:
                items[i].key = ~items[i].key
            items[i].index = i
        if task.selection <= ALL_STABLE:
            sort(items, items + n)
            if task.selection == ALL_STABLE:
                restore_tie_order(items, n)
        elif task.selection <= FIRST_UNORDERED:
            select_smallest(items, n, task.k, task.selection == FIRST)
        elif task.selection == NTH:
            items[0].index = quickselect(items, n, task.k)
        else:
            items[0].index = median_index(x + line, n, inner, task.selection == MEDIAN_OF_NUMBERS, items)
        for i in range(count):
            indices[at + i * inner] = items[i].index
            if values != NULL:
                values[at + i * inner] = x[line + items[i].index * inner]


cdef bint has_keys(int kind) noexcept:
    return kind == FLOAT or kind == DOUBLE or kind == INT64 or kind == INT32 or kind == UINT8


cdef struct RankedLines:               # arguments of `rank_lines`
    int kind
    void *x
    const Task *task
    void *values
    int64_t *indices


cdef int rank_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Rank the slices [start, end). Return -1 if memory is exhausted."""
    cdef RankedLines *lines = <RankedLines *>context
    cdef Item *items = <Item *>malloc(lines.task.axis.n * sizeof(Item))
    if items == NULL:
        return -1
    if lines.kind == FLOAT:
        rank_lines[float](<float *>lines.x, lines.task, items, <float *>lines.values, lines.indices, start, end)
    elif lines.kind == DOUBLE:
        rank_lines[double](<double *>lines.x, lines.task, items, <double *>lines.values, lines.indices, start, end)
    elif lines.kind == INT64:
        rank_lines[int64_t](<int64_t *>lines.x, lines.task, items, <int64_t *>lines.values, lines.indices, start, end)
    elif lines.kind == INT32:
        rank_lines[int32_t](<int32_t *>lines.x, lines.task, items, <int32_t *>lines.values, lines.indices, start, end)
    else:
        rank_lines[uint8_t](<uint8_t *>lines.x, lines.task, items, <uint8_t *>lines.values, lines.indices, start, end)
    free(items)
    return 0


cdef int rank_lines_of_kind(int kind, void *x, const Task *task, void *values, int64_t *indices) noexcept nogil:
    """Rank all slices along the axis. Return -1 if memory is exhausted."""
    cdef RankedLines lines
    cdef double element_cost = COMPARED_ELEMENT_COST if kind == FLOAT and selects_extreme(task) else RANKED_ELEMENT_COST
    lines.kind, lines.x, lines.task, lines.values, lines.indices = kind, x, task, values, indices
    return parallel_ranges(rank_range, &lines, task.axis.outer * task.axis.inner, task.axis.n * element_cost)


cdef int run_ranks(
    Operator op, IValue *r, const int32_t *at, Task *task, int64_t dim, bint keepdim, bint with_values, bint with_indices
) except -1:
    """Run a task along a dimension, and store the values, the indices or both as results."""
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef npy_intp shape[MAX_DIMS]
    cdef int kind, nd, d, left = 0, axis
    cdef int done
    cdef void *x
    cdef void *values = NULL
    cdef int64_t *indices
    cdef ReleasedGil gil_state
    if a == NULL or size_of(a) == 0:
        return UNSUPPORTED
    kind, nd = scalar_type(&r[at[0]]), ndim_of(a)
    if not has_keys(kind):
        return UNSUPPORTED
    axis = read_axis(a, dim, &task.axis)
    if axis < 0 or task.k < 0 or task.k > task.axis.n or (task.selection == NTH and task.k >= task.axis.n):
        return UNSUPPORTED
    if task.selection <= ALL_STABLE:
        task.k = task.axis.n
    elif task.selection <= FIRST_UNORDERED and task.k == 0:
        return UNSUPPORTED
    for d in range(nd):
        if d != axis:
            shape[left] = dims_of(a)[d]
            left += 1
        elif task.selection <= FIRST_UNORDERED or keepdim:
            shape[left] = task.k if task.selection <= FIRST_UNORDERED else 1
            left += 1
    result = new_contiguous(left, shape, kind) if with_values else None
    where = new_contiguous(left, shape, INT64)
    x = data_of(a)
    if with_values:
        values = data_of(<PyArrayObject *>result)
    indices = <int64_t *>data_of(<PyArrayObject *>where)
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    done = rank_lines_of_kind(kind, x, task, values, indices)
    take_gil(gil_state)
    if done < 0:
        raise MemoryError()
    if with_values:
        set_result(&r[at[op.nargs]], result, kind)
    if with_indices:
        set_result(&r[at[op.nargs + with_values]], where, INT64)
    return 0


cdef Task task_of(SelectionKind selection, npy_intp k, bint descending) noexcept:
    cdef Task task
    task.selection = selection
    task.k = k
    task.descending = descending
    return task


cdef int sort_(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Task task = task_of(ALL, 0, r[at[2]].v.i != 0)
    return run_ranks(op, r, at, &task, r[at[1]].v.i, True, True, True)


cdef int sort_stable(Operator op, IValue *r, const int32_t *at) except -1:
    cdef bint stable = r[at[1]].tag != TAG_NONE and r[at[1]].v.i
    cdef Task task = task_of(ALL_STABLE if stable else ALL, 0, r[at[3]].v.i != 0)
    return run_ranks(op, r, at, &task, r[at[2]].v.i, True, True, True)


cdef int argsort(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Task task = task_of(ALL, 0, r[at[2]].v.i != 0)
    return run_ranks(op, r, at, &task, r[at[1]].v.i, True, False, True)


cdef int argsort_stable(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Task task = task_of(ALL_STABLE if r[at[1]].v.i else ALL, 0, r[at[3]].v.i != 0)
    return run_ranks(op, r, at, &task, r[at[2]].v.i, True, False, True)


cdef int msort(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Task task = task_of(ALL, 0, False)
    return run_ranks(op, r, at, &task, 0, True, True, False)


cdef int topk(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Task task = task_of(FIRST if r[at[4]].v.i else FIRST_UNORDERED, r[at[1]].v.i, r[at[3]].v.i != 0)
    return run_ranks(op, r, at, &task, r[at[2]].v.i, True, True, True)


cdef int kthvalue(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Task task = task_of(NTH, r[at[1]].v.i - 1, False)
    return run_ranks(op, r, at, &task, r[at[2]].v.i, r[at[3]].v.i != 0, True, True)


cdef int median_along(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Task task = task_of(MEDIAN, 0, False)
    return run_ranks(op, r, at, &task, r[at[1]].v.i, r[at[2]].v.i != 0, True, True)


cdef int nanmedian_along(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Task task = task_of(MEDIAN_OF_NUMBERS, 0, False)
    return run_ranks(op, r, at, &task, r[at[1]].v.i, r[at[2]].v.i != 0, True, True)


cdef int median_of_all(Operator op, IValue *r, const int32_t *at, SelectionKind selection) except -1:
    """Compute the median of all elements."""
    cdef Task task = task_of(selection, 0, False)
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef npy_intp none = 0
    cdef int64_t index
    cdef int kind, done
    cdef void *value
    cdef ReleasedGil gil_state
    if a == NULL or size_of(a) == 0:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if not has_keys(kind):
        return UNSUPPORTED
    task.axis.outer = task.axis.inner = 1
    task.axis.n = size_of(a)
    result = new_contiguous(0, &none, kind)
    value = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    done = rank_lines_of_kind(kind, data_of(a), &task, value, &index)
    take_gil(gil_state)
    if done < 0:
        raise MemoryError()
    return set_result(&r[at[op.nargs]], result, kind)


cdef int median(Operator op, IValue *r, const int32_t *at) except -1:
    return median_of_all(op, r, at, MEDIAN)

cdef int nanmedian(Operator op, IValue *r, const int32_t *at) except -1:
    return median_of_all(op, r, at, MEDIAN_OF_NUMBERS)


register_kernel("aten::sort", sort_, FLOAT32_CONTIGUOUS)
register_kernel("aten::sort.stable", sort_stable, FLOAT32_CONTIGUOUS)
register_kernel("aten::argsort", argsort, FLOAT32_CONTIGUOUS)
register_kernel("aten::argsort.stable", argsort_stable, FLOAT32_CONTIGUOUS)
register_kernel("aten::msort", msort, FLOAT32_CONTIGUOUS)
register_kernel("aten::topk", topk, FLOAT32_CONTIGUOUS)
register_kernel("aten::kthvalue", kthvalue, FLOAT32_CONTIGUOUS)
register_kernel("aten::median", median, FLOAT32_CONTIGUOUS)
register_kernel("aten::median.dim", median_along, FLOAT32_CONTIGUOUS)
register_kernel("aten::nanmedian", nanmedian, FLOAT32_CONTIGUOUS)
register_kernel("aten::nanmedian.dim", nanmedian_along, FLOAT32_CONTIGUOUS)
