"""Subtyping of types, joins (least upper bounds) at control-flow merges, and Optional refinement.

Functions and their results are:

    is_subtype(List[int], Optional[List[int]])        True: a List[int] is a valid Optional[List[int]]
    common_supertype(int, NoneType)                   Optional[int]
    present(Optional[str])                            str

`is_subtype` tests only the properties that typed instructions rely on. It accepts an object of any class for
an interface. The class of a method's receiver is checked at run time instead.
"""

from ts._core.value.objects cimport ObjectClass
from ts._core.value.spec cimport (
    ANY_SPEC,
    COMPLEX_SPEC,
    KIND_ANY,
    KIND_BOOL,
    KIND_CLASS,
    KIND_COMPLEX,
    KIND_DICT,
    KIND_ENUM,
    KIND_FLOAT,
    KIND_INT,
    KIND_LIST,
    KIND_NONE,
    KIND_NUMBER,
    KIND_OBJECT,
    KIND_OPTIONAL,
    KIND_TUPLE,
    KIND_UNION,
    NONE_SPEC,
    tuple_spec,
)
from ts._core.value.tagged cimport Py_LeaveRecursiveCall, enter_recursion
from ts._core.value.type_of cimport same_layout

SOME_OBJECT = TypeSpec(KIND_OBJECT, (), "object")

cdef enum:
    # maximal number of members of a Union that joins two types. A larger Union becomes SOME_OBJECT or Any.
    MAX_ALTERNATIVES = 16


cpdef bint is_subtype(TypeSpec actual, TypeSpec expected) except -1:
    cdef int a, b
    if actual is expected or expected.kind == KIND_ANY:
        return True
    if expected is SOME_OBJECT:
        return is_object(actual)
    a, b = actual.kind, expected.kind
    if a == KIND_OPTIONAL:
        return is_subtype(NONE_SPEC, expected) and is_subtype(<TypeSpec>actual.children[0], expected)
    if a == KIND_UNION:
        for member in actual.children:
            if not is_subtype(<TypeSpec>member, expected):
                return False
        return True
    if b == KIND_OPTIONAL:
        return a == KIND_NONE or is_subtype(actual, <TypeSpec>expected.children[0])
    if b == KIND_UNION:
        for member in expected.children:
            if is_subtype(actual, <TypeSpec>member):
                return True
        return False
    if b == KIND_NUMBER:
        return a in (KIND_INT, KIND_FLOAT, KIND_BOOL, KIND_COMPLEX, KIND_NUMBER)
    if b == KIND_OBJECT and expected.annotation_str in ("list", "tuple"):
        return (
            a == (KIND_LIST if expected.annotation_str == "list" else KIND_TUPLE) or (a == b and actual.annotation_str == expected.annotation_str)
        )
    if a != b:
        return False
    if a == KIND_LIST or a == KIND_DICT:
        return same_layout(actual, expected)
    if a == KIND_TUPLE:
        return tuple_fits(actual.children, expected.children)
    if a == KIND_CLASS:
        return actual.detail is expected.detail or not isinstance(expected.detail, ObjectClass)
    if a == KIND_ENUM:
        return actual.detail is expected.detail or expected.detail is None
    return a != KIND_OBJECT or actual.annotation_str == expected.annotation_str


cdef bint tuple_fits(tuple actual, tuple expected) except -1:
    cdef Py_ssize_t i
    if len(actual) != len(expected):
        return False
    enter_recursion(b" while the types of tuples are compared")
    try:
        for i in range(len(actual)):
            if not is_subtype(<TypeSpec>actual[i], <TypeSpec>expected[i]):
                return False
    finally:
        Py_LeaveRecursiveCall()
    return True


cdef TypeSpec common_supertype(TypeSpec a, TypeSpec b):
    if is_subtype(a, b):
        return b
    if is_subtype(b, a):
        return a
    if a.kind == KIND_TUPLE and b.kind == KIND_TUPLE and len(a.children) == len(b.children):
        return tuple_spec(tuple([common_supertype(<TypeSpec>x, <TypeSpec>y) for x, y in zip(a.children, b.children)]))
    members = alternatives(b) if b.kind == KIND_NONE else alternatives(a)
    b = a if b.kind == KIND_NONE else b
    members += [x for x in alternatives(b) if not any([is_subtype(<TypeSpec>x, <TypeSpec>y) for y in members])]
    if len(members) > MAX_ALTERNATIVES:
        return SOME_OBJECT if is_object(a) and is_object(b) else ANY_SPEC
    return union_of(members)


cdef list alternatives(TypeSpec spec):
    """Return the member types of a Union or Optional type, or [spec] for other types.

    A member that is itself a Union or Optional is replaced by its own members.
    """
    if spec.kind == KIND_UNION:
        return [x for child in spec.children for x in alternatives(<TypeSpec>child)]
    if spec.kind == KIND_OPTIONAL:
        return [NONE_SPEC, *alternatives(<TypeSpec>spec.children[0])]
    return [spec]


cdef TypeSpec union_of(list specs):
    if len(specs) == 1:
        return <TypeSpec>specs[0]
    if len(specs) == 2 and (<TypeSpec>specs[0]).kind == KIND_NONE:
        return TypeSpec(KIND_OPTIONAL, (specs[1],), f"Optional[{(<TypeSpec>specs[1]).annotation_str}]")
    return TypeSpec(KIND_UNION, tuple(specs), f"Union[{', '.join([(<TypeSpec>x).annotation_str for x in specs])}]")


cpdef TypeSpec present(TypeSpec spec):
    if spec.kind == KIND_ANY:
        return SOME_OBJECT
    if spec.kind == KIND_NUMBER:
        return COMPLEX_SPEC
    if spec.kind != KIND_OPTIONAL and spec.kind != KIND_UNION:
        return spec if is_object(spec) else None
    objects = [x for x in [present(<TypeSpec>each) for each in alternatives(spec)] if x is not None]
    return union_of(objects) if objects else None


cdef TypeSpec not_none(TypeSpec spec):
    if spec.kind != KIND_OPTIONAL and spec.kind != KIND_UNION:
        return spec
    return union_of([x for x in alternatives(spec) if (<TypeSpec>x).kind != KIND_NONE] or [spec])


cdef bint is_object(TypeSpec spec) except -1:
    """Return whether all values of the type are objects, not None and not unboxed numbers."""
    if spec.kind == KIND_UNION:
        return all([is_object(<TypeSpec>child) for child in spec.children])
    return spec.kind not in (
        KIND_ANY, KIND_NONE, KIND_INT, KIND_FLOAT, KIND_BOOL, KIND_NUMBER, KIND_OPTIONAL
    )


cdef str register_class(TypeSpec spec):
    if spec.kind == KIND_INT:
        return "i"
    if spec.kind == KIND_FLOAT:
        return "f"
    if spec.kind == KIND_BOOL:
        return "b"
    return "o" if is_object(spec) else "x"
