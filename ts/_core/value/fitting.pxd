"""Type relations for typed instructions (`fitting.pyx`)."""

from ts._core.value.spec cimport TypeSpec


# The type of an object whose class is unknown.
cdef TypeSpec SOME_OBJECT
# Return whether `actual` is a subtype of `expected`.
cpdef bint is_subtype(TypeSpec actual, TypeSpec expected) except -1
# Return the smallest supported type that contains the values of both types: one of the two, a Tuple of common
# supertypes, a Union or Optional, or, if a Union would be too large, the type of all objects or Any.
cdef TypeSpec common_supertype(TypeSpec a, TypeSpec b)
# Return `spec` without None: the type of the values of `spec` that are not None.
cdef TypeSpec not_none(TypeSpec spec)
# Return the type of the values of `spec` that are neither None nor numbers, or None if `spec` has no such values.
cpdef TypeSpec present(TypeSpec spec)
# Return the class of registers that hold values of a type: i (int), f (float), b (bool), o (object) or x (a value of
# any of these classes, or None).
cdef str register_class(TypeSpec spec)
