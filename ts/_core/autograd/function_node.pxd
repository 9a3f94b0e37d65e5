"""Backward nodes of custom functions: `ts.autograd.Function`."""

from ts._core.autograd.saved cimport SavingNode


cdef class FunctionNode(SavingNode):
    """Backward node of one custom `Function` call, also its `ctx` object."""
    cdef public object to_save              # tensors, or None if not set; likewise the next three
    cdef public object dirty_tensors
    cdef public object non_differentiable
    cdef public object saved_for_forward
    cdef public bint materialize_grads      # pass zeros instead of undefined gradients to `backward`
    cdef public object needs_input_grad     # tuple of bool: argument i is a tensor that requires grad
    cdef tuple edge_at                      # edge number of each argument; -1 for arguments that are not tensors
