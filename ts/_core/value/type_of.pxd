"""Type inference and type checks of values (`type_of.pyx`)."""

from ts._core.value.spec cimport TypeSpec
from ts._core.value.tagged cimport IValue


# Classes from modules that are imported later than this module. Each variable is None until the module of the
# class registers the class.
cdef object tensor_type, future_type, device_type

# Return the inferred type of a Python object that is passed for `Any`. Raise TypeError if no type can be
# inferred.
cpdef TypeSpec infer_spec(object x)
# Return the Python class of a NamedTuple: the user's class if it is known, else a class created from the field names.
cdef object named_tuple_class(TypeSpec spec)
# Return whether typed instructions may treat the value as a value of type `spec`.
cdef bint conforms(IValue *x, TypeSpec spec) except -1
# Return whether containers of type `a` and containers of type `b` store their elements in the same way.
# Differences in annotation strings and field names do not matter.
cdef bint same_layout(TypeSpec a, TypeSpec b) except -1
# Return `formatter(x)` for error messages. The default of `formatter` is `str`. For a large container, return
# only the class name.
cpdef str describe_value(object x, object formatter=*)
