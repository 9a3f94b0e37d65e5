"""Products of matrices on the CPU without NumPy's call: its type resolution costs more than a small product.

In: two matrices of one floating dtype; out: their product, by np.matmul's own loop, which is BLAS where it pays.
"""

import numpy as np

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
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

cnp.import_array()
cnp.import_ufunc()


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
    cdef int inner = 1 if transposed else 0
    if dims_of(a)[1] != dims_of(b)[inner]:
        return NULL
    shape[0] = dims_of(a)[0]
    shape[1] = dims_of(b)[1 - inner]
    result = new_array(2, shape, number_of_scalar_type(kind))
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
    cdef Tensor product = wrap_cpu(result, kind)
    Py_INCREF(product)
    return <PyObject *>product
