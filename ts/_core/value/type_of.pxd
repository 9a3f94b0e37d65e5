"""Type inference and type checks of values; see `type_of.pyx`."""

from ts._core.value.spec cimport TypeSpec
from ts._core.value.tagged cimport IValue


# Classes that are defined later than this module; None until then.
cdef object tensor_type, future_type, device_type

# The inferred type of a Python object passed as `Any`; TypeError if it has none.
cpdef TypeSpec infer_spec(object x)
# Whether typed instructions may treat the value as one of the type.
cdef bint conforms(IValue *x, TypeSpec spec) except -1
# Whether containers of both types have equal element layout, ignoring text and field names.
cdef bint same_layout(TypeSpec a, TypeSpec b) except -1
# `form(x)` (default: str) for messages; only the class name for a large container.
cpdef str shown(object x, object form=*)
