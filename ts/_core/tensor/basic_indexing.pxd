"""Creation of views from shape, strides and offset (`basic_indexing.pyx`)."""

from cpython.object cimport PyObject
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.tensor.tensor cimport Tensor

# Return a new reference to a view of the CPU tensor `x`, on the memory of array `a` at byte offset `offset`.
# `a` is the current or a previous array of `x`. Other threads and finalizers may replace the array of `x`, so
# callers that create several views must hold a reference to `a`.
cdef PyObject *strided_view(
    Tensor x, PyArrayObject *a, int nd, npy_intp *dims, npy_intp *strides, npy_intp offset
) except NULL
# Return a view of the memory of `x` with elements of ScalarType `kind`. The strides must be multiples of the
# element size.
cdef PyObject *view_with_dtype(Tensor x, int kind, int nd, npy_intp *dims, npy_intp *strides) except NULL
