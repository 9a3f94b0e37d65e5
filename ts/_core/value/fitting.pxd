"""Type relations for typed instructions; see `fitting.pyx`."""

from ts._core.value.spec cimport TypeSpec


# An object of unknown type.
cdef TypeSpec SOME_OBJECT
# Whether `found` is a subtype of `wanted`.
cpdef bint is_subtype(TypeSpec found, TypeSpec wanted) except -1
# The union of two types.
cdef TypeSpec common_supertype(TypeSpec a, TypeSpec b)
# The type of a value after a check that it is not None.
cdef TypeSpec not_none(TypeSpec spec)
# The type of a value after a check that it is an object (neither None nor a number);
# None if it cannot be one.
cpdef TypeSpec present(TypeSpec spec)
# The class of the registers that a value needs: i f b o x.
cdef str register_class(TypeSpec spec)
