"""Fast contiguity test of NumPy arrays by their strides, for operator results and arguments.

Input: a result and a list of arguments. Output: True if all arrays are certainly contiguous, else False.

Unlike NumPy's contiguity flag, the test also checks the strides of dimensions of length 1. This call returns
True:

    are_contiguous(np.ones((2, 3)), [np.ones((2, 3)), 1.5])
"""

cimport numpy as cnp
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject, dims_of, ndim_of, same_shape, strides_of

cnp.import_array()


cdef bint is_contiguous(PyArrayObject *a) noexcept:
    cdef npy_intp step = cnp.PyArray_ITEMSIZE(<cnp.ndarray>a)
    cdef int d
    for d in range(ndim_of(a) - 1, -1, -1):
        if dims_of(a)[d] == 0 or strides_of(a)[d] != step:
            return False
        step *= dims_of(a)[d]
    return True


cdef bint has_one(PyArrayObject *a) noexcept:
    cdef int d
    for d in range(ndim_of(a)):
        if dims_of(a)[d] == 1:
            return True
    return False


cdef bint fits(object x, PyArrayObject *result, bint alike) noexcept:
    """Return whether argument `x` is a contiguous array or no array.

    If `alike`, an array must also have the shape of `result`.
    """
    if type(x) is not cnp.ndarray:
        return not hasattr(x, "strides")
    return is_contiguous(<PyArrayObject *>x) and (not alike or same_shape(<PyArrayObject *>x, result))


cdef bint one_is_contiguous(object result, object args):
    cdef PyArrayObject *a
    cdef bint alike
    if type(result) is not cnp.ndarray:
        return False
    a = <PyArrayObject *>result
    alike = has_one(a)
    if not is_contiguous(a):
        return False
    for x in args:
        if type(x) is list:
            for y in x:
                if not fits(y, a, alike):
                    return False
        elif not fits(x, a, alike):
            return False
    return True


def are_contiguous(object result, object args):
    """Return whether the result (or each result of a tuple) and all arrays in `args` are contiguous.

    If the result has a dimension of size 1, arrays in `args` must also have the shape of the result.
    """
    if type(result) is tuple:
        for x in result:
            if not one_is_contiguous(x, args):
                return False
        return True
    return one_is_contiguous(result, args)
