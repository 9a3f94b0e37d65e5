"""Backward nodes of custom functions: `ts.autograd.Function`."""

from ts._core.autograd.saved cimport SavingNode


cdef class FunctionNode(SavingNode):
    """Backward node of one call of a custom `Function`, and the `ctx` object of this call."""
    # The next four attributes are arguments of the methods `save_for_backward`, `mark_dirty`,
    # `mark_non_differentiable` and `save_for_forward`. Each attribute is None until its method is called.
    cdef public object to_save
    cdef public object dirty_tensors
    cdef public object non_differentiable
    cdef public object saved_for_forward
    cdef public bint materialize_grads      # True if `backward` receives zeros instead of undefined gradients
    cdef public object needs_input_grad     # for each argument, True if it is a tensor that requires grad
    cdef tuple edge_at  # for each argument: number of its edge, or -1 if the argument is not a tensor
