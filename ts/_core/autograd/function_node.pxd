"""Backward nodes of custom functions: `ts.autograd.Function`."""

from ts._core.autograd.saved cimport SavingNode


cdef class FunctionNode(SavingNode):
    """Backward node of one custom `Function` call, also its `ctx` object."""
    cdef public object to_save              # tensors, or None if not set; likewise the next two
    cdef public object dirty_tensors
    cdef public object non_differentiable
    cdef public object saved_for_forward
    cdef public bint materialize_grads      # undefined gradients are zeros for `backward`
    cdef public object needs_input_grad     # by argument: whether it is a tensor that requires grad
    cdef tuple edge_at                      # by argument: its edge, or -1 where it is no tensor
