"""Views made from shape, strides and offset; see `subscripts.pyx`."""

from cpython.object cimport PyObject
from numpy cimport npy_intp

from ts._core.tensor.tensor cimport Tensor

# A new reference to a tensor on `x`'s memory, `offset` bytes further; `x` is on the CPU.
cdef PyObject *view_at(Tensor x, int nd, npy_intp *dims, npy_intp *strides, npy_intp offset) except NULL
# The same for other elements of the same bytes, of the ScalarType `kind`; no view is offset by less than one of them.
cdef PyObject *retyped_at(Tensor x, int kind, int nd, npy_intp *dims, npy_intp *strides) except NULL
