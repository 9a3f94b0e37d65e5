"""Backward of max pooling, embedding and softmax.

Input: interpreter registers with a contiguous floating gradient, and with the indices or the result of the
forward. Output: the register of the gradient.

For other arguments, the operator's Python kernel runs. The table shows the result of each operator:

    max_pool2d_with_indices_backward(grad, x, ...)      zeros like x, plus each gradient at its index
    embedding_dense_backward(grad, indices, rows)       a table of zeros, plus each gradient in its row
    _softmax_backward_data(grad, y, -1)                 y * (grad - sum(grad * y)), row by row
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.math cimport exp
from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT64, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.value.container cimport List, list_item
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, float_array, new_like, new_zeros, set_result, same_dtype, scalar_type
from ts.backends.cpu.kernels.row_loops cimport RowLoops
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel
from ts.backends.cpu.kernels.vector_math cimport row_loops_here

cnp.import_array()

cdef const RowLoops *LOOPS = row_loops_here()

cdef void log_softmax_of_doubles(const double *g, const double *y, npy_intp rows, npy_intp n, double *out) noexcept nogil:
    """Compute the gradient of log_softmax, g - exp(y) * sum(g), for each row."""
    cdef double by
    cdef npy_intp r, i
    for r in range(rows):
        by = LOOPS.double_backward.sum(g, n)
        for i in range(n):
            out[i] = g[i] - exp(y[i]) * by
        g, y, out = g + n, y + n, out + n


ctypedef fused floating:
    float
    double


cdef bint same_shape(PyArrayObject *a, PyArrayObject *b) noexcept:
    cdef int d
    if ndim_of(a) != ndim_of(b):
        return False
    for d in range(ndim_of(a)):
        if dims_of(a)[d] != dims_of(b)[d]:
            return False
    return True


# ---------------------------------------------------------------- max pooling

cdef bint add_at_indices(
    const floating *g, const int64_t *pool_indices, npy_intp planes, npy_intp count, npy_intp plane, floating *out
) noexcept nogil:
    """Add each gradient to the element of the same plane of `out` at the gradient's index in `pool_indices`.

    Return False if an index is out of range.
    """
    cdef npy_intp p, i
    for p in range(planes):
        for i in range(count):
            if not 0 <= pool_indices[i] < plane:
                return False
            out[pool_indices[i]] += g[i]
        g += count
        pool_indices += count
        out += plane
    return True


cdef int max_pool(Operator op, IValue *r, const int32_t *at, int last, int n) except -1:
    """Run the backward of max pooling over `n` dimensions. Argument `last` contains the indices."""
    cdef PyArrayObject *g = float_array(&r[at[0]])
    cdef PyArrayObject *x = float_array(&r[at[1]])
    cdef PyArrayObject *pool_indices = contiguous_array_or_null(&r[at[last]])
    cdef npy_intp planes = 1, plane = 1, count
    cdef int kind, d
    cdef bint inside
    cdef ReleasedGil gil_state
    if g == NULL or x == NULL or pool_indices == NULL:
        return UNSUPPORTED
    kind = scalar_type(&r[at[1]])
    if scalar_type(&r[at[0]]) != kind or scalar_type(&r[at[last]]) != INT64 or not same_shape(g, pool_indices):
        return UNSUPPORTED
    if not n < ndim_of(x) <= n + 2 or ndim_of(g) != ndim_of(x) or size_of(x) == 0 or size_of(g) == 0:
        return UNSUPPORTED
    for d in range(ndim_of(x)):
        if d < ndim_of(x) - n:
            if dims_of(g)[d] != dims_of(x)[d]:
                return UNSUPPORTED
            planes *= dims_of(x)[d]
        else:
            plane *= dims_of(x)[d]
    count = size_of(g) // planes
    result = new_zeros(ndim_of(x), dims_of(x), kind)
    gil_state = leave_gil(size_of(x), r, at, op.nargs)
    if kind == FLOAT:
        inside = add_at_indices[float](
            <float *>data_of(g), <int64_t *>data_of(pool_indices), planes, count, plane, <float *>data_of(<PyArrayObject *>result))
    else:
        inside = add_at_indices[double](
            <double *>data_of(g), <int64_t *>data_of(pool_indices), planes, count, plane, <double *>data_of(<PyArrayObject *>result))
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind) if inside else UNSUPPORTED


cdef bint all_at_least(IValue *numbers, int64_t bound) noexcept:
    cdef Py_ssize_t i
    for i in range((<List>numbers.v.o).size):
        if list_item(<PyObject *>numbers.v.o, i).v.i < bound:
            return False
    return True


cdef int max_pool_with_windows(Operator op, IValue *r, const int32_t *at, int n) except -1:
    """Run the backward of max pooling after a check of the window arguments, which the backward does not use."""
    if all_at_least(&r[at[2]], 1) and all_at_least(&r[at[3]], 1) and all_at_least(&r[at[4]], 0) and all_at_least(&r[at[5]], 1):
        return max_pool(op, r, at, 7, n)
    return UNSUPPORTED


cdef int max_pool2d(Operator op, IValue *r, const int32_t *at) except -1:
    return max_pool_with_windows(op, r, at, 2)


cdef int max_pool3d(Operator op, IValue *r, const int32_t *at) except -1:
    return max_pool_with_windows(op, r, at, 3)


cdef int adaptive_max_pool2d(Operator op, IValue *r, const int32_t *at) except -1:
    return max_pool(op, r, at, 2, 2)


cdef int adaptive_max_pool3d(Operator op, IValue *r, const int32_t *at) except -1:
    return max_pool(op, r, at, 2, 3)


# ---------------------------------------------------------------- embedding

cdef bint add_rows(
    const floating *g, const int64_t *indices, npy_intp count, npy_intp width, npy_intp rows, int64_t skipped, floating *out
) noexcept nogil:
    """Add each row i of `g` to the row indices[i] of `out`, unless indices[i] is `skipped`.

    Return False if an index is out of range.
    """
    cdef npy_intp i
    for i in range(count):
        if not 0 <= indices[i] < rows:
            return False
        if indices[i] == skipped:
            continue
        if floating is float:
            LOOPS.float_backward.add(g + i * width, width, out + indices[i] * width)
        else:
            LOOPS.double_backward.add(g + i * width, width, out + indices[i] * width)
    return True


cdef int embedding(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *g = float_array(&r[at[0]])
    cdef PyArrayObject *indices = contiguous_array_or_null(&r[at[1]])
    cdef int64_t rows = r[at[2]].v.i, skipped = r[at[3]].v.i
    cdef npy_intp shape[2]
    cdef int kind, d
    cdef bint inside
    cdef ReleasedGil gil_state
    if g == NULL or indices == NULL:
        return UNSUPPORTED
    if scalar_type(&r[at[1]]) != INT64 or ndim_of(g) != ndim_of(indices) + 1 or r[at[4]].v.i or rows <= 0 or size_of(g) == 0:
        return UNSUPPORTED
    for d in range(ndim_of(indices)):
        if dims_of(g)[d] != dims_of(indices)[d]:
            return UNSUPPORTED
    kind, shape[0], shape[1] = scalar_type(&r[at[0]]), rows, dims_of(g)[ndim_of(g) - 1]
    result = new_zeros(2, shape, kind)
    gil_state = leave_gil(size_of(g), r, at, op.nargs)
    if kind == FLOAT:
        inside = add_rows[float](
            <float *>data_of(g), <int64_t *>data_of(indices), size_of(indices), shape[1], rows, skipped,
            <float *>data_of(<PyArrayObject *>result))
    else:
        inside = add_rows[double](
            <double *>data_of(g), <int64_t *>data_of(indices), size_of(indices), shape[1], rows, skipped,
            <double *>data_of(<PyArrayObject *>result))
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind) if inside else UNSUPPORTED


# ---------------------------------------------------------------- softmax

cdef int softmax_rows(Operator op, IValue *r, const int32_t *at, bint logarithm) except -1:
    cdef PyArrayObject *g = float_array(&r[at[0]])
    cdef PyArrayObject *y = float_array(&r[at[1]])
    cdef int64_t dim = r[at[2]].v.i
    cdef npy_intp n, rows
    cdef int kind
    cdef void *out
    cdef ReleasedGil gil_state
    if g == NULL or y == NULL:
        return UNSUPPORTED
    kind = scalar_type(&r[at[1]])
    if scalar_type(&r[at[0]]) != kind or not same_dtype(&r[at[3]], kind) or not same_shape(g, y):
        return UNSUPPORTED
    if size_of(y) == 0 or (dim != -1 and dim != ndim_of(y) - 1) or ndim_of(y) == 0:
        return UNSUPPORTED
    n = dims_of(y)[ndim_of(y) - 1]
    rows = size_of(y) // n
    result = new_like(y, kind)
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(y), r, at, op.nargs)
    if kind == FLOAT:
        if logarithm:
            LOOPS.log_softmax_backward(<float *>data_of(g), <float *>data_of(y), rows, n, <float *>out)
        else:
            LOOPS.float_backward.softmax(<float *>data_of(g), <float *>data_of(y), rows, n, <float *>out)
    elif logarithm:
        log_softmax_of_doubles(<double *>data_of(g), <double *>data_of(y), rows, n, <double *>out)
    else:
        LOOPS.double_backward.softmax(<double *>data_of(g), <double *>data_of(y), rows, n, <double *>out)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int softmax(Operator op, IValue *r, const int32_t *at) except -1:
    return softmax_rows(op, r, at, False)


cdef int log_softmax(Operator op, IValue *r, const int32_t *at) except -1:
    return softmax_rows(op, r, at, True)


register_kernel("aten::max_pool2d_with_indices_backward", max_pool2d, CONTIGUOUS)
register_kernel("aten::max_pool3d_with_indices_backward", max_pool3d, CONTIGUOUS)
register_kernel("aten::adaptive_max_pool2d_backward", adaptive_max_pool2d, CONTIGUOUS)
register_kernel("aten::adaptive_max_pool3d_backward", adaptive_max_pool3d, CONTIGUOUS)
register_kernel("aten::embedding_dense_backward", embedding, CONTIGUOUS)
register_kernel("aten::_softmax_backward_data", softmax, CONTIGUOUS)
register_kernel("aten::_log_softmax_backward_data", log_softmax, CONTIGUOUS)
