"""TypeSpec, the core's type descriptor (run-time type information, RTTI).

Input: the kind, the element types and the text of a type of `ts.ir.types`. Output: a descriptor, with which
the core boxes and unboxes values and checks the items of containers.

The descriptor of the type List[int]:

    TypeSpec(KINDS["ListType"], (TypeSpec(KINDS["IntType"], annotation_str="int"),), "List[int]")
"""

cimport cython

# `type.kind()` of a type of `ts.ir.types` -> kind of its descriptor.
KINDS: dict = {
    "AnyType": KIND_ANY,
    "NoneType": KIND_NONE,
    "IntType": KIND_INT,
    "ScalarTypeType": KIND_INT,
    "LayoutType": KIND_INT,
    "MemoryFormatType": KIND_INT,
    "SymIntType": KIND_INT,
    "FloatType": KIND_FLOAT,
    "SymFloatType": KIND_FLOAT,
    "BoolType": KIND_BOOL,
    "SymBoolType": KIND_BOOL,
    "ComplexType": KIND_COMPLEX,
    "StringType": KIND_STR,
    "NumberType": KIND_NUMBER,
    "TensorType": KIND_TENSOR,
    "DeviceObjType": KIND_DEVICE,
    "ListType": KIND_LIST,
    "DictType": KIND_DICT,
    "TupleType": KIND_TUPLE,
    "OptionalType": KIND_OPTIONAL,
    "UnionType": KIND_UNION,
    "ClassType": KIND_CLASS,
    "InterfaceType": KIND_CLASS,
    "EnumType": KIND_ENUM,
    "FutureType": KIND_FUTURE,
}

# kind -> required number of children, where 0 means at least one
cdef dict CHILDREN = {KIND_LIST: 1, KIND_OPTIONAL: 1, KIND_FUTURE: 1, KIND_DICT: 2, KIND_UNION: 0}


@cython.final
@cython.no_gc_clear                # never cleared: containers read their spec when they are deallocated
cdef class TypeSpec:
    def __cinit__(self, int kind, tuple children not None=(), str annotation_str not None="", object detail=None):
        if kind in CHILDREN and (len(children) != CHILDREN[kind] if CHILDREN[kind] else not children):
            raise ValueError(f"a type of kind {kind} with {len(children)} children: {annotation_str}")
        for child in children:
            if not isinstance(child, TypeSpec):
                raise TypeError(f"expected a type as child of a type, got {type(child).__name__}")
        self.kind = kind
        self.children = children
        self.annotation_str = annotation_str
        self.detail = detail
        self.plain = kind in (KIND_INT, KIND_FLOAT, KIND_BOOL, KIND_NONE) or (
            kind == KIND_OPTIONAL and (<TypeSpec>children[0]).plain
        )
        self.acyclic = self.plain or kind in (KIND_STR, KIND_COMPLEX) or (
            kind in (KIND_OPTIONAL, KIND_TUPLE) and all([(<TypeSpec>child).acyclic for child in children])
        )

    def __repr__(self):
        return f"TypeSpec({self.annotation_str})"

    def __reduce__(self):
        return TypeSpec, (self.kind, self.children, self.annotation_str, self.detail)

    def __eq__(self, other):
        if not isinstance(other, TypeSpec):
            return NotImplemented
        return (
            self.kind == other.kind
            and self.annotation_str == other.annotation_str
            and self.children == other.children
            and self.detail == other.detail
        )

    def __hash__(self):
        return hash((self.kind, self.annotation_str))


INT_SPEC = TypeSpec(KIND_INT, (), "int")
FLOAT_SPEC = TypeSpec(KIND_FLOAT, (), "float")
BOOL_SPEC = TypeSpec(KIND_BOOL, (), "bool")
COMPLEX_SPEC = TypeSpec(KIND_COMPLEX, (), "complex")
STR_SPEC = TypeSpec(KIND_STR, (), "str")
NONE_SPEC = TypeSpec(KIND_NONE, (), "NoneType")
TENSOR_SPEC = TypeSpec(KIND_TENSOR, (), "Tensor")
ANY_SPEC = TypeSpec(KIND_ANY, (), "Any")
NUMBER_SPEC = TypeSpec(KIND_NUMBER, (), "number")
DEVICE_SPEC = TypeSpec(KIND_DEVICE, (), "Device")
# Annotation string -> spec of the type, for types without children. Python code reads this table.
SPECS: dict = {
    s.annotation_str: s
    for s in (INT_SPEC, FLOAT_SPEC, BOOL_SPEC, COMPLEX_SPEC, STR_SPEC, NONE_SPEC, TENSOR_SPEC, ANY_SPEC, NUMBER_SPEC, DEVICE_SPEC)
}


cdef TypeSpec list_spec(TypeSpec element):
    if element.list_of is None:
        element.list_of = TypeSpec(KIND_LIST, (element,), f"List[{element.annotation_str}]")
    return element.list_of


cdef TypeSpec tuple_spec(tuple elements):
    cdef TypeSpec element
    return TypeSpec(KIND_TUPLE, elements, f"Tuple[{', '.join([element.annotation_str for element in elements])}]")
