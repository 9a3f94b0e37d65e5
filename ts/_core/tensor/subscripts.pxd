"""Views made from shape, strides and offset; see `subscripts.pyx`."""

from cpython.object cimport PyObject
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.tensor.tensor cimport Tensor

# A new reference to a tensor on the memory of `a`, `offset` bytes further.  It is the array of `x`, which is on the CPU, or was:
# whoever makes several views holds it, as other threads, and what is collected meanwhile, may give `x` another.
cdef PyObject *view_at(
    Tensor x, PyArrayObject *a, int nd, npy_intp *dims, npy_intp *strides, npy_intp offset
) except NULL
# The same for other elements of the same bytes, of the ScalarType `kind`; no view is offset by less than one of them.
cdef PyObject *retyped_at(Tensor x, int kind, int nd, npy_intp *dims, npy_intp *strides) except NULL
