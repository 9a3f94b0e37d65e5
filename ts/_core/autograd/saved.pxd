"""Saved values of backward nodes, and saved tensors with their version counters.

    Saved    value    a property (size, dtype), a tensor, or a `PackedTensor`, the result of `saved_tensors_hooks`
             version  version counter of the tensor's memory; UNCHECKED: no version check; LET_GO: released
             output   number of the saving node's result that the tensor is, or NO_RESULT
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
    """Node with saved values."""
    cdef Saved *saved                  # NULL: nothing saved, or released
    cdef int saved_count
    cdef bint is_released
    cdef Saved few_saved[4]            # inline storage that `saved` of most nodes points to


# Allocate the saved values of a node, all None.
cdef int make_room_to_save(SavingNode node, int count) except -1
cdef void drop_saved(SavingNode node) noexcept


cdef class PackedTensor:
    """Result of a pack hook, with the unpack hook that restores the tensor."""
    cdef object packed, unpack
    cdef Node node                     # the tensor's grad_fn; None: no grad_fn, or the node that saves it
    cdef int output


# Number of saved-tensor hook pairs of all threads.
cdef int hooked
# Save a tensor with its current version.  A result of the saving node itself is saved without history: no cycle.
cdef int save_tensor(Saved *s, Tensor t, int output) except -1
# Return a saved tensor to the node that saved it; raise RuntimeError if it was modified in place since.
cdef Tensor saved_tensor(Saved *s, Node owner)
cdef int raise_released() except -1


cdef class SavedTensorList:
    """Saved list of tensors."""
    cdef TypeSpec spec                 # type of the list
    cdef list items                    # tensors, or `PackedTensor`
    cdef list versions
    cdef bint are_results              # the tensors are results of the saving node


cdef SavedTensorList save_several(List tensors, bint are_results)
cdef List saved_several(SavedTensorList saved, Node owner)


# Return the `SavedTensor` at index `place`, which accepts hooks; None if the saved value is not a tensor.
cdef object saved_at(SavingNode node, int place)
