"""Type relations for typed instructions (`fitting.pyx`)."""

from ts._core.value.spec cimport TypeSpec


# The type of an object whose class is unknown.
cdef TypeSpec SOME_OBJECT
# Return whether `actual` is a subtype of `expected`.
cpdef bint is_subtype(TypeSpec actual, TypeSpec expected) except -1
# Return the smallest supported type that contains the values of both types. This is one of the two types, a
# Tuple of common supertypes, a Union or an Optional. If a Union would have too many members, return the type
# of all objects, or Any.
cdef TypeSpec common_supertype(TypeSpec a, TypeSpec b)
# Return the type of the values of `spec` other than None.
cdef TypeSpec not_none(TypeSpec spec)
# Return the type of those values of `spec` that are neither None nor numbers. Return None if there are no
# such values.
cpdef TypeSpec present(TypeSpec spec)
# Return the class of the registers for values of a type: i (int), f (float), b (bool) or o (object). The
# class x stands for types whose values belong to several of these classes or may be None.
cdef str register_class(TypeSpec spec)
