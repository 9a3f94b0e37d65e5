"""Conversion of Python arguments to registers, checked against the operator's schema."""

from ts._core.value.tagged cimport IValue
from ts._core.value.spec cimport TypeSpec

# Parse a schema type, such as "Tensor[]", "int?", "(Tensor, int)" or "Dict(str, Tensor)".
cdef TypeSpec spec_of_text(str kind)
# Unbox one argument into each register of `r`. Raise TypeError for an argument of another type than its
# parameter. The caller releases all registers, even after an error, because registers that were not written
# contain None.
cdef int unbox_arguments(str operator, tuple parameters, tuple args, IValue *r) except -1
# Return `spec` with its type variables replaced by their bindings. Unbound variables become Any.
cdef TypeSpec substitute_variables(TypeSpec spec, dict bound)
