"""Saved values of backward nodes, and saved tensors with their version counters.

    Saved    value    a fact, a tensor, or a `PackedTensor`, the result of `saved_tensors_hooks`
             version  of the tensor's memory; UNCHECKED: no version check; LET_GO: released
             output   which result of the node that saves it the tensor is, or NO_RESULT
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
    """A node that saves something."""
    cdef Saved *saved                  # NULL: nothing, or no more
    cdef int saved_count
    cdef bint is_released
    cdef Saved few_saved[4]            # room for most nodes: `saved` points here then


# Room for what a node saves, all None.
cdef int make_room_to_save(SavingNode node, int count) except -1
cdef void drop_saved(SavingNode node) noexcept


cdef class PackedTensor:
    """Result of a pack hook, with the unpack hook that restores the tensor."""
    cdef object packed, unpack
    cdef Node node                     # the tensor's grad_fn; None: no grad_fn, or the node that saves it
    cdef int output


# Number of saved-tensor hook pairs of all threads.
cdef int hooked
# Save a tensor as it is now.  A result of the node that saves it is saved without its history, which leads back there.
cdef int save_tensor(Saved *s, Tensor t, int output) except -1
# The tensor again, for the node that saved it.  RuntimeError if it was written since.
cdef Tensor saved_tensor(Saved *s, Node owner)
cdef int raise_released() except -1


cdef class SavedTensorList:
    """A list of tensors that are saved."""
    cdef TypeSpec spec                 # of the list
    cdef list items                    # tensors, or `PackedTensor`
    cdef list versions
    cdef bint are_results              # of the node that saves them


cdef SavedTensorList save_several(List tensors, bint are_results)
cdef List saved_several(SavedTensorList saved, Node owner)


# A `SavedTensor`, which takes hooks of its own; None of what is no tensor.
cdef object saved_at(SavingNode node, int place)
