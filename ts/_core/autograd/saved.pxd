"""What nodes save for the way back: values, and tensors with the version that their memory had.

    Saved    value    a fact, a tensor, or a `Packed`: what `saved_tensors_hooks` made of a tensor
             version  of the tensor's memory; UNCHECKED: nobody need look
"""

from ts._core.autograd.node cimport Node
from ts._core.tensor.tensor cimport Tensor
from ts._core.value.container cimport List
from ts._core.value.ivalue cimport IValue, TypeSpec

cdef enum:
    UNCHECKED = -1
    NO_RESULT = -1


cdef struct Saved:
    IValue value
    int version


cdef class Packed:
    """What a hook made of a tensor, and what makes a tensor of that again."""
    cdef object packed, unpack
    cdef Node node                     # whose result the tensor is; None: nobody's, or that of the node that saves it
    cdef int output


# Save a tensor as it is now.  A result of the node that saves it is saved without its history, which leads back there.
cdef int save_tensor(Saved *s, Tensor t, bint is_result) except -1
# The tensor again: result `output` of `owner`, or NO_RESULT.  RuntimeError if it was written since.
cdef Tensor saved_tensor(Saved *s, Node owner, int output)
# Have functions of the user's make something else of a tensor that is saved; `pack` gives that, `unpack` a tensor.
cdef int pack_with(Saved *s, object pack, object unpack) except -1
cdef int drop_all(Saved *saved, int count) noexcept
cdef int raise_released() except -1


cdef class Several:
    """A list of tensors that are saved."""
    cdef TypeSpec spec                 # of the list
    cdef list items                    # tensors, or `Packed`
    cdef list versions


cdef Several save_several(List tensors, bint are_results)
# The list again; `owner` is the node that made the tensors, or None.
cdef List saved_several(Several saved, Node owner)
