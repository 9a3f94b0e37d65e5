"""Conversion of Python arguments to registers, checked against the operator's schema."""

from ts._core.value.tagged cimport IValue
from ts._core.value.spec cimport TypeSpec

# Parse a type in a schema, such as "Tensor[]", "int?", "(Tensor, int)" or "Dict(str, Tensor)".
cdef TypeSpec spec_of_text(str kind)
# Write the arguments `args` to the registers `r`, one each. Raise TypeError for an argument whose type
# differs from that of its parameter. In this case, the registers of later arguments are unchanged. The caller
# releases all registers, also after an error.
cdef int unbox_arguments(str operator, tuple parameters, tuple args, IValue *r) except -1
# Replace the type variables in `spec` by the types to which `bound` maps them. Variables that `bound` lacks
# become Any.
cdef TypeSpec substitute_variables(TypeSpec spec, dict bound)
