"""Type descriptors of the core; see `spec.pyx`."""

cimport cython

cdef enum Kind:
    """Kinds of a TypeSpec; `KINDS` maps class names of IR types to them."""
    KIND_ANY = 0
    KIND_NONE = 1
    KIND_INT = 2          # also ScalarType, Layout and MemoryFormat, which are ints in PyTorch
    KIND_FLOAT = 3
    KIND_BOOL = 4
    KIND_COMPLEX = 5
    KIND_STR = 6
    KIND_NUMBER = 7       # Scalar: int, float, bool or complex
    KIND_TENSOR = 8
    KIND_DEVICE = 9
    KIND_LIST = 10        # children: element
    KIND_DICT = 11        # children: key, value
    KIND_TUPLE = 12       # children: elements; detail: (name, field names) of a NamedTuple
    KIND_OPTIONAL = 13    # children: the type that may be None
    KIND_UNION = 14       # children: alternatives
    KIND_CLASS = 15       # detail: the Python class whose instances are accepted, or None
    KIND_ENUM = 16        # detail: the Python enum class
    KIND_OBJECT = 17      # not converted: Generator, Stream, functions, modules; detail: its class, or None
    KIND_FUTURE = 18      # children: the result


@cython.final
cdef class TypeSpec:
    """Type descriptor for boxing, unboxing and containers: kind, children, text.

    Built from `ts.ir.types` by the bytecode stage; the core never sees the types themselves:

        TypeSpec(KINDS["ListType"], (TypeSpec(KINDS["IntType"], text="int"),), "List[int]")
    """
    cdef readonly int kind            # one of the KIND_ constants
    cdef readonly tuple children      # element types
    cdef readonly str text            # PyTorch's annotation spelling, for messages
    cdef readonly object detail       # (name, fields) of a NamedTuple, a class, the size of a sized list parameter
    cdef readonly bint plain          # values own no Python object: int, float, bool, None
    cdef readonly bint acyclic        # plain, str, complex, or a tuple of such: cannot be part of a reference cycle
    cdef TypeSpec list_of             # the spec of List[this type], created on first use
    cdef TypeSpec item                # the spec of (key, value) of a dict, created on first use
    cdef object namedtuple            # Python class of a boxed NamedTuple


cdef TypeSpec INT_SPEC, FLOAT_SPEC, BOOL_SPEC, COMPLEX_SPEC, STR_SPEC, NONE_SPEC, TENSOR_SPEC, ANY_SPEC
cdef TypeSpec NUMBER_SPEC, DEVICE_SPEC

# Return the spec of List[element], one object per element spec.
cdef TypeSpec list_spec(TypeSpec element)
cdef TypeSpec tuple_spec(tuple elements)
