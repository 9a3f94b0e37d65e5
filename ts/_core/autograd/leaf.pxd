"""Leaf tensors: not the result of a recorded operator; backward accumulates their gradients in `grad`."""

from ts._core.autograd.node cimport Node
from ts._core.tensor.tensor cimport Tensor


cdef class AccumulateGrad(Node):
    """Backward node of a leaf: accumulates incoming gradients in `variable.grad`."""
    cdef readonly Tensor variable
    cdef object lock                   # held while `variable.grad` changes; None before first use

    cdef int add(self, Tensor gradient, bint owned) except -1


# Return the AccumulateGrad node of a leaf: the existing node while it is referenced, else a new one.
cdef AccumulateGrad accumulator_of(Tensor leaf)
