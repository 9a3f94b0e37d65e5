"""Access to fields of NumPy arrays without reference counting, and ScalarType constants, for C loops."""

from numpy cimport npy_intp

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyArrayObject
    int ndim_of "PyArray_NDIM"(PyArrayObject *) noexcept nogil
    npy_intp *dims_of "PyArray_DIMS"(PyArrayObject *) noexcept nogil
    npy_intp *strides_of "PyArray_STRIDES"(PyArrayObject *) noexcept nogil
    char *data_of "PyArray_BYTES"(PyArrayObject *) noexcept nogil
    int flags_of "PyArray_FLAGS"(PyArrayObject *) noexcept nogil
    npy_intp size_of "PyArray_SIZE"(PyArrayObject *) noexcept nogil
    npy_intp itemsize_of "PyArray_ITEMSIZE"(PyArrayObject *) noexcept nogil
    bint same_shape "PyArray_SAMESHAPE"(PyArrayObject *, PyArrayObject *) noexcept nogil
    object new_array "PyArray_SimpleNew"(int, npy_intp *, int)

cdef enum:
    # Minimal number of elements for which kernels release the GIL. With fewer elements, a kernel takes less
    # time than releasing and acquiring the GIL.
    RELEASE_GIL_FROM = 65536
    UINT8 = 0
    INT8 = 1
    INT16 = 2
    INT32 = 3
    INT64 = 4
    HALF = 5
    FLOAT = 6
    DOUBLE = 7
    CFLOAT = 9
    CDOUBLE = 10
    BOOL = 11
