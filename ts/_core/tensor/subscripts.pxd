"""Views made from shape, strides and offset; see `subscripts.pyx`."""

from cpython.object cimport PyObject
from numpy cimport npy_intp

from ts._core.tensor.tensor cimport Tensor

# A new reference to a tensor on `x`'s memory, `offset` bytes further; `x` is on the CPU.
cdef PyObject *view_at(Tensor x, int nd, npy_intp *dims, npy_intp *strides, npy_intp offset) except NULL
