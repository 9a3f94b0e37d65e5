"""Metadata of tensors: backward nodes of views, shared version counters, and memory (`tensor_metadata.pyx`)."""

from ts._core.tensor.tensor cimport Tensor

# Type of the function that returns the backward node of a view after an in-place write to the base of the
# view. Autograd sets the function by `set_node_of_view`.
ctypedef object (*NodeOf)(Tensor view)
cdef int set_node_of_view(NodeOf function) except -1
# Return a new tensor that shares memory and version counter with `x`, but has no autograd metadata.
cdef Tensor detached_from(Tensor x)
# Make the new tensor `t`, which is not a view, share the version counter of `x`.
cdef Tensor count_together(Tensor t, Tensor x)
# Return the array that owns the memory of an array (`root_of`) or of a tensor (`memory_of`).
cdef object root_of(object array)
cdef object memory_of(Tensor t)
