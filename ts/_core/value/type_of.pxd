"""Type inference and type checks of values; see `type_of.pyx`."""

from ts._core.value.spec cimport TypeSpec
from ts._core.value.tagged cimport IValue


# Classes that are defined later than this module; None until then.
cdef object tensor_type, future_type, device_type

# Infer the type of a Python object passed as `Any`; raise TypeError if there is none.
cpdef TypeSpec infer_spec(object x)
# Return whether typed instructions may treat the value as a value of type `spec`.
cdef bint conforms(IValue *x, TypeSpec spec) except -1
# Return whether containers of both types have equal element layout, ignoring text and field names.
cdef bint same_layout(TypeSpec a, TypeSpec b) except -1
# Return `form(x)` (default: str) for error messages; only the class name for a large container.
cpdef str shown(object x, object form=*)
