"""Allocation and recognition of channels-last (NHWC) arrays, with the rules of `ts.ops.result_strides`.

Examples:

    is_channels_last(x)          whether the array x is channels-last
    new_channels_last(...)       an uninitialized channels-last array
"""

cimport numpy as cnp
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject, dims_of, flags_of, ndim_of, strides_of
from ts._core.tensor.scalar_types cimport number_of_scalar_type


cdef inline object new_strided(int nd, npy_intp *dims, npy_intp *strides, int kind):
    """Allocate an array with the given shape and strides (in bytes).

    The strides must describe a block without gaps.
    """
    return cnp.PyArray_New(cnp.ndarray, nd, dims, number_of_scalar_type(kind), strides, NULL, 0, 0, <object>NULL)


cdef inline object new_channels_last(int nd, npy_intp *dims, int kind):
    """Allocate a channels-last array of 3 to 5 dimensions (signals, images, volumes)."""
    cdef npy_intp strides[5]
    cdef npy_intp stride = cnp.PyArray_DescrFromType(number_of_scalar_type(kind)).itemsize
    cdef int d
    strides[1] = stride
    stride *= dims[1]
    for d in range(nd - 1, 1, -1):
        strides[d] = stride
        stride *= dims[d]
    strides[0] = stride
    return new_strided(nd, dims, strides, kind)


cdef inline bint is_channels_last(PyArrayObject *a) noexcept:
    """Return whether an array of 3 to 5 dimensions has channels-last strides.

    Return False if the strides are ambiguous because of dimensions of size 1.
    """
    cdef int nd = ndim_of(a), d
    cdef npy_intp min_stride = 0
    cdef npy_intp *steps = strides_of(a)
    cdef npy_intp *dims = dims_of(a)
    if not 3 <= nd <= 5 or steps[1] == 0:
        return False
    for d in range(nd):
        if dims[d] == 0:
            return False
    min_stride = steps[1] * dims[1]
    if steps[1] < 0:
        return False
    for d in range(nd - 1, 1, -1):
        if steps[d] < min_stride:
            return False
        min_stride = steps[d] * dims[d]
    return steps[0] >= min_stride and min_stride != steps[1]


cdef inline bint dense_channels_last(PyArrayObject *a) noexcept:
    """Return whether an array is aligned, channels-last and without gaps between elements."""
    cdef npy_intp stride = cnp.PyArray_ITEMSIZE(<cnp.ndarray>a)
    cdef int nd = ndim_of(a), d
    if not flags_of(a) & cnp.NPY_ARRAY_ALIGNED:
        return False
    if dims_of(a)[1] != 1 and strides_of(a)[1] != stride:
        return False
    stride *= dims_of(a)[1]
    for d in range(nd - 1, 1, -1):
        if dims_of(a)[d] != 1 and strides_of(a)[d] != stride:
            return False
        stride *= dims_of(a)[d]
    return dims_of(a)[0] == 1 or strides_of(a)[0] == stride
