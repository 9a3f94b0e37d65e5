"""Conversion of Python arguments to registers, checked against the operator's schema."""

from ts._core.value.tagged cimport IValue
from ts._core.value.spec cimport TypeSpec

# Parse a type in a schema, such as "Tensor[]", "int?", "(Tensor, int)" or "Dict(str, Tensor)".
cdef TypeSpec spec_of_text(str kind)
# Write each of the arguments `args` to a register of `r`. Raise TypeError if the type of an argument differs
# from the type of its parameter. The registers of later arguments are then unchanged. The caller releases all
# registers, also after an error.
cdef int unbox_arguments(str operator, tuple parameters, tuple args, IValue *r) except -1
# Return `spec` with each type variable replaced by the type that `bound` has for it. Type variables that are
# not in `bound` become Any.
cdef TypeSpec substitute_variables(TypeSpec spec, dict bound)
