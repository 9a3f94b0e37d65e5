"""Type inference and type checks of values (`type_of.pyx`)."""

from ts._core.value.spec cimport TypeSpec
from ts._core.value.tagged cimport IValue


# Classes of modules that are imported after this one. They are None until these modules register them.
cdef object tensor_type, future_type, device_type

# Infer the type of a Python object that is passed for `Any`. Raise TypeError if the object has no type.
cpdef TypeSpec infer_spec(object x)
# Return whether typed instructions may treat the value as a value of type `spec`.
cdef bint conforms(IValue *x, TypeSpec spec) except -1
# Return whether containers of the two types store their elements in the same way. Annotation strings and field names
# are ignored.
cdef bint same_layout(TypeSpec a, TypeSpec b) except -1
# Return `formatter(x)` (default: str(x)) for error messages. For a large container, return only the class
# name.
cpdef str describe_value(object x, object formatter=*)
