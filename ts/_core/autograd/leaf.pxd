"""Leaf tensors, which are not results of recorded operators.

Backward accumulates the gradients of leaf tensors in their attribute `grad`.
"""

from ts._core.autograd.node cimport Node
from ts._core.tensor.tensor cimport Tensor


cdef class AccumulateGrad(Node):
    """Backward node of a leaf, which accumulates gradients in `variable.grad`."""
    cdef readonly Tensor variable
    cdef object lock  # lock that is held while a gradient is added to `variable.grad`, created at first use

    cdef int add(self, Tensor gradient, bint owned) except -1


# Return the AccumulateGrad node of a leaf. Create a new node if none exists, or if the last one was
# deallocated.
cdef AccumulateGrad accumulator_of(Tensor leaf)
