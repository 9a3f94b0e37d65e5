"""Minimum and maximum of contiguous CPU tensors with NaN propagation, and their indices (argmin, argmax).

Input: interpreter registers with a tensor, the dimensions to reduce, and `keepdim`. Output: the registers of
the values, the indices, or both.

NaN counts as both minimum and maximum. The first of several equal elements is selected. For other arguments,
the operator's Python kernel runs. Examples:

    x.amax([0, 1]), x.max()       x.argmin(1), x.max(1)
"""

cimport numpy as cnp
from libc.stdint cimport INT32_MAX, int32_t, int64_t
from libc.string cimport memcpy
from numpy cimport npy_bool, npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.kernel_registry cimport FLOAT32_CONTIGUOUS, EpilogueArgs, register_epilogue, register_kernel
from ts._core.value.ivalue cimport IValue
from ts._core.tensor.ndarray cimport BOOL, DOUBLE, FLOAT, HALF, INT32, INT64, PyArrayObject, data_of, size_of
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, item_size, new_contiguous, set_result, scalar_type
from ts.backends.cpu.kernels.elementwise cimport Loop, Loops
from ts.backends.cpu.kernels.elementwise cimport item_size as width_of
from ts.backends.cpu.kernels.block_reductions cimport extreme_of_floats
from ts.backends.cpu.kernels.reduce cimport Shape, read_lengths, read_shape

from ts.backends.cpu.kernels.elementwise import ufunc_loops

cnp.import_array()

cdef extern from *:
    """
    /* Set `place` to the index of the first minimum or maximum, by NumPy's vectorized search. */
    static int extreme_index(int largest, PyArrayObject *a, void *data, npy_intp n, npy_intp *place) {
        PyArray_ArrFuncs *f = PyDataType_GetArrFuncs(PyArray_DESCR(a));
        return largest ? f->argmax(data, n, place, a) : f->argmin(data, n, place, a);
    }
    """
    int extreme_index(bint largest, PyArrayObject *a, void *data, npy_intp n, npy_intp *index) noexcept nogil

cdef extern from "columnwise_minmax.h" nogil:
    # Arguments: (largest, x, rows, columns, values or NULL, indices).
    void float_column_extremes(int largest, const float *x, npy_intp n, npy_intp columns, float *values, int64_t *indices)
    void double_column_extremes(int largest, const double *x, npy_intp n, npy_intp columns, double *values, int64_t *indices)
    void int32_t_column_extremes(int largest, const int32_t *x, npy_intp n, npy_intp columns, int32_t *values, int64_t *indices)
    void int64_t_column_extremes(int largest, const int64_t *x, npy_intp n, npy_intp columns, int64_t *values, int64_t *indices)


# ---------------------------------------------------------------- minima and maxima

cdef Loops _maximum = ufunc_loops("maximum")
cdef Loops _minimum = ufunc_loops("minimum")


cdef void reduce_rows(Loop loop, bint largest, int kind, char *x, npy_intp width, Shape *s, char *out) noexcept nogil:
    """Reduce the dimension n of `s` by `loop`, which computes the maximum (if `largest`) or the minimum."""
    cdef Shape row
    cdef npy_intp o
    cdef float extreme
    if kind != FLOAT or s.inner != 1:
        reduce_by_loop(loop, x, width, s, out)
        return
    row.outer, row.n, row.inner = 1, s.n, 1
    for o in range(s.outer):
        extreme = extreme_of_floats(largest, <float *>x + o * s.n, s.n)
        (<float *>out)[o] = extreme
        if extreme == 0 or extreme != extreme:  # `loop` determines the sign of a zero and the bits of a NaN.
            reduce_by_loop(loop, x + o * s.n * width, width, &row, out + o * width)


cdef void reduce_by_loop(Loop loop, char *x, npy_intp width, Shape *s, char *out) noexcept nogil:
    cdef char *args[3]
    cdef npy_intp strides[3]
    cdef npy_intp o, i, count
    for o in range(s.outer):
        memcpy(out, x, s.inner * width)
        if s.inner == 1 or s.inner * 4 < s.n:  # If there are few columns, reduce one column at a time. Otherwise, combine whole rows.
            strides[0] = strides[2] = 0
            strides[1] = width * s.inner
            count = s.n - 1
            for i in range(s.inner):
                args[0] = args[2] = out + i * width
                args[1] = x + (s.inner + i) * width
                if count:
                    loop(args, &count, strides, NULL)
        else:
            strides[0] = strides[1] = strides[2] = width
            for i in range(1, s.n):
                args[0] = args[2] = out
                args[1] = x + i * s.inner * width
                loop(args, &s.inner, strides, NULL)
        x += s.n * s.inner * width
        out += s.inner * width


cdef int run_extreme(Operator op, IValue *r, const int32_t *at, bint largest, IValue *dims, bint keepdim) except -1:
    """Reduce over the dimensions `dims`, or over all dimensions if `dims` is NULL."""
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef Shape s
    cdef Loop loop
    cdef object result
    cdef int kind
    cdef ReleasedGil gil_state
    if a == NULL or not read_shape(a, dims, keepdim, &s):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if kind == HALF or kind > DOUBLE and kind != BOOL:
        return UNSUPPORTED
    loop = (_maximum if largest else _minimum).function[kind]
    if loop == NULL:
        return UNSUPPORTED
    result = new_contiguous(s.nd, s.dims, kind)
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    reduce_rows(loop, largest, kind, data_of(a), item_size(a), &s, data_of(<PyArrayObject *>result))
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int largest_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_extreme(op, r, at, True, NULL, False)

cdef int smallest_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_extreme(op, r, at, False, NULL, False)

cdef int largest(Operator op, IValue *r, const int32_t *at) except -1:
    return run_extreme(op, r, at, True, &r[at[1]], r[at[2]].v.i)

cdef int smallest(Operator op, IValue *r, const int32_t *at) except -1:
    return run_extreme(op, r, at, False, &r[at[1]], r[at[2]].v.i)


# ---------------------------------------------------------------- epilogues of fusion groups

cdef void epilogue_extremes(const void *args, const char *x, npy_intp rows, char *out) noexcept nogil:
    cdef const EpilogueArgs *e = <const EpilogueArgs *>args
    cdef Shape s
    s.outer, s.n, s.inner = rows, e.n, 1
    reduce_rows(<Loop>e.vectors[0], e.what, e.kind, <char *>x, width_of(e.kind), &s, out)


cdef bint read_extremes(bint largest, int kind, int ndim, const npy_intp *dims, IValue *reduced, bint keepdim, EpilogueArgs *args) noexcept:
    """Set `args` for an epilogue that computes the maximum (if `largest`) or the minimum.

    The epilogue reduces the dimensions `reduced`, or all dimensions for NULL. Return False for unsupported
    arguments.
    """
    cdef Shape s
    cdef int d
    if kind == HALF or (kind > DOUBLE and kind != BOOL) or not read_lengths(ndim, dims, reduced, keepdim, &s) or s.inner != 1:
        return False
    args.vectors[0] = <const void *>(_maximum if largest else _minimum).function[kind]
    if args.vectors[0] == NULL:
        return False
    args.function, args.kind, args.n, args.row_results, args.ndim = epilogue_extremes, kind, s.n, 1, s.nd
    args.what = largest
    for d in range(s.nd):
        args.dims[d] = s.dims[d]
    return True


cdef bint epilogue_largest_all(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_extremes(True, kind, ndim, dims, NULL, False, args)

cdef bint epilogue_smallest_all(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_extremes(False, kind, ndim, dims, NULL, False, args)

cdef bint epilogue_largest(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_extremes(True, kind, ndim, dims, others[0], others[1].v.i, args)

cdef bint epilogue_smallest(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_extremes(False, kind, ndim, dims, others[0], others[1].v.i, args)


register_epilogue("aten::max", epilogue_largest_all)
register_epilogue("aten::min", epilogue_smallest_all)
register_epilogue("aten::amax", epilogue_largest)
register_epilogue("aten::amin", epilogue_smallest)


# ---------------------------------------------------------------- indices of minima and maxima

cdef void find_bool_extremes(bint largest, const npy_bool *x, Shape *s, int64_t *indices) noexcept nogil:
    """Store the row index of the first True (if `largest`) or the first False of each column, or else 0.

    A nonzero byte counts as True.
    """
    cdef npy_intp i, j
    for j in range(s.inner):
        indices[j] = 0
        for i in range(s.n):
            if (x[i * s.inner + j] != 0) == largest:
                indices[j] = i
                break


cdef void select_values(const char *x, npy_intp width, Shape *s, const int64_t *indices, char *out) noexcept nogil:
    cdef npy_intp j
    for j in range(s.inner):
        if width == 4:
            (<int32_t *>out)[j] = (<const int32_t *>x)[indices[j] * s.inner + j]
        elif width == 8:
            (<int64_t *>out)[j] = (<const int64_t *>x)[indices[j] * s.inner + j]
        else:
            out[j] = x[indices[j] * s.inner + j]


cdef void find_extremes(
    bint largest, PyArrayObject *a, int kind, char *x, npy_intp width, Shape *s, char *values, int64_t *indices
) noexcept nogil:
    """Find the extremes of `x` along axis n of the shape `s`, and store their indices.

    `a` only provides the dtype. If `values` is not NULL, the extremes are stored there.
    """
    cdef npy_intp o
    for o in range(s.outer):
        if s.inner == 1 or kind == BOOL:
            if s.inner == 1:
                extreme_index(largest, a, x, s.n, indices)
            else:
                find_bool_extremes(largest, <npy_bool *>x, s, indices)
            if values != NULL:
                select_values(x, width, s, indices, values)
        elif kind == FLOAT:
            float_column_extremes(largest, <float *>x, s.n, s.inner, <float *>values, indices)
        elif kind == DOUBLE:
            double_column_extremes(largest, <double *>x, s.n, s.inner, <double *>values, indices)
        elif kind == INT64:
            int64_t_column_extremes(largest, <int64_t *>x, s.n, s.inner, <int64_t *>values, indices)
        else:
            int32_t_column_extremes(largest, <int32_t *>x, s.n, s.inner, <int32_t *>values, indices)
        x += s.n * s.inner * width
        indices += s.inner
        if values != NULL:
            values += s.inner * width


cdef int run_extreme_index(Operator op, IValue *r, const int32_t *at, bint largest, bint with_values) except -1:
    """Store the indices of the extremes along a dimension, or (values, indices) if `with_values`."""
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef Shape s
    cdef object values, indices
    cdef char *x
    cdef char *out
    cdef npy_intp width
    cdef int kind
    cdef ReleasedGil gil_state
    if a == NULL or not read_shape(a, &r[at[1]], r[at[2]].v.i, &s) or s.n > INT32_MAX:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if kind not in (FLOAT, DOUBLE, INT32, INT64) and not (kind == BOOL and with_values):
        return UNSUPPORTED
    indices = new_contiguous(s.nd, s.dims, INT64)
    values = new_contiguous(s.nd, s.dims, kind) if with_values else None
    out = data_of(<PyArrayObject *>values) if with_values else NULL
    x = data_of(a)
    width = item_size(a)
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    find_extremes(largest, a, kind, x, width, &s, out, <int64_t *>data_of(<PyArrayObject *>indices))
    take_gil(gil_state)
    set_result(&r[at[op.nargs + with_values]], indices, INT64)
    return set_result(&r[at[op.nargs]], values, kind) if with_values else 0


cdef int largest_index(Operator op, IValue *r, const int32_t *at) except -1:
    return run_extreme_index(op, r, at, True, False)

cdef int smallest_index(Operator op, IValue *r, const int32_t *at) except -1:
    return run_extreme_index(op, r, at, False, False)

cdef int largest_with_index(Operator op, IValue *r, const int32_t *at) except -1:
    return run_extreme_index(op, r, at, True, True)

cdef int smallest_with_index(Operator op, IValue *r, const int32_t *at) except -1:
    return run_extreme_index(op, r, at, False, True)


register_kernel("aten::max", largest_all, FLOAT32_CONTIGUOUS)
register_kernel("aten::min", smallest_all, FLOAT32_CONTIGUOUS)
register_kernel("aten::amax", largest, FLOAT32_CONTIGUOUS)
register_kernel("aten::amin", smallest, FLOAT32_CONTIGUOUS)
register_kernel("aten::argmax", largest_index, FLOAT32_CONTIGUOUS)
register_kernel("aten::argmin", smallest_index, FLOAT32_CONTIGUOUS)
register_kernel("aten::max.dim", largest_with_index, FLOAT32_CONTIGUOUS)
register_kernel("aten::min.dim", smallest_with_index, FLOAT32_CONTIGUOUS)
