"""Functions for instructions that create containers, check types and print (`making.pxd`)."""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t

from ts._core.value.container cimport (
    Dict,
    List,
    ObjectClass,
    Tuple,
    dict_new,
    dict_set,
    list_new,
    list_store,
    object_new,
    tuple_new,
    value_text,
)
from ts._core.value.ivalue cimport (
    KIND_ANY,
    KIND_BOOL,
    KIND_CLASS,
    KIND_ENUM,
    KIND_FLOAT,
    KIND_INT,
    KIND_NONE,
    KIND_NUMBER,
    KIND_OBJECT,
    TAG_BOOL,
    TAG_INT,
    TAG_NONE,
    TAG_OBJECT,
    TypeSpec,
    copy_value,
    retain,
)

from ts._core.value.type_of cimport conforms, infer_spec


cdef int make_list(PyObject *spec, IValue *r, const int32_t *items, IValue *out) except -1:
    cdef int i, n = items[0]
    cdef List x = list_new(<TypeSpec>spec, n)
    for i in range(n):
        retain(&r[items[i + 1]])
        list_store(<PyObject *>x, i, &r[items[i + 1]])
    x.size = n
    set_new(out, x)
    return 0


cdef int make_tuple(PyObject *spec, IValue *r, const int32_t *items, IValue *out) except -1:
    cdef int i, n = items[0]
    cdef Tuple x = tuple_new(<TypeSpec>spec, n)
    for i in range(n):
        copy_value(&x.items[i], &r[items[i + 1]])
    set_new(out, x)
    return 0


cdef int make_dict(PyObject *spec, IValue *r, const int32_t *items, IValue *out) except -1:
    cdef int i, n = items[0]
    cdef Dict x = dict_new(<TypeSpec>spec, n // 2)
    for i in range(0, n, 2):
        dict_set(<PyObject *>x, &r[items[i + 1]], &r[items[i + 2]])
    set_new(out, x)
    return 0


cdef int make_object(PyObject *spec, IValue *out) except -1:
    set_new(out, object_new(<ObjectClass>(<TypeSpec>spec).detail))
    return 0


cdef bint is_instance(IValue *x, PyObject *type) noexcept nogil:
    """Return whether a value has a type, like `isinstance` in scripts.

    For a container, the stored type of the container is compared, and no element is examined.
    """
    cdef int kind = (<TypeSpec>type).kind
    if x.tag != TAG_OBJECT:
        return kind == kind_of_tag(x.tag) or kind == KIND_ANY or (kind == KIND_NUMBER and x.tag != TAG_NONE)
    with gil:
        if kind == KIND_CLASS and not isinstance((<TypeSpec>type).detail, ObjectClass):
            return has_interface(x, <TypeSpec>type)
        return object_is(<object>x.v.o, <TypeSpec>type)


cdef bint has_interface(IValue *x, TypeSpec interface) noexcept:
    """Return whether the class of an object implements an interface."""
    try:
        return conforms(x, interface) == 1
    except TypeError:
        return False


cdef int is_of_type(IValue *x, PyObject *type) except -1:
    return conforms(x, <TypeSpec>type)


cdef inline int kind_of_tag(int64_t tag) noexcept nogil:
    if tag == TAG_INT:
        return KIND_INT
    if tag == TAG_BOOL:
        return KIND_BOOL
    return KIND_NONE if tag == TAG_NONE else KIND_FLOAT


cdef bint object_is(object x, TypeSpec spec) noexcept:
    if spec.kind == KIND_ENUM and spec.detail is not None:
        return isinstance(x, spec.detail)
    if spec.kind == KIND_OBJECT and spec.annotation_str in ("list", "tuple"):
        return type(x) is (List if spec.annotation_str == "list" else Tuple)
    try:
        return infer_spec(x) == spec or (spec.kind in (KIND_OBJECT, KIND_CLASS) and type(x).__name__ == spec.annotation_str)
    except TypeError:
        return False


cdef inline void set_new(IValue *out, object x) noexcept:
    cdef IValue value
    value.v.o = <PyObject *>x
    value.tag = TAG_OBJECT
    copy_value(out, &value)


cdef int print_values(IValue *r, const int32_t *items) except -1:
    print(*[value_text(&r[items[i + 1]]) for i in range(items[0])])
    return 0
