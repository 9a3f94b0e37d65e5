"""Python arguments of an operator: checked against its schema, and unboxed."""

from ts._core.value.tagged cimport IValue
from ts._core.value.spec cimport TypeSpec

# The TypeSpec of a type as schemas spell it: "Tensor[]", "int?", "(Tensor, int)", "Dict(str, Tensor)".
cdef TypeSpec spec_of_text(str kind)
# One argument for each register of `r`; TypeError for one that is not of its parameter's type.  What was
# written before the error is the caller's to release, as are all others: they are None.
cdef int unbox_arguments(str operator, tuple parameters, tuple args, IValue *r) except -1
# A type with its variables replaced by what they are bound to; Any where that is nothing.
cdef TypeSpec solved(TypeSpec spec, dict bound)
