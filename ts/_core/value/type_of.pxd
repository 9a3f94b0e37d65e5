"""Type inference and type checks of values; see `type_of.pyx`."""

from ts._core.value.spec cimport TypeSpec
from ts._core.value.tagged cimport IValue


# Classes that are defined later than this module; None until then.
cdef object tensor_type, future_type, device_type

# The type of a Python object that is given for an `Any`; TypeError where there is none.
cpdef TypeSpec infer_spec(object x)
# Whether typed instructions may take the value for one of the type.
cdef bint conforms(IValue *x, TypeSpec spec) except -1
# Whether containers of both types hold their elements alike: text and names of fields do not matter.
cdef bint same_layout(TypeSpec a, TypeSpec b) except -1
# `str(x)` for messages, or what another function makes of it; of a container that holds much, only its class.
cpdef str shown(object x, object form=*)
