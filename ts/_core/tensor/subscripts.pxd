"""Creation of views from shape, strides and offset; see `subscripts.pyx`."""

from cpython.object cimport PyObject
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.tensor.tensor cimport Tensor

# Return a new reference to a tensor on the memory of `a`, at byte offset `offset`.  `a` is the (possibly former)
# array of the CPU tensor `x`.  Callers that create several views must hold a reference to `a`, as other threads and
# finalizers may replace the array of `x` meanwhile.
cdef PyObject *view_at(
    Tensor x, PyArrayObject *a, int nd, npy_intp *dims, npy_intp *strides, npy_intp offset
) except NULL
# Return a view of the memory of `x` with elements of ScalarType `kind`; the strides are multiples of its size.
cdef PyObject *retyped_at(Tensor x, int kind, int nd, npy_intp *dims, npy_intp *strides) except NULL
