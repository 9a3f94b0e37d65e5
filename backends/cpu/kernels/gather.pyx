"""Selection of elements of CPU tensors by indices, for any dtype.

Input: interpreter registers with a contiguous tensor, and a tensor of indices. Output: the register of the
result. For other arguments, the operator's Python kernel runs. The operators are:

    index_select, embedding, gather, take, x[i], x[i, j]

Each index is read from memory once, then checked and used. Therefore, a concurrent write to the indices
cannot cause an access outside of the tensor.
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.stdint cimport INT64_MAX, int8_t, int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport npy_intp

from ts._core.value.container cimport List, list_item, list_slot
from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.parallel_for cimport parallel_ranges
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts._core.value.ivalue cimport IValue, TAG_OBJECT
from ts._core.tensor.ndarray cimport BOOL, INT32, INT64, PyArrayObject, data_of, dims_of, flags_of, ndim_of, size_of, strides_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport (
    MAX_DIMS, contiguous_array_or_null, has_integer_width, is_tensor, item_size, new_contiguous, new_like, set_result_with_own_dtype, scalar_type
)
from ts.backends.cpu.kernels.masked cimport select_by_mask
from ts.backends.cpu.kernels.unaligned_types cimport eight_bytes, element, four_bytes, two_bytes
from ts.backends.cpu.kernels.index_iterator cimport (
    TAKE, IndexIterator, add_dimension, begin_iteration, read_indices, wrap_index, index_offsets, iterate_indices
)

cnp.import_array()

cdef extern from "simd.h" nogil:
    bint pick_four(const four_bytes *x, npy_intp size, const int64_t *index, npy_intp n, four_bytes *out)
    bint pick_eight(const eight_bytes *x, npy_intp size, const int64_t *index, npy_intp n, eight_bytes *out)
    bint pick_four_of_rows(const four_bytes *x, npy_intp rows, npy_intp size, const int64_t *index, npy_intp n, four_bytes *out)
    bint pick_eight_of_rows(const eight_bytes *x, npy_intp rows, npy_intp size, const int64_t *index, npy_intp n, eight_bytes *out)

cdef double SELECTED_ROW_COST = 2      # time to select a row of few bytes in units of 0.5 ns


# ---------------------------------------------------------------- rows by index

cdef PyArrayObject *index_array(IValue *x) noexcept:
    cdef PyArrayObject *a = contiguous_array_or_null(x)
    return a if a != NULL and (scalar_type(x) == INT64 or scalar_type(x) == INT32) else NULL


cdef inline bint select_elements_by(
    const element *x, npy_intp outer, npy_intp n, const char *index, bint narrow, npy_intp wrap, npy_intp count, element *out
) noexcept nogil:
    cdef npy_intp o, i
    cdef int64_t j
    for o in range(outer):
        for i in range(count):
            j = wrap_index(index, narrow, i, wrap)
            if <uint64_t>j >= <uint64_t>n:
                return False
            out[i] = x[j]
        x += n
        out += count
    return True


cdef bint select_elements(
    const element *x, npy_intp outer, npy_intp n, const char *index, bint narrow, npy_intp wrap, npy_intp count, element *out
) noexcept nogil:
    """Select elements by `index` in each of `outer` rows of `n` elements.

    A negative index counts from the end if `wrap` is n. Return False if an index is not in [-wrap, n).
    """
    if narrow:
        return select_elements_by(x, outer, n, index, True, wrap, count, out)
    return select_elements_by(x, outer, n, index, False, wrap, count, out)


cdef bint select_by_simd(
    const char *x, npy_intp outer, npy_intp n, npy_intp length, const int64_t *index, npy_intp count, char *out
) noexcept nogil:
    """Select elements of 4 or 8 bytes by SIMD gather instructions.

    Return False if an index is not in [0, n), or if elements have another width.
    """
    if length == 4:
        return pick_four_of_rows(<const four_bytes *>x, outer, n, index, count, <four_bytes *>out)
    return length == 8 and pick_eight_of_rows(<const eight_bytes *>x, outer, n, index, count, <eight_bytes *>out)


cdef bint select_rows(
    const char *x, npy_intp outer, npy_intp n, npy_intp length, const char *index, bint narrow, npy_intp wrap, npy_intp count,
    char *out
) noexcept nogil:
    """Copy row index[i] of x[o] to out[o, i] for all o and i. A row has `length` bytes.

    A negative index counts from the end: `wrap` is added to it. Return False if an index is not in [-wrap,
    n).
    """
    cdef npy_intp o, i
    cdef int64_t j
    if not narrow and select_by_simd(x, outer, n, length, <const int64_t *>index, count, out):
        return True
    if length == 4:
        return select_elements[four_bytes](<const four_bytes *>x, outer, n, index, narrow, wrap, count, <four_bytes *>out)
    if length == 8:
        return select_elements[eight_bytes](<const eight_bytes *>x, outer, n, index, narrow, wrap, count, <eight_bytes *>out)
    if length == 2:
        return select_elements[two_bytes](<const two_bytes *>x, outer, n, index, narrow, wrap, count, <two_bytes *>out)
    if length == 1:
        return select_elements[int8_t](<const int8_t *>x, outer, n, index, narrow, wrap, count, <int8_t *>out)
    for o in range(outer):
        for i in range(count):
            j = wrap_index(index, narrow, i, wrap)
            if not 0 <= j < n:
                return False
            memcpy(out, x + j * length, length)
            out += length
        x += n * length
    return True


cdef struct Selection:                 # arguments of `select_rows`
    const char *x
    npy_intp outer
    npy_intp n
    npy_intp length
    const char *index
    bint narrow
    npy_intp wrap
    npy_intp count
    char *out


cdef int select_outer_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Select the indexed rows for positions [start, end) of the dimensions before the indexed one."""
    cdef Selection *task = <Selection *>context
    return 0 if select_rows(
        task.x + start * task.n * task.length, end - start, task.n, task.length, task.index, task.narrow, task.wrap, task.count,
        task.out + start * task.count * task.length,
    ) else -1


cdef int select_index_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Select the rows of the indices [start, end), if there is one outer index."""
    cdef Selection *task = <Selection *>context
    return 0 if select_rows(
        task.x, 1, task.n, task.length, task.index + start * (4 if task.narrow else 8), task.narrow, task.wrap, end - start,
        task.out + start * task.length,
    ) else -1


cdef bint select_in_parallel(
    const char *x, npy_intp outer, npy_intp n, npy_intp length, const char *index, bint narrow, npy_intp wrap, npy_intp count,
    char *out
) noexcept nogil:
    """Call `select_rows` on several threads, if the rows are many or long."""
    cdef Selection task
    cdef double cost = SELECTED_ROW_COST + length / 8.0
    task.x, task.outer, task.n, task.length, task.index = x, outer, n, length, index
    task.narrow, task.wrap, task.count, task.out = narrow, wrap, count, out
    if outer == 1:
        return parallel_ranges(select_index_range, &task, count, cost) == 0
    return parallel_ranges(select_outer_range, &task, outer, cost * count) == 0


cdef object select_by_index(
    int nargs, IValue *r, const int32_t *at, IValue *source, int64_t dim, IValue *by, bint from_end, bint vector
):
    """Return source.index_select(dim, by) as an array, or None if the arguments are unsupported.

    `by` must have at most one dimension if `vector` is set. `source` and `by` must be among the `nargs`
    arguments or in their lists, because `leave_gil` keeps only these arrays alive.
    """
    cdef PyArrayObject *a = contiguous_array_or_null(source)
    cdef PyArrayObject *index = read_indices(by)
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp outer = 1, length
    cdef int d, nd = 0
    cdef bint narrow, done
    cdef object result, contiguous_index
    cdef char *out
    cdef ReleasedGil gil_state
    if a == NULL or index == NULL or (vector and ndim_of(index) > 1):
        return None
    if not flags_of(index) & cnp.NPY_ARRAY_C_CONTIGUOUS:
        contiguous_index = cnp.PyArray_NewCopy(<cnp.ndarray>index, cnp.NPY_CORDER)
        index = <PyArrayObject *>contiguous_index
    if dim < 0:
        dim += ndim_of(a)
    if not 0 <= dim < ndim_of(a) or ndim_of(a) + ndim_of(index) > MAX_DIMS:
        return None
    narrow = scalar_type(by) == INT32
    length = item_size(a)
    for d in range(<int>dim):
        outer *= dims_of(a)[d]
        dims[nd] = dims_of(a)[d]
        nd += 1
    if vector:
        dims[nd] = size_of(index)
        nd += 1
    else:
        for d in range(ndim_of(index)):
            dims[nd] = dims_of(index)[d]
            nd += 1
    for d in range(<int>dim + 1, ndim_of(a)):
        length *= dims_of(a)[d]
        dims[nd] = dims_of(a)[d]
        nd += 1
    if length == 0 or outer == 0:
        return None
    result = new_contiguous(nd, dims, scalar_type(source))
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(outer * size_of(index) * length // 8, r, at, nargs)
    done = select_in_parallel(
        data_of(a), outer, dims_of(a)[dim], length, data_of(index), narrow, dims_of(a)[dim] if from_end else 0,
        size_of(index), out
    )
    take_gil(gil_state)
    return result if done else None


cdef inline int store_or_run_record(Operator op, IValue *r, const int32_t *at, object result) except -1:
    """Store `result` as the operator's result. For None, run the Python kernel of the operator record instead."""
    return UNSUPPORTED if result is None else set_result_with_own_dtype(&r[at[op.nargs]], result)


cdef int index_select(Operator op, IValue *r, const int32_t *at) except -1:
    return store_or_run_record(op, r, at, select_by_index(op.nargs, r, at, &r[at[0]], r[at[1]].v.i, &r[at[2]], False, True))


cdef int embedding(Operator op, IValue *r, const int32_t *at) except -1:
    if contiguous_array_or_null(&r[at[0]]) == NULL or ndim_of(contiguous_array_or_null(&r[at[0]])) != 2:
        return UNSUPPORTED
    return store_or_run_record(op, r, at, select_by_index(op.nargs, r, at, &r[at[0]], 0, &r[at[1]], False, False))


cdef int take(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef PyArrayObject *index = contiguous_array_or_null(&r[at[1]])
    cdef object result
    cdef char *out
    cdef bint done
    cdef ReleasedGil gil_state
    if a == NULL or index == NULL or scalar_type(&r[at[1]]) != INT64 or size_of(a) == 0:
        return UNSUPPORTED
    result = new_like(index, scalar_type(&r[at[0]]))
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(index), r, at, op.nargs)
    done = select_in_parallel(data_of(a), 1, size_of(a), item_size(a), data_of(index), False, size_of(a), size_of(index), out)
    take_gil(gil_state)
    if not done:
        return UNSUPPORTED
    return set_result_with_own_dtype(&r[at[2]], result)


# ---------------------------------------------------------------- gather

cdef inline bint gather_by(
    const element *x, npy_intp n, npy_intp inner, const char *index, bint narrow, npy_intp outer, npy_intp count, element *out
) noexcept nogil:
    cdef npy_intp o, i, j
    cdef int64_t k
    for o in range(outer):
        for i in range(count):
            for j in range(inner):
                k = wrap_index(index, narrow, j, 0)
                if <uint64_t>k >= <uint64_t>n:
                    return False
                out[j] = x[k * inner + j]
            index += inner * (4 if narrow else 8)
            out += inner
        x += n * inner
    return True


cdef bint gather_along(
    const element *x, npy_intp n, npy_intp inner, const char *index, bint narrow, npy_intp outer, npy_intp count, element *out
) noexcept nogil:
    """Compute out[o, i, j] = x[o, index[o, i, j], j]. Return False if an index is not in [0, n)."""
    cdef npy_intp o
    if inner == 1:
        for o in range(outer):
            if element is four_bytes:
                if not narrow:
                    if not pick_four(x + o * n, n, <const int64_t *>index + o * count, count, out + o * count):
                        return False
                    continue
            elif element is eight_bytes:
                if not narrow:
                    if not pick_eight(x + o * n, n, <const int64_t *>index + o * count, count, out + o * count):
                        return False
                    continue
            if not select_elements(x + o * n, 1, n, index + o * count * (4 if narrow else 8), narrow, 0, count, out + o * count):
                return False
        return True
    if narrow:
        return gather_by(x, n, inner, index, True, outer, count, out)
    return gather_by(x, n, inner, index, False, outer, count, out)


cdef int gather_any(Operator op, IValue *r, const int32_t *at) except -1:
    """Gather elements of a tensor with any strides. The index tensor may have smaller sizes than the tensor."""
    cdef PyArrayObject *index = read_indices(&r[at[2]])
    cdef PyArrayObject *a
    cdef PyArrayObject *out
    cdef int64_t axis = r[at[1]].v.i
    cdef IndexIterator walk
    cdef int d, nd, kind
    cdef bint done
    cdef ReleasedGil gil_state
    if index == NULL or not is_tensor(&r[at[0]]) or (<Tensor>r[at[0]].v.o).backend != BACKEND_CPU or size_of(index) == 0:
        return UNSUPPORTED
    a = <PyArrayObject *>(<Tensor>r[at[0]].v.o).array
    nd, kind = ndim_of(a), scalar_type(&r[at[0]])
    axis += nd if axis < 0 else 0
    if (
        not 0 <= axis < nd or ndim_of(index) != nd or not flags_of(a) & cnp.NPY_ARRAY_ALIGNED
        or not has_integer_width(item_size(a))
    ):
        return UNSUPPORTED
    result = new_like(index, kind)
    out = <PyArrayObject *>result
    begin_iteration(&walk, item_size(a), strides_of(a)[axis], dims_of(a)[axis], scalar_type(&r[at[2]]) == INT32)
    for d in range(nd):
        if d != axis and dims_of(index)[d] > dims_of(a)[d]:
            return UNSUPPORTED
        add_dimension(&walk, dims_of(index)[d], 0 if d == axis else strides_of(a)[d], strides_of(index)[d], strides_of(out)[d])
    gil_state = leave_gil(size_of(index), r, at, op.nargs)
    done = iterate_indices(&walk, TAKE, kind, data_of(a), data_of(index), data_of(out))
    take_gil(gil_state)
    return store_or_run_record(op, r, at, result if done else None)


cdef int gather(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef PyArrayObject *index = index_array(&r[at[2]])
    cdef int64_t dim = r[at[1]].v.i
    cdef npy_intp outer = 1, inner = 1, width
    cdef int d
    cdef bint narrow, done
    cdef object result
    cdef char *out
    cdef ReleasedGil gil_state
    if a == NULL or index == NULL or ndim_of(a) != ndim_of(index) or size_of(index) == 0:
        return gather_any(op, r, at)
    if dim < 0:
        dim += ndim_of(a)
    width = item_size(a)
    if not 0 <= dim < ndim_of(a) or not has_integer_width(width):
        return UNSUPPORTED
    for d in range(ndim_of(a)):
        if d == dim:
            continue
        if dims_of(a)[d] != dims_of(index)[d]:
            return gather_any(op, r, at)
        if d < dim:
            outer *= dims_of(a)[d]
        else:
            inner *= dims_of(a)[d]
    narrow = scalar_type(&r[at[2]]) == INT32
    result = new_like(index, scalar_type(&r[at[0]]))
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(index), r, at, op.nargs)
    if width == 4:
        done = gather_along[four_bytes](
            <four_bytes *>data_of(a), dims_of(a)[dim], inner, data_of(index), narrow, outer, dims_of(index)[dim], <four_bytes *>out
        )
    elif width == 8:
        done = gather_along[eight_bytes](
            <eight_bytes *>data_of(a), dims_of(a)[dim], inner, data_of(index), narrow, outer, dims_of(index)[dim], <eight_bytes *>out
        )
    elif width == 2:
        done = gather_along[two_bytes](
            <two_bytes *>data_of(a), dims_of(a)[dim], inner, data_of(index), narrow, outer, dims_of(index)[dim], <two_bytes *>out
        )
    else:
        done = gather_along[int8_t](
            <int8_t *>data_of(a), dims_of(a)[dim], inner, data_of(index), narrow, outer, dims_of(index)[dim], <int8_t *>out
        )
    take_gil(gil_state)
    return store_or_run_record(op, r, at, result if done else None)


# ---------------------------------------------------------------- indexing with x[...]

cdef void copy_rows_at(const char *x, const int64_t *offsets, npy_intp count, npy_intp length, char *out) noexcept nogil:
    """Copy the rows of `length` bytes at byte offsets in `x` to consecutive rows of `out`."""
    cdef npy_intp i
    if length == 4:
        for i in range(count):
            (<four_bytes *>out)[i] = (<four_bytes *>(x + offsets[i]))[0]
    elif length == 8:
        for i in range(count):
            (<eight_bytes *>out)[i] = (<eight_bytes *>(x + offsets[i]))[0]
    else:
        for i in range(count):
            memcpy(out + i * length, x + offsets[i], length)


cdef bint has_ordered_strides(PyArrayObject *a, int first) noexcept:
    """Return whether dimensions from `first` on have nonincreasing strides (C order, possibly with gaps)."""
    cdef npy_intp last = -1
    cdef int d
    for d in range(first, ndim_of(a)):
        if dims_of(a)[d] != 1:
            if last >= 0 and strides_of(a)[d] > last:
                return False
            last = strides_of(a)[d]
    return True


cdef bint are_in_order(List indices) noexcept:
    """Return whether each index tensor is contiguous or one-dimensional.

    Strides of other index tensors determine strides of the result.
    """
    cdef PyArrayObject *index
    cdef IValue *item
    cdef Py_ssize_t i
    for i in range(indices.size):
        item = list_slot(<PyObject *>indices, i)
        if item.tag == TAG_OBJECT and contiguous_array_or_null(item) == NULL:
            index = read_indices(item)
            if index == NULL or ndim_of(index) > 1:
                return False
    return True


cdef object select_by_indices(int nargs, IValue *r, const int32_t *at, List indices):
    """Return x[i, j, ...] or x[mask], or None if an argument is unsupported.

    The result is contiguous. The layout of PyTorch's result differs if the dimensions that are not indexed have another
    order in memory, which is unsupported.
    """
    cdef PyArrayObject *a
    cdef PyArrayObject *index
    cdef PyArrayObject *out
    cdef IndexIterator walk
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp length
    cdef int covered, d, nd
    cdef bint has_rows = True, done = True
    cdef ReleasedGil gil_state
    if not is_tensor(&r[at[0]]) or (<Tensor>r[at[0]].v.o).backend != BACKEND_CPU:
        return None
    array = <object>(<Tensor>r[at[0]].v.o).array  # a reference, because another thread may replace the tensor's array
    a = <PyArrayObject *>array
    if not flags_of(a) & cnp.NPY_ARRAY_ALIGNED:
        return None
    offsets = index_offsets(indices, 0, ndim_of(a), dims_of(a), strides_of(a), &covered)
    if offsets is None or not has_ordered_strides(a, covered):
        return None
    index = <PyArrayObject *>offsets
    nd, length = ndim_of(index), item_size(a)
    if nd + ndim_of(a) > MAX_DIMS:
        return None
    for d in range(nd):
        dims[d] = dims_of(index)[d]
    for d in range(covered, ndim_of(a)):
        dims[nd] = dims_of(a)[d]
        nd += 1
    for d in range(ndim_of(a) - 1, covered - 1, -1):
        has_rows = has_rows and (strides_of(a)[d] == length or dims_of(a)[d] == 1)
        length *= dims_of(a)[d]
    if length == 0 or not (has_rows or has_integer_width(item_size(a))):
        return None
    result = new_contiguous(nd, dims, scalar_type(&r[at[0]]))
    out = <PyArrayObject *>result
    if not has_rows:
        begin_iteration(&walk, item_size(a), 1, INT64_MAX, False)
        for d in range(nd):
            if d < ndim_of(index):
                add_dimension(&walk, dims[d], 0, strides_of(index)[d], strides_of(out)[d])
            else:
                add_dimension(&walk, dims[d], strides_of(a)[d - ndim_of(index) + covered], 0, strides_of(out)[d])
    gil_state = leave_gil(size_of(index) * length // 8, r, at, nargs)
    if has_rows:
        copy_rows_at(data_of(a), <const int64_t *>data_of(index), size_of(index), length, data_of(out))
    else:
        done = iterate_indices(&walk, TAKE, scalar_type(&r[at[0]]), data_of(a), data_of(index), data_of(out))
    take_gil(gil_state)
    return result if done else None


cdef Py_ssize_t only_index(List indices) noexcept:
    """Return the position of the index tensor in `indices`. Return -1 for zero or several index tensors."""
    cdef Py_ssize_t i, position = -1
    for i in range(indices.size):
        if list_item(<PyObject *>indices, i).tag == TAG_OBJECT:
            if position >= 0:
                return -1
            position = i
    return position


cdef int index(Operator op, IValue *r, const int32_t *at) except -1:
    """Index by integer tensors (x[i], x[:, i], x[i, j]) or by a mask."""
    cdef List indices = <List>r[at[1]].v.o
    cdef Py_ssize_t dim
    cdef object result = None
    if type(indices) is not List or indices.size == 0 or not are_in_order(indices):
        return UNSUPPORTED
    dim = only_index(indices)
    if dim > 0 or (dim == 0 and indices.size > 1):
        return store_or_run_record(
            op, r, at,
            select_by_index(op.nargs, r, at, &r[at[0]], dim, list_slot(<PyObject *>indices, dim), True, False),
        )
    if list_item(<PyObject *>indices, 0).tag != TAG_OBJECT:
        return UNSUPPORTED
    if indices.size == 1:
        if contiguous_array_or_null(list_slot(<PyObject *>indices, 0)) != NULL and scalar_type(list_slot(<PyObject *>indices, 0)) == BOOL:
            result = select_by_mask(op.nargs, r, at, &r[at[0]], list_slot(<PyObject *>indices, 0))
        else:
            result = select_by_index(op.nargs, r, at, &r[at[0]], 0, list_slot(<PyObject *>indices, 0), True, False)
    if result is None:
        result = select_by_indices(op.nargs, r, at, indices)
    return store_or_run_record(op, r, at, result)


register_kernel("aten::index_select", index_select)
register_kernel("aten::embedding", embedding)
register_kernel("aten::take", take)
register_kernel("aten::gather", gather)
register_kernel("aten::index.Tensor", index)
register_kernel("aten::index.Tensor_hacked_twin", index)
