"""Products of matrices on the CPU without NumPy's call: its type resolution costs more than a small product.

In: two matrices of one floating dtype; out: their product, by the BLAS that `ts._core.blas` has found, with its
flags for transposed operands, so that nothing is copied.  Vectors, and what BLAS does not take, go through
np.matmul's own loop.
"""

import numpy as np

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t
from numpy cimport npy_intp

from ts._core.ndarray cimport (
    DOUBLE,
    FLOAT,
    RELEASE_GIL_FROM,
    PyArrayObject,
    data_of,
    dims_of,
    flags_of,
    ndim_of,
    new_array,
    strides_of,
)
from ts._core.pointwise cimport Loop, scalar_type_of_character
from ts._core.tensor cimport BACKEND_CPU, number_of_scalar_type, wrap_cpu

from ts._core import blas

cnp.import_array()
cnp.import_ufunc()


# ---------------------------------------------------------------- BLAS

ctypedef void (*Gemm64Float)(
    int, int, int, int64_t, int64_t, int64_t, float, void *, int64_t, void *, int64_t, float, void *, int64_t
) noexcept nogil
ctypedef void (*Gemm64Double)(
    int, int, int, int64_t, int64_t, int64_t, double, void *, int64_t, void *, int64_t, double, void *, int64_t
) noexcept nogil
ctypedef void (*Gemm64Complex)(
    int, int, int, int64_t, int64_t, int64_t, void *, void *, int64_t, void *, int64_t, void *, void *, int64_t
) noexcept nogil
ctypedef void (*Gemm32Float)(
    int, int, int, int, int, int, float, void *, int, void *, int, float, void *, int
) noexcept nogil
ctypedef void (*Gemm32Double)(
    int, int, int, int, int, int, double, void *, int, void *, int, double, void *, int
) noexcept nogil
ctypedef void (*Gemm32Complex)(
    int, int, int, int, int, int, void *, void *, int, void *, int, void *, void *, int
) noexcept nogil

cdef enum:
    ROW_MAJOR = 101                    # cblas's names for orders and transposition
    AS_IT_IS = 111
    TRANSPOSED = 112
    UNKNOWN = -1

cdef void *gemm_of[4]                  # float, double, complex of each
cdef int library_bits = UNKNOWN        # of its integers; 0: there is no library


cdef int find_library() except -1:
    global library_bits
    found = blas.library()
    if found is None:
        library_bits = 0
        return 0
    for i, letter in enumerate("sdcz"):
        gemm_of[i] = <void *><size_t>found.gemm[letter]
    library_bits = found.bits
    return 0


cdef struct Matrix:
    char *data
    int64_t rows
    int64_t columns
    int64_t pitch                      # elements from row to row, or where transposed from column to column
    int flag


cdef bint as_matrix(Matrix *m, char *data, npy_intp *dims, npy_intp *strides, int64_t itemsize, bint turn) noexcept nogil:
    """A matrix (turned: its transpose) for BLAS; false where neither its rows nor its columns lie in order."""
    cdef int64_t down = strides[0], right = strides[1], rows = dims[0], columns = dims[1]
    if turn:
        down, right, rows, columns = right, down, columns, rows
    m.data, m.rows, m.columns = data, rows, columns
    if down % itemsize or right % itemsize:
        return False
    if (right == itemsize or columns == 1) and (rows == 1 or down >= columns * itemsize):
        m.flag = AS_IT_IS
        m.pitch = columns if rows == 1 else down // itemsize
        return True
    if (down == itemsize or rows == 1) and (columns == 1 or right >= rows * itemsize):
        m.flag = TRANSPOSED
        m.pitch = rows if columns == 1 else right // itemsize
        return True
    return False


cdef bint fits_library(Matrix *m) noexcept nogil:
    cdef int64_t limit = 0x7fffffff
    return library_bits == 64 or (m.rows <= limit and m.columns <= limit and m.pitch <= limit)


cdef void gemm(int kind, Matrix *a, Matrix *b, void *c, int64_t pitch, double alpha, double beta) noexcept nogil:
    """c = alpha * a @ b + beta * c; kind 0 to 3 as in `gemm_of`."""
    cdef double alpha_z[2]
    cdef double beta_z[2]
    cdef float alpha_c[2]
    cdef float beta_c[2]
    cdef void *x
    cdef void *y
    alpha_z[0], alpha_z[1], beta_z[0], beta_z[1] = alpha, 0, beta, 0
    alpha_c[0], alpha_c[1], beta_c[0], beta_c[1] = <float>alpha, 0, <float>beta, 0
    x, y = (<void *>alpha_c, <void *>beta_c) if kind == 2 else (<void *>alpha_z, <void *>beta_z)
    if library_bits == 64:
        if kind == 0:
            (<Gemm64Float>gemm_of[0])(
                ROW_MAJOR, a.flag, b.flag, a.rows, b.columns, a.columns, <float>alpha, a.data, a.pitch, b.data, b.pitch,
                <float>beta, c, pitch,
            )
        elif kind == 1:
            (<Gemm64Double>gemm_of[1])(
                ROW_MAJOR, a.flag, b.flag, a.rows, b.columns, a.columns, alpha, a.data, a.pitch, b.data, b.pitch,
                beta, c, pitch,
            )
        else:
            (<Gemm64Complex>gemm_of[kind])(
                ROW_MAJOR, a.flag, b.flag, a.rows, b.columns, a.columns, x, a.data, a.pitch, b.data, b.pitch,
                y, c, pitch,
            )
    elif kind == 0:
        (<Gemm32Float>gemm_of[0])(
            ROW_MAJOR, a.flag, b.flag, <int>a.rows, <int>b.columns, <int>a.columns, <float>alpha, a.data, <int>a.pitch,
            b.data, <int>b.pitch, <float>beta, c, <int>pitch,
        )
    elif kind == 1:
        (<Gemm32Double>gemm_of[1])(
            ROW_MAJOR, a.flag, b.flag, <int>a.rows, <int>b.columns, <int>a.columns, alpha, a.data, <int>a.pitch,
            b.data, <int>b.pitch, beta, c, <int>pitch,
        )
    else:
        (<Gemm32Complex>gemm_of[kind])(
            ROW_MAJOR, a.flag, b.flag, <int>a.rows, <int>b.columns, <int>a.columns, x, a.data, <int>a.pitch,
            b.data, <int>b.pitch, y, c, <int>pitch,
        )


def multiply(a, b, c, double alpha, double beta):
    """c = alpha * a @ b + beta * c for matrices or stacks of as many; False where BLAS does not take them.

    All of one dtype, not empty; `c` is C-contiguous.  A `beta` of 0 hides what is in c.
    """
    cdef PyArrayObject *x = <PyArrayObject *>a
    cdef PyArrayObject *y = <PyArrayObject *>b
    cdef PyArrayObject *z = <PyArrayObject *>c
    cdef Matrix left, right
    cdef int ndim = ndim_of(z), kind = "fdFD".find(c.dtype.char)
    cdef int64_t itemsize = c.itemsize, i, count = 1, pitch
    cdef npy_intp x_step = 0, y_step = 0, z_step = 0
    cdef char *out = data_of(z)
    if library_bits == UNKNOWN:
        find_library()
    if library_bits == 0 or kind < 0 or not 2 <= ndim <= 3 or a.size == 0 or b.size == 0:
        return False
    if not (ndim == ndim_of(x) == ndim_of(y) and a.dtype == b.dtype == c.dtype):
        return False
    if not (flags_of(x) & flags_of(y) & flags_of(z) & cnp.NPY_ARRAY_ALIGNED):
        return False
    if not flags_of(z) & cnp.NPY_ARRAY_C_CONTIGUOUS or not flags_of(z) & cnp.NPY_ARRAY_WRITEABLE:
        return False
    if ndim == 3:
        if dims_of(x)[0] != dims_of(y)[0] or dims_of(x)[0] != dims_of(z)[0]:
            return False
        count = dims_of(z)[0]
        x_step, y_step, z_step = strides_of(x)[0], strides_of(y)[0], strides_of(z)[0]
    pitch = dims_of(z)[ndim - 1]
    if not as_matrix(&left, data_of(x), dims_of(x) + ndim - 2, strides_of(x) + ndim - 2, itemsize, False):
        return False
    if not as_matrix(&right, data_of(y), dims_of(y) + ndim - 2, strides_of(y) + ndim - 2, itemsize, False):
        return False
    if left.columns != right.rows or left.rows != dims_of(z)[ndim - 2] or right.columns != pitch:
        return False
    if not fits_library(&left) or not fits_library(&right):
        return False
    with nogil:
        for i in range(count):
            gemm(kind, &left, &right, out, pitch, alpha, beta)
            left.data += x_step
            right.data += y_step
            out += z_step
    return True


# ---------------------------------------------------------------- two matrices


cdef Loop matmul_loop[2]               # of np.matmul, for float and double: BLAS where it pays


cdef int _find_matmul() except -1:
    cdef cnp.ufunc ufunc = np.matmul
    types = np.matmul.types
    cdef int i, kind
    matmul_loop[0] = matmul_loop[1] = NULL
    for i in range(ufunc.ntypes):
        kind = scalar_type_of_character(types[i][0])
        if kind == FLOAT or kind == DOUBLE:
            matmul_loop[kind - FLOAT] = <Loop>ufunc.functions[i]
    return 0


_find_matmul()


cdef PyObject *matrix_product(Tensor x, Tensor y, bint transposed) except? NULL:
    """x @ y, or x @ y.T, of matrices with rows or columns in order; NULL where they are not of that kind."""
    cdef PyArrayObject *a
    cdef PyArrayObject *b
    cdef npy_intp shape[2]
    cdef npy_intp sizes[4]
    cdef npy_intp steps[9]
    cdef char *args[3]
    cdef int kind = x.scalar_type
    cdef object result
    if x.backend != BACKEND_CPU or y.backend != BACKEND_CPU or kind != y.scalar_type:
        return NULL
    if kind != FLOAT and kind != DOUBLE:
        return NULL
    a = <PyArrayObject *>x.array
    b = <PyArrayObject *>y.array
    if ndim_of(a) != 2 or ndim_of(b) != 2 or not flags_of(a) & flags_of(b) & cnp.NPY_ARRAY_ALIGNED:
        return NULL
    cdef Matrix left, right
    cdef int inner = 1 if transposed else 0
    if dims_of(a)[1] != dims_of(b)[inner]:
        return NULL
    shape[0] = dims_of(a)[0]
    shape[1] = dims_of(b)[1 - inner]
    result = new_array(2, shape, number_of_scalar_type(kind))
    if library_bits == UNKNOWN:
        find_library()
    if (
        library_bits > 0 and shape[0] > 1 and shape[1] > 1 and dims_of(a)[1] > 0
        and as_matrix(&left, data_of(a), dims_of(a), strides_of(a), 8 if kind == DOUBLE else 4, False)
        and as_matrix(&right, data_of(b), dims_of(b), strides_of(b), 8 if kind == DOUBLE else 4, transposed)
        and fits_library(&left) and fits_library(&right)
    ):
        if shape[0] * shape[1] * left.columns >= RELEASE_GIL_FROM:
            with nogil:
                gemm(kind - FLOAT, &left, &right, data_of(<PyArrayObject *>result), shape[1], 1, 0)
        else:
            gemm(kind - FLOAT, &left, &right, data_of(<PyArrayObject *>result), shape[1], 1, 0)
        return finished(result, kind)
    sizes[0] = 1
    sizes[1] = shape[0]
    sizes[2] = dims_of(a)[1]
    sizes[3] = shape[1]
    steps[0] = steps[1] = steps[2] = 0
    steps[3] = strides_of(a)[0]
    steps[4] = strides_of(a)[1]
    steps[5] = strides_of(b)[inner]
    steps[6] = strides_of(b)[1 - inner]
    steps[7] = strides_of(<PyArrayObject *>result)[0]
    steps[8] = strides_of(<PyArrayObject *>result)[1]
    args[0] = data_of(a)
    args[1] = data_of(b)
    args[2] = data_of(<PyArrayObject *>result)
    if shape[0] * shape[1] * sizes[2] >= RELEASE_GIL_FROM:
        with nogil:
            matmul_loop[kind - FLOAT](args, sizes, steps, NULL)
    else:
        matmul_loop[kind - FLOAT](args, sizes, steps, NULL)
    return finished(result, kind)


cdef PyObject *finished(object array, int kind) except NULL:
    cdef Tensor product = wrap_cpu(array, kind)
    Py_INCREF(product)
    return <PyObject *>product
