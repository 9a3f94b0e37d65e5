"""Backward nodes of custom functions: `ts.autograd.Function`."""

from ts._core.autograd.saved cimport SavingNode


cdef class FunctionNode(SavingNode):
    """Backward node of one call of a custom `Function`, and the `ctx` object of this call."""
    # The next four attributes contain the tensors passed to the methods of `ctx` (`save_for_backward`,
    # `mark_dirty`, `mark_non_differentiable`, `save_for_forward`). Each is None before its method is called.
    cdef public object to_save
    cdef public object dirty_tensors
    cdef public object non_differentiable
    cdef public object saved_for_forward
    cdef public bint materialize_grads      # pass zeros instead of undefined gradients to `backward`
    cdef public object needs_input_grad     # for each argument, True if it is a tensor that requires grad
    cdef tuple edge_at  # for each argument: number of its edge, or -1 if the argument is not a tensor
