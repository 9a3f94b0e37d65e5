"""Products with vectors (dot product, matrix-vector product or GEMV, outer product, cross product).

Input: interpreter registers with two CPU tensors of one floating dtype. Output: the register of the product.

For large products and unsupported arguments, the operator's Python kernel runs. The operators are:

    dot(x, y), vdot(x, y)     mv(m, x), m @ x, x @ m     outer(x, y)    cross(x, y), linalg.cross(x, y, dim=1)
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, flags_of, ndim_of, same_shape, size_of, strides_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, wrap_cpu
from ts._core.value.ivalue cimport IValue, TAG_NONE, set_object_steal
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, release_gil_for_arrays, take_gil
from ts.backends.cpu.kernels.kernel cimport Axis, float_array, is_tensor, new_contiguous, new_like, set_result, read_axis, scalar_type
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel

cnp.import_array()

cdef extern from "dot_kernels.h" nogil:
    void float_dots(const float *rows, npy_intp pitch, npy_intp m, const float *x, npy_intp n, float *out)
    void double_dots(const double *rows, npy_intp pitch, npy_intp m, const double *x, npy_intp n, double *out)
    void float_weighted_rows(const float *rows, npy_intp pitch, npy_intp m, const float *x, npy_intp n, float *out)
    void double_weighted_rows(const double *rows, npy_intp pitch, npy_intp m, const double *x, npy_intp n, double *out)

# Larger products are left to the operator's Python kernel, which uses BLAS and threads.
cdef npy_intp MAX_MULTIPLICATIONS = 1 << 16

ctypedef fused floating:
    float
    double


# ---------------------------------------------------------------- products with vectors and matrices

cdef inline npy_intp item_bytes(int kind) noexcept nogil:
    return 4 if kind == FLOAT else 8


cdef inline bint has_contiguous_rows(PyArrayObject *a, npy_intp width) noexcept:
    """Return whether the rows of a non-empty array are aligned and contiguous.

    The byte stride between rows must also be a non-negative multiple of `width`, the size of an element.
    """
    cdef int last = ndim_of(a) - 1
    if size_of(a) == 0 or not flags_of(a) & cnp.NPY_ARRAY_ALIGNED or (dims_of(a)[last] != 1 and strides_of(a)[last] != width):
        return False
    return last == 0 or (strides_of(a)[0] >= 0 and strides_of(a)[0] % width == 0)


cdef PyObject *vector_product(Tensor x, Tensor y) except? NULL:
    cdef PyArrayObject *a
    cdef PyArrayObject *b
    cdef int kind = x.scalar_type
    cdef npy_intp n
    cdef npy_intp length
    cdef bint left
    cdef char *out
    cdef PyArrayObject *rows
    cdef PyArrayObject *row
    cdef npy_intp pitch, m
    cdef ReleasedGil gil_state
    if x.backend != BACKEND_CPU or y.backend != BACKEND_CPU or kind != y.scalar_type or (kind != FLOAT and kind != DOUBLE):
        return NULL
    a, b = <PyArrayObject *>x.array, <PyArrayObject *>y.array
    if not (ndim_of(a) == 1 and 1 <= ndim_of(b) <= 2 or ndim_of(a) == 2 and ndim_of(b) == 1):
        return NULL
    n = dims_of(a)[ndim_of(a) - 1]
    if n != dims_of(b)[0] or max(size_of(a), size_of(b)) > MAX_MULTIPLICATIONS:
        return NULL
    if not has_contiguous_rows(a, item_bytes(kind)) or not has_contiguous_rows(b, item_bytes(kind)):
        return NULL
    left = ndim_of(b) == 2             # vector @ matrix is a weighted sum of the rows of the matrix
    rows, row = (b, a) if left else (a, b)
    m = dims_of(rows)[0] if ndim_of(rows) == 2 else 1
    pitch = strides_of(rows)[0] // item_bytes(kind) if ndim_of(rows) == 2 else 0
    length = dims_of(b)[1] if left else m
    result = new_contiguous(0 if ndim_of(a) == ndim_of(b) else 1, &length, kind)
    out = data_of(<PyArrayObject *>result)
    gil_state = release_gil_for_arrays(size_of(rows) // 4, a, b)
    if left and kind == FLOAT:
        float_weighted_rows(<float *>data_of(rows), pitch, n, <float *>data_of(row), length, <float *>out)
    elif left:
        double_weighted_rows(<double *>data_of(rows), pitch, n, <double *>data_of(row), length, <double *>out)
    elif kind == FLOAT:
        float_dots(<float *>data_of(rows), pitch, m, <float *>data_of(row), n, <float *>out)
    else:
        double_dots(<double *>data_of(rows), pitch, m, <double *>data_of(row), n, <double *>out)
    take_gil(gil_state)
    product = wrap_cpu(result, kind)
    Py_INCREF(product)
    return <PyObject *>product


cdef int store_product(Operator op, IValue *r, const int32_t *at, int ndim) except -1:
    """Compute the product of a tensor with `ndim` dimensions and a vector."""
    cdef PyObject *result = NULL
    cdef Tensor x, y
    if is_tensor(&r[at[0]]) and is_tensor(&r[at[1]]):
        x, y = <Tensor>r[at[0]].v.o, <Tensor>r[at[1]].v.o
        if x.backend == BACKEND_CPU == y.backend and ndim_of(<PyArrayObject *>x.array) == ndim:
            if ndim_of(<PyArrayObject *>y.array) == 1:
                result = vector_product(x, y)
    if result == NULL:
        return UNSUPPORTED
    set_object_steal(&r[at[2]], result)
    return 0


cdef int dot(Operator op, IValue *r, const int32_t *at) except -1:
    return store_product(op, r, at, 1)


cdef int mv(Operator op, IValue *r, const int32_t *at) except -1:
    return store_product(op, r, at, 2)


# ---------------------------------------------------------------- outer products

cdef void fill_outer(const floating *x, npy_intp m, const floating *y, npy_intp n, floating *out) noexcept nogil:
    cdef npy_intp i, j
    for i in range(m):
        for j in range(n):
            out[i * n + j] = x[i] * y[j]


cdef int outer(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = float_array(&r[at[0]])
    cdef PyArrayObject *b = float_array(&r[at[1]])
    cdef npy_intp dims[2]
    cdef int kind
    cdef char *out
    cdef ReleasedGil gil_state
    if a == NULL or b == NULL:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if ndim_of(a) != 1 or ndim_of(b) != 1 or scalar_type(&r[at[1]]) != kind or size_of(b) > 1 << 30 or size_of(a) > 1 << 30:
        return UNSUPPORTED
    dims[0], dims[1] = size_of(a), size_of(b)
    result = new_contiguous(2, dims, kind)
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(dims[0] * dims[1], r, at, op.nargs)
    if kind == FLOAT:
        fill_outer(<float *>data_of(a), dims[0], <float *>data_of(b), dims[1], <float *>out)
    else:
        fill_outer(<double *>data_of(a), dims[0], <double *>data_of(b), dims[1], <double *>out)
    take_gil(gil_state)
    return set_result(&r[at[2]], result, kind)


# ---------------------------------------------------------------- cross products

cdef void fill_cross(const floating *x, const floating *y, Axis *axis, floating *out) noexcept nogil:
    cdef npy_intp o, i, k = axis.inner
    for o in range(axis.outer):
        for i in range(k):
            out[i] = x[k + i] * y[2 * k + i] - x[2 * k + i] * y[k + i]
            out[k + i] = x[2 * k + i] * y[i] - x[i] * y[2 * k + i]
            out[2 * k + i] = x[i] * y[k + i] - x[k + i] * y[i]
        x += 3 * k
        y += 3 * k
        out += 3 * k


cdef int cross(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute the cross product of two tensors of equal shape along a dimension of size 3."""
    cdef PyArrayObject *a = float_array(&r[at[0]])
    cdef PyArrayObject *b = float_array(&r[at[1]])
    cdef Axis axis
    cdef int kind, d = 0
    cdef char *out
    cdef ReleasedGil gil_state
    if a == NULL or b == NULL:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if scalar_type(&r[at[1]]) != kind or not same_shape(a, b) or size_of(a) == 0:
        return UNSUPPORTED
    if r[at[2]].tag == TAG_NONE:  # Without `dim`, the first dimension of size 3 is used.
        while d < ndim_of(a) and dims_of(a)[d] != 3:
            d += 1
    if read_axis(a, d if r[at[2]].tag == TAG_NONE else r[at[2]].v.i, &axis) < 0 or axis.n != 3:
        return UNSUPPORTED
    result = new_like(a, kind)
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    if kind == FLOAT:
        fill_cross(<float *>data_of(a), <float *>data_of(b), &axis, <float *>out)
    else:
        fill_cross(<double *>data_of(a), <double *>data_of(b), &axis, <double *>out)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


register_kernel("aten::dot", dot)
register_kernel("aten::vdot", dot)
register_kernel("aten::mv", mv)
register_kernel("aten::outer", outer, CONTIGUOUS)
register_kernel("aten::ger", outer, CONTIGUOUS)
register_kernel("aten::cross", cross, CONTIGUOUS)
register_kernel("aten::linalg_cross", cross, CONTIGUOUS)
