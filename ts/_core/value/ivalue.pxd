"""The border to Python: boxing and unboxing of the tagged values of `tagged.pxd` by the descriptors of `spec.pxd`.

What those declare can be cimported from here too.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from ts._core.value.spec cimport (
    ANY_SPEC,
    BOOL_SPEC,
    COMPLEX_SPEC,
    DEVICE_SPEC,
    FLOAT_SPEC,
    INT_SPEC,
    KIND_ANY,
    KIND_BOOL,
    KIND_CLASS,
    KIND_COMPLEX,
    KIND_DEVICE,
    KIND_DICT,
    KIND_ENUM,
    KIND_FLOAT,
    KIND_FUTURE,
    KIND_INT,
    KIND_LIST,
    KIND_NONE,
    KIND_NUMBER,
    KIND_OBJECT,
    KIND_OPTIONAL,
    KIND_STR,
    KIND_TENSOR,
    KIND_TUPLE,
    KIND_UNION,
    NONE_SPEC,
    NUMBER_SPEC,
    STR_SPEC,
    TENSOR_SPEC,
    TypeSpec,
    list_spec,
    tuple_spec,
)
from ts._core.value.tagged cimport (
    IValue,
    Payload,
    Py_DECREF,
    Py_INCREF,
    Py_XDECREF,
    Py_XINCREF,
    TAG_BOOL,
    TAG_FLOAT,
    TAG_INT,
    TAG_NONE,
    TAG_OBJECT,
    Tag,
    assign,
    copy_value,
    move_value,
    release,
    retain,
    set_bool,
    set_float,
    set_int,
    set_none,
    set_object,
    set_object_steal,
)


# Python object -> IValue by type; raises TypeError when `x` is not of that type.  New reference.
# `out` is written without releasing what it held.
cdef int unbox(object x, TypeSpec spec, IValue *out) except -1
# IValue -> Python object: lists, dicts, tuples are copied deeply into Python's own.  New reference.
cdef object box(IValue *x)
# The same without copying containers: List, Dict and Tuple objects as they are.
cdef object box_shallow(IValue *x)
# The inverse of box_shallow: no type is known, no container is converted.
cdef int unbox_shallow(object x, IValue *out) except -1
