"""Boxing and unboxing: conversion between Python objects and IValues (`tagged.pxd`), by TypeSpec (`spec.pxd`).

This module also exports the declarations of `tagged.pxd` and `spec.pxd` for cimport.
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


# Convert a Python object to a value of type `spec`, and write it to `out` with a new reference. Raise TypeError if the
# object does not match the type. The old value of `out` is overwritten without being released.
cdef int unbox(object x, TypeSpec spec, IValue *out) except -1
# Convert an IValue to a Python object and return a new reference. Lists, dicts and tuples, and the containers in them,
# become Python containers.
cdef object box(IValue *x)
# Convert an IValue to a Python object without copies: containers are returned as List, Dict and Tuple objects.
cdef object box_shallow(IValue *x)
# Convert an object in the form that `box_shallow` returns to an IValue. Python containers are not converted.
cdef int unbox_shallow(object x, IValue *out) except -1
