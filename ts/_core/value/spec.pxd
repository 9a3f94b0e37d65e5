"""Type descriptors of the core (`spec.pyx`)."""

cimport cython

cdef enum Kind:
    """Kinds of types. The dict `KINDS` maps class names of IR types to kinds."""
    KIND_ANY = 0
    KIND_NONE = 1
    KIND_INT = 2          # also ScalarType, Layout and MemoryFormat, which are ints in scripts
    KIND_FLOAT = 3
    KIND_BOOL = 4
    KIND_COMPLEX = 5
    KIND_STR = 6
    KIND_NUMBER = 7       # Scalar: int, float, bool or complex
    KIND_TENSOR = 8
    KIND_DEVICE = 9
    KIND_LIST = 10        # children: element type
    KIND_DICT = 11        # children: key type, value type
    KIND_TUPLE = 12       # children: element types, detail: (name, field names) of a NamedTuple
    KIND_OPTIONAL = 13    # children: the type that may be None
    KIND_UNION = 14       # children: member types
    KIND_CLASS = 15       # detail: the Python class whose instances are accepted, or None
    KIND_ENUM = 16        # detail: the Python enum class
    # Types with values that are not converted: Generator, Stream, functions and modules (detail: the class of
    # the values, or None)
    KIND_OBJECT = 17
    KIND_FUTURE = 18      # children: the result type


@cython.final
cdef class TypeSpec:
    """Descriptor of a type for boxing, unboxing and containers, with kind, children and annotation string.

    The bytecode stage creates it from a type of `ts.ir.types`, which the core does not know:

        TypeSpec(KINDS["ListType"], (TypeSpec(KINDS["IntType"], annotation_str="int"),), "List[int]")
    """
    cdef readonly int kind            # one of the KIND_ constants
    cdef readonly tuple children      # element types
    cdef readonly str annotation_str            # the type as PyTorch writes it in annotations, for messages
    # depends on the kind: (name, field names) of a NamedTuple, a Python class, the size of a list parameter such as
    # int[2], or None
    cdef readonly object detail
    cdef readonly bint plain          # True if values of the type are no Python objects: int, float, bool, None
    # True if values of the type cannot be part of a reference cycle: plain types, str, complex, and tuples of these
    cdef readonly bint acyclic
    cdef TypeSpec list_of             # the spec of List[this type], or None before the first use
    cdef TypeSpec item  # for a dict: spec of its (key, value) tuples, or None before the first use
    cdef object namedtuple            # Python class to which values of a NamedTuple are converted


cdef TypeSpec INT_SPEC, FLOAT_SPEC, BOOL_SPEC, COMPLEX_SPEC, STR_SPEC, NONE_SPEC, TENSOR_SPEC, ANY_SPEC
cdef TypeSpec NUMBER_SPEC, DEVICE_SPEC

# Return the spec of List[element]. Calls with the same element spec return the same object.
cdef TypeSpec list_spec(TypeSpec element)
cdef TypeSpec tuple_spec(tuple elements)
