"""Type inference and type checks of values.

`infer_spec` returns the type of a Python object as a TypeSpec. `conforms` returns whether a value of the core
(IValue) has a given type.

Example: `infer_spec([1, 2])` returns List[int]. For this list, `conforms(value, List[str])` returns False.

`conforms` checks all properties that typed instructions rely on. It checks each item of a tuple. For lists,
dicts and objects, it compares the type or class that they store, instead of their items.
"""

from collections import namedtuple
from enum import Enum

from cpython.ref cimport PyObject
from cpython.complex cimport PyComplex_CheckExact
from cpython.unicode cimport PyUnicode_CheckExact

from ts._core.late_binding import resolve
from ts._core.value.container cimport Dict, List, Object, Tuple, list_item
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
    STR_SPEC,
    TENSOR_SPEC,
    list_spec,
    tuple_spec,
)
from ts._core.value.tagged cimport (
    Py_LeaveRecursiveCall,
    TAG_BOOL,
    TAG_FLOAT,
    TAG_INT,
    TAG_NONE,
    TAG_OBJECT,
    enter_recursion,
)


# ---------------------------------------------------------------- types registered by other modules

# The parameter `cls` is not declared as `type`. The class has the metaclass `TensorMeta`, and Cython's `type`
# does not accept it.
def register_tensor_type(cls):
    """Register the class of the values that `Tensor` parameters accept."""
    global tensor_type
    tensor_type = cls


def register_device_type(type cls not None):
    """Register the class of the values that Device parameters accept.

    `cls(text)` must create a device from a string.
    """
    global device_type
    device_type = cls


def register_future_type(type cls not None):
    """Register the class of futures, which is defined after this module."""
    global future_type
    future_type = cls


# ---------------------------------------------------------------- type of a Python object

cdef enum:
    # Maximal length of the text of an inferred type. Without this limit, tuples that share elements can make
    # the text exponentially long.
    MAX_TEXT_CHARS = 1 << 17


cpdef TypeSpec infer_spec(object x):
    if x is None:
        return NONE_SPEC
    if isinstance(x, bool):
        return BOOL_SPEC
    if isinstance(x, Enum):
        return spec_of_class(type(x))
    if isinstance(x, int):
        return INT_SPEC
    if isinstance(x, float):
        return FLOAT_SPEC
    if isinstance(x, complex):
        return COMPLEX_SPEC
    if isinstance(x, str):
        return STR_SPEC
    if tensor_type is not None and isinstance(x, tensor_type):
        return TENSOR_SPEC
    if device_type is not None and isinstance(x, device_type):
        return DEVICE_SPEC
    if isinstance(x, (List, Dict, Tuple)):
        return x.spec
    if type(x) is Object and (<Object>x).cls.spec is not None:
        return (<Object>x).cls.spec
    if isinstance(x, (tuple, list, dict)):
        return infer_container(x, {})
    return spec_of_class(type(x))


cdef TypeSpec infer_element(object x, dict specs_by_id):
    return infer_container(x, specs_by_id) if isinstance(x, (tuple, list, dict)) else infer_spec(x)


cdef TypeSpec infer_container(object x, dict specs_by_id):
    """Infer the type of a tuple, list or dict from its elements.

    A container that occurs several times is visited once. `specs_by_id` maps the ids of containers to their
    types.
    """
    cdef TypeSpec result = specs_by_id.get(id(x)), key, value
    if result is not None:
        return result
    enter_recursion(b" while the type of a container is inferred")
    try:
        if isinstance(x, tuple):
            result = tuple_spec(tuple([infer_element(element, specs_by_id) for element in x]))
        elif isinstance(x, list):
            if not x:
                raise TypeError("List trace inputs must have elements")
            result = list_spec(common_spec(x, "List", specs_by_id))
        else:
            if not x:
                raise TypeError("Dictionary inputs must have entries")
            key, value = common_spec(x.keys(), "Dictionary", specs_by_id), common_spec(x.values(), "Dictionary", specs_by_id)
            result = TypeSpec(KIND_DICT, (key, value), f"Dict[{key.annotation_str}, {value.annotation_str}]")
    finally:
        Py_LeaveRecursiveCall()
    if len(result.annotation_str) > MAX_TEXT_CHARS:
        raise TypeError("the type of a value is too large: its tuples contain too many nested tuples")
    specs_by_id[id(x)] = result
    return result


cdef TypeSpec common_spec(object values, str container, dict specs_by_id):
    """Return the common type of `values`, such as int. Raise TypeError if types differ.

    If some values are None, the result is the Optional of the common type of the other values. If all values
    are None, the result is NoneType.
    """
    cdef TypeSpec common = None, spec
    cdef bint optional = False
    for value in values:
        if value is None:
            optional = True
            continue
        spec = infer_element(value, specs_by_id)
        if common is None:
            common = spec
        elif common is not spec and common != spec:
            raise TypeError(
                f"{container} inputs to traced functions must have consistent "
                f"{'type' if container == 'Dictionary' else 'element type'}. "
                f"Found {common.annotation_str} and {spec.annotation_str}"
            )
    if common is None:
        return NONE_SPEC
    return TypeSpec(KIND_OPTIONAL, (common,), f"Optional[{common.annotation_str}]") if optional else common


cdef TypeSpec spec_of_class(type cls):
    """Return the TypeSpec of a scripted class or enum. For another class, return an object type with its name."""
    cdef object spec = None
    if "__ts_type__" in cls.__dict__ or issubclass(cls, Enum):
        spec = resolve("class_spec")(cls)
    return TypeSpec(KIND_OBJECT, (), cls.__name__) if spec is None else spec


cdef object named_tuple_class(TypeSpec spec):
    if spec.namedtuple is None:
        if isinstance(spec.detail, type):
            spec.namedtuple = spec.detail
        else:
            name, fields = spec.detail
            spec.namedtuple = namedtuple(name.rpartition(".")[2], fields)
    return spec.namedtuple


# ---------------------------------------------------------------- type checks of values

cdef bint conforms(IValue *x, TypeSpec spec) except -1:
    return is_of(x, spec, None)


cdef bint is_of(IValue *x, TypeSpec spec, set checked_pairs) except -1:
    """Return whether `x` conforms to the type `spec`.

    `checked_pairs` contains the (tuple, type) pairs that were checked before.
    """
    cdef int kind = spec.kind
    if kind == KIND_ANY:
        return True
    if kind == KIND_OPTIONAL:
        return x.tag == TAG_NONE or is_of(x, <TypeSpec>spec.children[0], checked_pairs)
    if kind == KIND_UNION:
        for alternative in spec.children:
            if is_of(x, <TypeSpec>alternative, checked_pairs):
                return True
        return False
    if x.tag == TAG_INT:
        return kind == KIND_INT or kind == KIND_NUMBER
    if x.tag == TAG_FLOAT:
        return kind == KIND_FLOAT or kind == KIND_NUMBER
    if x.tag == TAG_BOOL:
        return kind == KIND_BOOL or kind == KIND_NUMBER
    if x.tag == TAG_NONE:
        return kind == KIND_NONE
    return x.v.o != NULL and object_is_of(<object>x.v.o, spec, checked_pairs)


cdef bint object_is_of(object o, TypeSpec spec, set checked_pairs) except -1:
    cdef int kind = spec.kind
    if kind == KIND_TENSOR:
        return type(o) is tensor_type or isinstance(o, tensor_type)
    if kind == KIND_STR:
        return PyUnicode_CheckExact(o)
    if kind == KIND_LIST:
        return type(o) is List and list_is_of(<List>o, spec, checked_pairs)
    if kind == KIND_DICT:
        return type(o) is Dict and same_layout((<Dict>o).spec, spec)
    if kind == KIND_TUPLE:
        return type(o) is Tuple and tuple_is_of(<Tuple>o, spec, checked_pairs)
    if kind == KIND_COMPLEX or kind == KIND_NUMBER:
        return PyComplex_CheckExact(o)
    if kind == KIND_CLASS:
        return type(o) is Object and ((<Object>o).cls is spec.detail or resolve("object_has_interface")(o, spec.detail))
    if kind == KIND_ENUM:
        return isinstance(o, Enum if spec.detail is None else spec.detail)
    if kind == KIND_DEVICE:
        return isinstance(o, device_type)
    if kind == KIND_FUTURE:
        return isinstance(o, future_type)
    if kind != KIND_OBJECT:
        return False
    if spec.annotation_str == "list" or spec.annotation_str == "tuple":
        return type(o) is (List if spec.annotation_str == "list" else Tuple)
    if spec.detail is not None:
        return isinstance(o, spec.detail)
    return not isinstance(o, (str, complex, List, Dict, Tuple, Object, tensor_type, future_type))


cdef bint list_is_of(List o, TypeSpec spec, set checked_pairs) except -1:
    cdef Py_ssize_t i = 0
    cdef IValue value
    if o.spec is not None:
        return same_layout(<TypeSpec>o.spec.children[0], <TypeSpec>spec.children[0])
    if (<TypeSpec>spec.children[0]).kind in (KIND_INT, KIND_FLOAT, KIND_BOOL):
        return False  # typed code would read untagged numbers, but this list stores tagged items
    while i < o.size:
        value = list_item(<PyObject *>o, i)
        if not is_of(&value, <TypeSpec>spec.children[0], checked_pairs):
            return False
        i += 1
    return True


cdef bint tuple_is_of(Tuple o, TypeSpec spec, set checked_pairs) except -1:
    cdef Py_ssize_t i
    if o.spec is not None and same_layout(o.spec, spec):
        return True
    if o.size != len(spec.children):
        return False
    if checked_pairs is None:
        checked_pairs = set()
    key = (id(o), id(spec))
    if key in checked_pairs:
        return True
    checked_pairs.add(key)
    enter_recursion(b" while the type of a tuple is checked")
    try:
        for i in range(o.size):
            if not is_of(&o.items[i], <TypeSpec>spec.children[i], checked_pairs):
                return False
    finally:
        Py_LeaveRecursiveCall()
    return True


cdef bint same_layout(TypeSpec a, TypeSpec b) except -1:
    cdef Py_ssize_t i
    if a is b:
        return True
    if a is None or a.kind != b.kind or len(a.children) != len(b.children):
        return False
    if a.kind == KIND_CLASS or a.kind == KIND_ENUM:
        return a.detail is b.detail and a.annotation_str == b.annotation_str
    if a.kind == KIND_OBJECT:
        return a.annotation_str == b.annotation_str
    enter_recursion(b" while types are compared")
    try:
        for i in range(len(a.children)):
            if not same_layout(<TypeSpec>a.children[i], <TypeSpec>b.children[i]):
                return False
    finally:
        Py_LeaveRecursiveCall()
    return True


# ---------------------------------------------------------------- size of a value

def is_small(x, Py_ssize_t max_items=1000, Py_ssize_t max_depth=100):
    """Return whether nested Python containers have at most `max_items` elements on at most `max_depth` levels.

    A shared container counts once per reference. A container that contains itself is not small."""
    cdef Py_ssize_t count = 0, level
    cdef list pending = [(x, 0)]
    while pending:
        x, level = pending.pop()
        if level > max_depth:
            return False
        if isinstance(x, dict):
            children = [*x.keys(), *x.values()] if 2 * len(x) <= max_items else ()
            count += 2 * len(x)
        elif isinstance(x, (list, tuple)):
            children = x
            count += len(x)
        else:
            continue
        if count > max_items:
            return False
        pending.extend([(child, level + 1) for child in children])
    return True


cpdef str describe_value(object x, object formatter=str):
    if isinstance(x, (list, tuple, dict)) and not is_small(x):
        return f"a large {type(x).__name__}"
    return formatter(x)
