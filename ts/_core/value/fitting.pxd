"""Type relations for typed instructions; see `fitting.pyx`."""

from ts._core.value.spec cimport TypeSpec


# An object of which nothing more is known.
cdef TypeSpec SOME_OBJECT
# Whether whatever reads a value of `wanted` may be given one of `found`.
cpdef bint is_subtype(TypeSpec found, TypeSpec wanted) except -1
# The union of two types.
cdef TypeSpec common_supertype(TypeSpec a, TypeSpec b)
# The type of a value that turns out not to be None.
cdef TypeSpec not_none(TypeSpec spec)
# The type of a value that turns out to be an object: neither None nor a number.  None where it cannot be one.
cpdef TypeSpec present(TypeSpec spec)
# The class of the registers that a value needs: i f b o x.
cdef str register_class(TypeSpec spec)
