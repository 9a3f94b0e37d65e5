"""Boxing and unboxing: conversion of values between Python objects and IValues, by type descriptors.

Unboxing converts a Python object to an IValue of the parameter's type (`TypeSpec`). Boxing is the inverse. A
container that occurs several times in a nested value is converted only once. Examples and their results:

    unbox(3, FLOAT)                  payload 3.0, TAG_FLOAT
    unbox([1, 2], List[int])         a core List with two unboxed ints, TAG_OBJECT
    unbox(1.5, INT)                  TypeError: Unable to cast Python instance of type <class 'float'> to int
    box(...)                         a Python list, dict, tuple, int ...

Each type accepts the same Python objects as in PyTorch's scripted functions:

    int      bool, objects with `__index__` or `__int__` (NumPy scalars, tensors of one element), no float
    float    every number
    bool     every object with a truth value, except str and containers
    list     collections and generators, except str, dict and tensors
    tuple    every iterable
"""

from collections.abc import Collection, Generator, Mapping
from cpython.bool cimport PyBool_Check
from cpython.complex cimport PyComplex_Check
from cpython.dict cimport PyDict_Check
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check, PyFloat_CheckExact
from cpython.list cimport PyList_Check, PyList_CheckExact, PyList_GET_ITEM, PyList_GET_SIZE, PyList_New, PyList_SET_ITEM
from cpython.long cimport PyLong_AsLongLong, PyLong_Check, PyLong_CheckExact
from cpython.number cimport PyNumber_Check, PyNumber_Float, PyNumber_Long
from cpython.tuple cimport PyTuple_Check, PyTuple_New, PyTuple_SET_ITEM
from cpython.unicode cimport PyUnicode_Check, PyUnicode_CheckExact

from ts._core.late_binding import resolve
from ts._core.value.container cimport (
    Dict, List, Object, ObjectClass, TAG_DELETED, Tuple, dict_new, dict_set, list_item, list_new, list_slot,
    list_store, list_store_number, object_new, tuple_new
)

from ts._core.thread.allowance cimport limited, take_text
from ts._core.thread.deadline cimport count_items
from ts._core.value.lists cimport SharedContainer
from ts._core.value.tagged cimport Py_LeaveRecursiveCall, enter_recursion
from ts._core.value.type_of cimport conforms, describe_value, device_type, future_type, infer_spec, named_tuple_class, tensor_type


cdef extern from "Python.h":
    int PyList_SetSlice(object x, Py_ssize_t low, Py_ssize_t high, PyObject *items) except -1
    long long PyLong_AsLongLongAndOverflow(object x, int *overflow) except? -1
    object PyUnicode_FromObject(object x)
    Py_ssize_t Py_REFCNT(PyObject *o) noexcept


# ---------------------------------------------------------------- conversions registered by other modules

cdef dict code_of_type = {}


def register_code_type(type cls not None, code):
    """Let int parameters accept an instance x of `cls` (such as a dtype or layout), which becomes the int `code(x)`."""
    code_of_type[cls] = code


# ---------------------------------------------------------------- Python -> IValue

cdef int mismatch(object x, TypeSpec spec) except -1:
    if spec.kind == KIND_TENSOR:
        raise TypeError(f"Unable to cast {describe_value(x)} to Tensor")
    raise TypeError(f"Unable to cast Python instance of type {type(x)} to {spec.annotation_str}")


cdef int unbox_int(object x, TypeSpec spec, IValue *out) except -1:
    cdef int overflow = 0
    cdef long long value = 0
    if PyLong_CheckExact(x) or PyBool_Check(x):
        value = PyLong_AsLongLongAndOverflow(x, &overflow)
        if overflow:
            raise TypeError(f"Unable to cast Python instance of type {type(x)} to {spec.annotation_str}: {x} does not fit in 64 bits")
    elif PyFloat_Check(x) or PyComplex_Check(x):
        mismatch(x, spec)
    elif type(x) in code_of_type:
        value = code_of_type[type(x)](x)
    elif PyLong_Check(x) or hasattr(x, "__index__") or hasattr(x, "__int__"):
        try:
            value = PyLong_AsLongLong(x if hasattr(x, "__index__") else PyNumber_Long(x))
        except (TypeError, ValueError, RuntimeError):
            try:
                # `__index__` raises an error for a float tensor of one element, but `__int__` converts the tensor.
                value = PyLong_AsLongLong(PyNumber_Long(x))
            except (TypeError, ValueError, RuntimeError, OverflowError):
                mismatch(x, spec)
        except OverflowError:
            mismatch(x, spec)
    else:
        mismatch(x, spec)
    out.v.i = value
    out.tag = TAG_INT
    return 0


cdef int unbox_float(object x, TypeSpec spec, IValue *out) except -1:
    cdef double value = 0.0
    if PyFloat_Check(x):
        value = PyFloat_AS_DOUBLE(x)
    elif PyUnicode_Check(x) or PyComplex_Check(x) or not PyNumber_Check(x):
        mismatch(x, spec)
    else:
        try:
            value = PyNumber_Float(x)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            mismatch(x, spec)
    out.v.f = value
    out.tag = TAG_FLOAT
    return 0


cdef int unbox_bool(object x, TypeSpec spec, IValue *out) except -1:
    cdef bint value = False
    if x is True or x is False or x is None:
        value = x is True
    elif not hasattr(type(x), "__bool__"):
        mismatch(x, spec)
    else:
        try:
            value = bool(x)
        except (TypeError, ValueError, RuntimeError):
            mismatch(x, spec)
    out.v.i = value
    out.tag = TAG_BOOL
    return 0


cdef int unbox_complex(object x, TypeSpec spec, IValue *out) except -1:
    if type(x) is not complex:
        if PyUnicode_Check(x):
            mismatch(x, spec)
        try:
            x = complex(x)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            mismatch(x, spec)
    return put_object(x, out)


cdef inline int put_object(object x, IValue *out) except -1:
    Py_INCREF(<PyObject *>x)
    out.v.o = <PyObject *>x
    out.tag = TAG_OBJECT
    return 0


cdef int put_typed(object x, TypeSpec spec, IValue *out) except -1:
    """Set `out` to the core container `x` itself, without a copy.

    Raise TypeError if `x` does not conform to the type `spec`.
    """
    cdef IValue value
    value.v.o = <PyObject *>x
    value.tag = TAG_OBJECT
    if not conforms(&value, spec):
        raise TypeError(f"Unable to cast a value of type {x.spec.annotation_str} to {spec.annotation_str}")
    return put_object(x, out)


cdef int unbox_number(object x, TypeSpec spec, IValue *out) except -1:
    """Unbox the argument of a Scalar parameter.

    It stays a number of its kind: bool, int, float or complex.
    """
    if PyBool_Check(x):
        return unbox_bool(x, spec, out)
    if PyLong_Check(x):
        return unbox_int(x, spec, out)
    if PyFloat_Check(x):
        return unbox_float(x, spec, out)
    if PyComplex_Check(x):
        return unbox_complex(x, spec, out)
    if hasattr(x, "item") and PyNumber_Check(x):  # NumPy scalars and tensors of one element
        try:
            item = x.item()
        except (TypeError, ValueError, RuntimeError):
            mismatch(x, spec)
        if item is not x and isinstance(item, (bool, int, float, complex)):
            return unbox_number(item, spec, out)
    if type(x) in code_of_type or hasattr(x, "__index__"):
        return unbox_int(x, spec, out)
    return mismatch(x, spec)


cdef Py_ssize_t unbox_exact(object x, Py_ssize_t n, int kind, List result) noexcept:
    """Unbox items of `x` to `result`, up to the first item that is not exactly of type `kind`.

    Return the number of unboxed items, which is at most `n`.
    """
    cdef Py_ssize_t i = 0
    cdef PyObject *item
    cdef IValue value
    cdef int overflow = 0
    n = min(n, PyList_GET_SIZE(x))
    if kind == KIND_STR:
        while i < n and PyUnicode_CheckExact(<object>PyList_GET_ITEM(x, i)):
            item = PyList_GET_ITEM(x, i)
            Py_INCREF(item)
            list_slot(<PyObject *>result, i).v.o = item
            list_slot(<PyObject *>result, i).tag = TAG_OBJECT
            i += 1
    elif kind == KIND_INT:
        while i < n and PyLong_CheckExact(<object>PyList_GET_ITEM(x, i)):
            value.v.i = PyLong_AsLongLongAndOverflow(<object>PyList_GET_ITEM(x, i), &overflow)
            if overflow:
                break
            list_store_number(<PyObject *>result, i, value.v.i)
            i += 1
    elif kind == KIND_FLOAT:
        while i < n and PyFloat_CheckExact(<object>PyList_GET_ITEM(x, i)):
            value.v.f = PyFloat_AS_DOUBLE(<object>PyList_GET_ITEM(x, i))
            list_store_number(<PyObject *>result, i, value.v.i)
            i += 1
    elif kind == KIND_BOOL:
        while i < n and PyBool_Check(<object>PyList_GET_ITEM(x, i)):
            list_store_number(<PyObject *>result, i, <object>PyList_GET_ITEM(x, i) is True)
            i += 1
    return i


cdef int unbox_list(object x, TypeSpec spec, IValue *out, PyObject **copies) except -1:
    cdef List result
    cdef TypeSpec element = <TypeSpec>spec.children[0]
    cdef IValue value
    cdef Py_ssize_t i, n
    if isinstance(x, SharedContainer):
        x = (<SharedContainer>x).core_of_type(list_spec(element))
    if type(x) is List:
        return put_typed(x, spec, out)
    # a parameter with a list size, such as int[2], also accepts a single number, which is repeated
    if spec.detail is not None:
        if isinstance(x, (int, float)) and not isinstance(x, bool):
            x = [x] * spec.detail
        spec = list_spec(element)
    if PyList_CheckExact(x):
        n = PyList_GET_SIZE(x)
        count_items(n)
        result = list_new(spec, n)
        i = unbox_exact(x, n, element.kind, result)
        result.size = i
        for i in range(i, n):
            if i >= PyList_GET_SIZE(x):  # converting an item ran Python code that shortened x
                break
            item = <object>PyList_GET_ITEM(x, i)
            if element.acyclic:
                unbox_inside(item, element, &value, copies)
            else:
                unbox_part(item, element, &value, copies)
            list_store(<PyObject *>result, i, &value)
            result.size = i + 1
        return put_object(result, out)
    if isinstance(x, (str, bytes, Mapping)) or type(x) is tensor_type or not isinstance(x, (Collection, Generator)):
        return mismatch(x, spec)
    return unbox_list(list(x), spec, out, copies)


cdef int unbox_dict(object x, TypeSpec spec, IValue *out, PyObject **copies) except -1:
    cdef Dict result
    cdef IValue key, value
    cdef TypeSpec key_spec = <TypeSpec>spec.children[0], value_spec = <TypeSpec>spec.children[1]
    if isinstance(x, SharedContainer):
        x = (<SharedContainer>x).core_of_type(spec)
    if type(x) is Dict:
        return put_typed(x, spec, out)
    if not isinstance(x, Mapping):
        try:
            x = dict(x)
        except (TypeError, ValueError):
            return mismatch(x, spec)
    count_items(len(x))
    result = dict_new(spec, len(x))
    for k, v in list(x.items()):
        unbox_inside(k, key_spec, &key, copies)
        try:
            unbox_part(v, value_spec, &value, copies)
            try:
                dict_set(<PyObject *>result, &key, &value)
            finally:
                release(&value)
        finally:
            release(&key)
    return put_object(result, out)


cdef int unbox_tuple(object x, TypeSpec spec, IValue *out, PyObject **copies) except -1:
    cdef Tuple result
    cdef Py_ssize_t i, n = len(spec.children)
    if type(x) is Tuple:
        return put_typed(x, spec, out)
    try:
        # The items of any iterable become the elements of the tuple. For an instance of a tuple subclass, the
        # elements are read directly, without calling its `__iter__`.
        items = (<tuple>x)[:] if isinstance(x, tuple) else tuple(x)
    except TypeError:
        return mismatch(x, spec)
    if len(items) != n:
        raise TypeError(f"Object {describe_value(x)} had a different number of elements than type {spec.annotation_str}")
    count_items(n)
    result = tuple_new(spec, n)
    for i in range(n):
        unbox_part(items[i], <TypeSpec>spec.children[i], &result.items[i], copies)
    return put_object(result, out)


cdef int unbox_union(object x, TypeSpec spec, IValue *out, PyObject **copies) except -1:
    """Unbox `x` as the Union member that equals its inferred type, else as the first member that accepts `x`."""
    cdef TypeSpec own, alternative
    try:
        own = infer_spec(x)
    except TypeError:
        own = None
    if own is not None:
        for alternative in spec.children:
            if alternative.kind == own.kind and alternative.annotation_str == own.annotation_str:
                return unbox_inside(x, alternative, out, copies)
    for alternative in spec.children:
        if own is not None and KIND_INT <= own.kind <= KIND_TENSOR and KIND_INT <= alternative.kind <= KIND_STR:
            continue  # a number matches only the member of exactly its type, not members to which it can be converted
        try:
            return unbox_inside(x, alternative, out, copies)
        except TypeError:
            continue
    actual_type = type(x).__name__ if own is None else own.annotation_str
    raise TypeError(f"Expected a member of {spec.annotation_str} but instead found type {actual_type}")


cdef int unbox(object x, TypeSpec spec, IValue *out) except -1:
    cdef PyObject *copies = NULL
    try:
        return unbox_inside(x, spec, out, &copies)
    finally:
        Py_XDECREF(copies)


cdef dict copies_in(PyObject **copies):
    """Return the dict `copies` of converted containers. The first call creates it."""
    if copies[0] == NULL:
        created = {}
        Py_INCREF(<PyObject *>created)
        copies[0] = <PyObject *>created
    return <dict>copies[0]


cdef int unbox_part(object x, TypeSpec spec, IValue *out, PyObject **copies) except -1:
    """Unbox an element of a container. A container that occurs several times is converted once.

    `copies` maps (address of a container, address of its TypeSpec) to (container, spec, core container). Only
    containers with other references have an entry. `copies` is NULL before the first entry.
    """
    cdef object entry
    if Py_REFCNT(<PyObject *>x) <= 2 or not (PyList_Check(x) or PyTuple_Check(x) or PyDict_Check(x)):
        return unbox_inside(x, spec, out, copies)
    key = (<size_t><PyObject *>x, <size_t><PyObject *>spec)
    entry = copies_in(copies).get(key)
    if entry is not None:
        return put_object((<tuple>entry)[2], out)
    unbox_inside(x, spec, out, copies)
    if out.tag == TAG_OBJECT:
        (<dict>copies[0])[key] = (x, spec, <object>out.v.o)
    return 0


cdef int unbox_inside(object x, TypeSpec spec, IValue *out, PyObject **copies) except -1:
    cdef int kind = spec.kind
    if kind == KIND_OPTIONAL:
        if x is None:
            out.v.i = 0
            out.tag = TAG_NONE
            return 0
        return unbox_optional(x, spec, out, copies)
    if kind == KIND_INT:
        return unbox_int(x, spec, out)
    if kind == KIND_FLOAT:
        return unbox_float(x, spec, out)
    if kind == KIND_BOOL:
        return unbox_bool(x, spec, out)
    if kind == KIND_TENSOR:
        if type(x) is tensor_type or (tensor_type is not None and isinstance(x, tensor_type)):
            return put_object(x, out)
        return mismatch(x, spec)
    if kind == KIND_STR:
        if PyUnicode_CheckExact(x):
            return put_object(x, out)
        if PyUnicode_Check(x):
            return put_object(PyUnicode_FromObject(x), out)
        if isinstance(x, (bytes, bytearray)):  # accepted as in PyTorch, whose strings hold bytes
            return put_object(bytes(x).decode("utf-8", "surrogateescape"), out)
        return mismatch(x, spec)
    if kind == KIND_LIST:
        return unbox_list(x, spec, out, copies)
    if kind == KIND_DICT:
        return unbox_dict(x, spec, out, copies)
    if kind == KIND_TUPLE:
        return unbox_tuple(x, spec, out, copies)
    if kind == KIND_COMPLEX:
        return unbox_complex(x, spec, out)
    if kind == KIND_NUMBER:
        return unbox_number(x, spec, out)
    if kind == KIND_NONE:
        if x is not None:
            return mismatch(x, spec)
        out.v.i = 0
        out.tag = TAG_NONE
        return 0
    if kind == KIND_ANY:
        return unbox_any(x, out, copies)
    if kind == KIND_DEVICE:
        if PyUnicode_Check(x) and device_type is not None:
            x = device_type(x)
        if device_type is None or not isinstance(x, device_type):
            return mismatch(x, spec)
        return put_object(x, out)
    if kind == KIND_UNION:
        return unbox_union(x, spec, out, copies)
    if kind == KIND_FUTURE:
        if not isinstance(x, future_type):
            return mismatch(x, spec)
        return put_object(x, out)
    if kind == KIND_CLASS:
        if type(x) is Object and <object>(<Object>x).cls is spec.detail:
            return put_object(x, out)
        return put_object(<Object?>resolve("object_of_instance")(x, spec.detail), out)
    if kind == KIND_ENUM:
        if isinstance(spec.detail, type) and not isinstance(x, spec.detail):
            return mismatch(x, spec)
        return put_object(x, out)
    if spec.detail is not None and not isinstance(x, spec.detail):
        return mismatch(x, spec)
    # the parameter's type is `list` or `tuple` without an element type
    if kind == KIND_OBJECT and (spec.annotation_str == "list" or spec.annotation_str == "tuple"):
        if type(x) is (List if spec.annotation_str == "list" else Tuple):
            return put_object(x, out)
        if not isinstance(x, list if spec.annotation_str == "list" else tuple):
            return mismatch(x, spec)
        if type(x) is list and not x:
            return unbox_inside(x, list_spec(ANY_SPEC), out, copies)
        return unbox_any(x, out, copies)
    return put_object(x, out)


cdef int unbox_optional(object x, TypeSpec spec, IValue *out, PyObject **copies) except -1:
    """Unbox `x` as the inner type of the Optional type `spec`.

    For a mismatch, the error message names the Optional type, not the inner type.
    """
    try:
        return unbox_inside(x, <TypeSpec>spec.children[0], out, copies)
    except TypeError:
        mismatch(x, spec)


cdef int unbox_any(object x, IValue *out, PyObject **copies) except -1:
    cdef int status
    cdef TypeSpec spec
    status = unbox_shallow(x, out)
    if out.tag != TAG_OBJECT or type(x) is tensor_type or type(x) is str or type(x) is Object:
        return status
    spec = infer_spec(x)
    if spec.kind != KIND_CLASS and not isinstance(x, (list, tuple, dict)):
        return status
    release(out)
    out.tag = TAG_NONE  # keeps `out` valid if the conversion of x fails
    return unbox_inside(x, spec, out, copies)


cdef int unbox_shallow(object x, IValue *out) except -1:
    if x is None:
        out.v.i = 0
        out.tag = TAG_NONE
    elif x is True or x is False:
        out.v.i = x is True
        out.tag = TAG_BOOL
    elif PyLong_CheckExact(x):
        return unbox_int(x, INT_SPEC, out)
    elif PyFloat_CheckExact(x):
        out.v.f = PyFloat_AS_DOUBLE(x)
        out.tag = TAG_FLOAT
    else:
        return put_object(x, out)
    return 0


# ---------------------------------------------------------------- IValue -> Python

cdef enum:
    CONTAINER_BYTES = 64     # estimated bytes of a Python container without items
    ITEM_BYTES = 32          # estimated bytes of an item of a list or tuple: its slot and a number
    ENTRY_BYTES = 100        # estimated bytes of a dict entry


cdef PyObject *undefined = NULL      # the undefined tensor, which Python code receives as None


def register_undefined(x not None):
    """Register the undefined tensor, which `box` converts to None. The reference is never released."""
    global undefined
    Py_INCREF(<PyObject *>x)
    undefined = <PyObject *>x


def undefined_tensor():
    """Return the undefined tensor, which `box` converts to None."""
    if undefined == NULL:
        raise RuntimeError("the undefined tensor is not registered")
    return <object>undefined


cdef object box(IValue *x):
    cdef PyObject *copies = NULL
    cdef object o = box_shallow(x)
    if x.tag != TAG_OBJECT:
        return o
    if type(o) is List and (<List>o).spec is not None and (<TypeSpec>(<List>o).spec.children[0]).plain:
        return box_list(<List>o, NULL, False)
    o = None  # release the local reference, because `box_inside` decides by the reference count whether `x` is shared
    try:
        return box_inside(x, &copies)
    finally:
        Py_XDECREF(copies)


cdef object box_inside(IValue *x, PyObject **copies):
    """Box a value and its elements. A container that occurs several times is converted once.

    `copies` maps addresses of core containers to (container, Python copy). The reference to the container
    prevents the reuse of its address. `copies` is NULL until a container with other references is found.
    """
    cdef object o = box_shallow(x)
    cdef object entry
    cdef bint shared
    if x.tag != TAG_OBJECT or type(o) is not List and type(o) is not Tuple and type(o) is not Dict:
        return box_object(o) if type(o) is Object else o
    # True if there are references to `o` besides those of the enclosing container and of this variable
    shared = Py_REFCNT(<PyObject *>o) > 2
    if shared:
        entry = copies_in(copies).get(<size_t><PyObject *>o)
        if entry is not None:
            return (<tuple>entry)[1]
    enter_recursion(b" while a container is copied")
    try:
        if type(o) is List:
            return box_list(<List>o, copies, shared)
        return box_dict(<Dict>o, copies, shared) if type(o) is Dict else box_tuple(<Tuple>o, copies, shared)
    finally:
        Py_LeaveRecursiveCall()


cdef object box_object(object o):
    """Return the Python instance of a core object.

    The creation of the instance may convert the attributes of the core object recursively.
    """
    enter_recursion(b" while an object is converted")
    try:
        return resolve("instance_of_object")(o)
    finally:
        Py_LeaveRecursiveCall()


cdef inline int remember(object o, object copy, PyObject **copies) except -1:
    (<dict>copies[0])[<size_t><PyObject *>o] = (o, copy)
    return 0


cdef inline int count_container(Py_ssize_t size, Py_ssize_t item) except -1:
    """Count a new Python container, with `size` items of `item` bytes, for the memory and time limits."""
    if limited:
        take_text(CONTAINER_BYTES + size * item)
    return count_items(size)


cdef object box_shallow(IValue *x):
    if x.tag == TAG_INT:
        return x.v.i
    if x.tag == TAG_FLOAT:
        return x.v.f
    if x.tag == TAG_BOOL:
        return x.v.i != 0
    if x.tag == TAG_OBJECT and x.v.o != NULL and x.v.o != undefined:
        return <object>x.v.o
    return None


cdef object box_list(List x, PyObject **copies, bint shared):
    cdef Py_ssize_t i = 0, n = x.size
    cdef IValue value
    cdef list result
    count_container(n, ITEM_BYTES)
    if shared:  # register the copy in `copies` before its elements are converted, because they may refer back to it
        result = []
        remember(x, result, copies)
        while i < n and i < x.size:
            value = list_item(<PyObject *>x, i)
            result.append(box_inside(&value, copies))
            i += 1
        return result
    result = PyList_New(n)
    while i < n and i < x.size:  # converting an item may run Python code that shortens x
        value = list_item(<PyObject *>x, i)
        element = box_inside(&value, copies)
        Py_INCREF(<PyObject *>element)
        PyList_SET_ITEM(result, i, element)
        i += 1
    if i < n:
        PyList_SetSlice(result, i, n, NULL)
    return result


cdef object box_tuple(Tuple x, PyObject **copies, bint shared):
    cdef Py_ssize_t i
    cdef object result
    count_container(x.size, ITEM_BYTES)
    result = PyTuple_New(x.size)
    for i in range(x.size):
        element = box_inside(&x.items[i], copies)
        Py_INCREF(<PyObject *>element)
        PyTuple_SET_ITEM(result, i, element)
    if x.spec is not None and x.spec.detail is not None:
        result = named_tuple_class(x.spec)(*result)
    if shared:
        remember(x, result, copies)
    return result


cdef object box_dict(Dict x, PyObject **copies, bint shared):
    cdef dict result = {}
    cdef Py_ssize_t i = 0, n = x.used
    count_container(x.size, ENTRY_BYTES)
    if shared:
        remember(x, result, copies)
    # checked in each iteration, because converting a value may run Python code that removes entries
    while i < n and i < x.used:
        if x.entries[i].key.tag != TAG_DELETED:
            key = box_shallow(&x.entries[i].key)
            result[key] = box_inside(&x.entries[i].value, copies)
        i += 1
    return result


# ---------------------------------------------------------------- functions for Python

def to_core(x, TypeSpec spec not None):
    """Convert `x` to type `spec`. A Python container becomes a List, Dict or Tuple object, a number stays a number."""
    cdef IValue value
    unbox(x, spec, &value)
    try:
        return box_shallow(&value)
    finally:
        release(&value)


def new_object(ObjectClass cls not None):
    """Return a new object of class `cls`. Its number attributes are 0, optional ones None, and others unassigned."""
    return object_new(cls)


def object_get(Object x not None, Py_ssize_t slot, bint deep=True):
    """Return the attribute in slot `slot`.

    If `deep`, core containers and objects are converted to Python's.
    """
    if not 0 <= slot < x.size:
        raise IndexError(slot)
    if x.slots[slot].tag == TAG_OBJECT and x.slots[slot].v.o == NULL:
        raise AttributeError(f"'{x.cls.name}' object has no value for '{x.cls.names[slot]}' yet")
    return box(&x.slots[slot]) if deep else box_shallow(&x.slots[slot])


def object_set(Object x not None, Py_ssize_t slot, value):
    """Convert `value` to the type of the attribute in slot `slot`, and assign it."""
    cdef IValue new
    if not 0 <= slot < x.size:
        raise IndexError(slot)
    unbox(value, <TypeSpec>x.cls.specs[slot], &new)
    move_value(&x.slots[slot], &new)


def from_core(x):
    """Convert a result of `to_core` to a Python value. Core containers are copied deeply."""
    cdef IValue value
    unbox_shallow(x, &value)
    try:
        return box(&value)
    finally:
        release(&value)
