"""Type relations for typed instructions (`fitting.pyx`)."""

from ts._core.value.spec cimport TypeSpec


# The type of an object whose class is unknown.
cdef TypeSpec SOME_OBJECT
# Return whether `actual` is a subtype of `expected`.
cpdef bint is_subtype(TypeSpec actual, TypeSpec expected) except -1
# Return the smallest type that contains both types: one of the two, or a Union.
cdef TypeSpec common_supertype(TypeSpec a, TypeSpec b)
# Return `spec` without None: the type of the values of `spec` that are not None.
cdef TypeSpec not_none(TypeSpec spec)
# Return the type of the values of `spec` that are objects (neither None nor numbers), or None if there are no
# such values.
cpdef TypeSpec present(TypeSpec spec)
# Return the register class for values of a type: i (int), f (float), b (bool), o (object) or x (any of these, or
# None).
cdef str register_class(TypeSpec spec)
