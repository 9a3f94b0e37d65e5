"""Views made from shape, strides and offset; see `subscripts.pyx`."""

from cpython.object cimport PyObject
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.tensor.tensor cimport Tensor

# A new reference to a tensor on the memory of `a`, `offset` bytes further.  `a` is the (possibly former)
# array of the CPU tensor `x`.  Callers that make several views hold a reference to `a`, as other threads and
# finalizers may replace the array of `x` meanwhile.
cdef PyObject *view_at(
    Tensor x, PyArrayObject *a, int nd, npy_intp *dims, npy_intp *strides, npy_intp offset
) except NULL
# A view with elements of the ScalarType `kind`, at offsets that are multiples of its size.
cdef PyObject *retyped_at(Tensor x, int kind, int nd, npy_intp *dims, npy_intp *strides) except NULL
