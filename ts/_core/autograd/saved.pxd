"""Saved values of backward nodes, and saved tensors with their version counters.

The fields of `Saved` are:

    value    a property (size, dtype), a tensor, or a `PackedTensor` if a pack hook replaced the tensor
    version  version counter of the tensor's memory, UNCHECKED (no version check) or LET_GO (released)
    output   the tensor's number among the results of the saving node, or NO_RESULT
"""

from ts._core.autograd.node cimport Node
from ts._core.tensor.tensor cimport Tensor
from ts._core.value.container cimport List
from ts._core.value.ivalue cimport IValue, TypeSpec

cdef enum:
    UNCHECKED = -1
    LET_GO = -2
    NO_RESULT = -1


cdef struct Saved:
    IValue value
    int version
    int output


cdef class SavingNode(Node):
    """A backward node with saved values."""
    cdef Saved *saved                  # saved values, or NULL if the node saves none or has released them
    cdef int saved_count
    cdef bint is_released
    cdef Saved few_saved[4]  # Storage to which `saved` points in nodes with at most 4 saved values, so that these need no allocation.


# Allocate memory for `count` saved values, which are None at first. `drop_saved` frees it.
cdef int make_room_to_save(SavingNode node, int count) except -1
cdef void drop_saved(SavingNode node) noexcept


cdef class PackedTensor:
    """The value that a pack hook returned, with the unpack hook that restores the tensor."""
    cdef object packed, unpack
    # Backward node of the packed tensor, or None. It is None if the tensor does not require grad, or if the
    # tensor is a result of the node that saves it.
    cdef Node node
    cdef int output


# number of active pairs of saved-tensor hooks in all threads
cdef int hooked
# Save a tensor with its current version. If the tensor is result number `output` of the saving node, save it
# without its history, because a reference from the history to the node would create a reference cycle.
cdef int save_tensor(Saved *s, Tensor t, int output) except -1
# Return a saved tensor. `owner` is the node that saved it. Raise RuntimeError if the tensor was modified in
# place after it was saved.
cdef Tensor saved_tensor(Saved *s, Node owner)
cdef int raise_released() except -1


cdef class SavedTensorList:
    """A saved list of tensors."""
    cdef TypeSpec spec                 # type of the list
    cdef list items                    # tensors or `PackedTensor` objects
    cdef list versions
    cdef bint are_results              # True if the tensors are results of the saving node


cdef SavedTensorList save_several(List tensors, bint are_results)
cdef List saved_several(SavedTensorList saved, Node owner)


# Return the `SavedTensor` at index `index`, on which hooks can be registered, or None if the saved value is
# not a tensor.
cdef object saved_at(SavingNode node, int index)
