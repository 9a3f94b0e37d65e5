"""Leaves: tensors that no recorded operator made, whose gradients are kept."""

from ts._core.autograd.node cimport Node
from ts._core.tensor.tensor cimport Tensor


cdef class AccumulateGrad(Node):
    """Adds what arrives to the gradient of a leaf."""
    cdef readonly Tensor variable
    cdef object lock                   # held while `variable.grad` changes; None: no thread has needed it yet

    cdef int add(self, Tensor gradient, bint owned) except -1


# The AccumulateGrad node of a leaf, the same object while it is referenced.
cdef AccumulateGrad accumulator_of(Tensor leaf)
