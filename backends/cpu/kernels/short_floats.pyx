"""16-bit floats in 32 bits, and back: `short_floats.pxd` says what for.

NumPy's own conversion warns of what overflows, and takes longer than a small product.
"""

cimport numpy as cnp
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport FLOAT, HALF, dims_of, ndim_of
from ts._core.tensor.tensor cimport scalar_type_of_number
from ts.backends.cpu.kernels.kernel cimport MOST_DIMS
from ts.backends.cpu.kernels.walk cimport Operand, lay_out, new_result, walk

cdef extern from "short_floats.h" nogil:
    void widen(const char *x, npy_intp step, npy_intp n, int brain, float *out)
    void shorten(const float *x, npy_intp n, int brain, char *out, npy_intp step)

cnp.import_array()


cdef bint is_exact(double x, int kind) noexcept:
    cdef float wide = <float>x, back
    cdef char short_one[2]
    shorten(&wide, 1, kind == BRAIN, short_one, 2)
    widen(short_one, 2, 1, kind == BRAIN, &back)
    return back == x


cdef bint is_short(int number) noexcept:
    cdef int kind = scalar_type_of_number(number)
    return kind == HALF or kind == BRAIN


# Loops of one operand; the results that `walk` gives them have no gaps.

cdef void widen_halves(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    widen(args[0], steps[0], n[0], False, <float *>args[1])

cdef void widen_brains(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    widen(args[0], steps[0], n[0], True, <float *>args[1])

cdef void shorten_to_halves(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    shorten(<const float *>args[0], n[0], False, args[1], steps[1])

cdef void shorten_to_brains(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    shorten(<const float *>args[0], n[0], True, args[1], steps[1])


cdef object widened(PyArrayObject *a):
    cdef npy_intp shape[MOST_DIMS]
    cdef Operand operands[2]
    cdef int nd = ndim_of(a), d
    for d in range(nd):
        shape[d] = dims_of(a)[d]
    lay_out(&operands[0], a, nd, shape)
    made = new_result(operands, 1, nd, shape, FLOAT)
    if scalar_type_of_number(cnp.PyArray_TYPE(<cnp.ndarray>a)) == HALF:
        walk(widen_halves, NULL, operands, 2, nd, shape)
    else:
        walk(widen_brains, NULL, operands, 2, nd, shape)
    return made


cdef object shortened(PyArrayObject *a, int number):
    cdef npy_intp shape[MOST_DIMS]
    cdef Operand operands[2]
    cdef int nd = ndim_of(a), d, kind = scalar_type_of_number(number)
    for d in range(nd):
        shape[d] = dims_of(a)[d]
    lay_out(&operands[0], a, nd, shape)
    made = new_result(operands, 1, nd, shape, kind)
    walk(shorten_to_halves if kind == HALF else shorten_to_brains, NULL, operands, 2, nd, shape)
    return made
