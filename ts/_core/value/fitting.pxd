"""Type relations for typed instructions; see `fitting.pyx`."""

from ts._core.value.spec cimport TypeSpec


# Type of an object of unknown class.
cdef TypeSpec SOME_OBJECT
# Return whether `found` is a subtype of `wanted`.
cpdef bint is_subtype(TypeSpec found, TypeSpec wanted) except -1
# Return the smallest type that contains both types: one of them, or a Union.
cdef TypeSpec common_supertype(TypeSpec a, TypeSpec b)
# Return the type of a value of type `spec` that is not None.
cdef TypeSpec not_none(TypeSpec spec)
# Return the type of a value of type `spec` that is an object (neither None nor a number); None if there is no
# such value.
cpdef TypeSpec present(TypeSpec spec)
# Return the register class for values of a type: i f b o x.
cdef str register_class(TypeSpec spec)
