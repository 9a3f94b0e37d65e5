"""Argument conversion (unboxing, validation) of Python arguments to registers, by the operator's schema.

Input: the parameters of a signature, and one Python value for each. Output: registers that the operator's
kernel can read without tag checks, or a TypeError.

Calls from the interpreter skip the checks, because the bytecode verifier has proved the types. Examples for
the schema aten::append.t(t[](a!) self, t el):

    [1, 2], 3       registers with a core List[int] and 3
    [1, 2], "a"     TypeError, because t is int
"""

from enum import Enum

from ts._core.value.container cimport Dict, List, Object, Tuple
from ts._core.value.lists cimport SharedContainer
from ts._core.value.ivalue cimport (
    ANY_SPEC,
    IValue,
    KIND_ANY,
    KIND_DICT,
    KIND_FUTURE,
    KIND_LIST,
    KIND_OBJECT,
    KIND_OPTIONAL,
    KIND_TUPLE,
    TypeSpec,
    list_spec,
    tuple_spec,
    unbox,
    unbox_shallow,
)

from ts._core.value.type_of import infer_spec
from ts._core.value.spec import SPECS

cdef dict _specs = dict(SPECS)
_specs.update({"Scalar": SPECS["number"], "Layout": _specs["int"], "ScalarType": _specs["int"],
               "MemoryFormat": _specs["int"], "Generator": TypeSpec(KIND_OBJECT, (), "Generator"),
               "Storage": TypeSpec(KIND_OBJECT, (), "Storage")})
# names of type variables in schemas
_VARIABLES = frozenset(["t", "tKey", "tVal", *[f"t{i}" for i in range(10)]])


cdef TypeSpec spec_of_text(str kind):
    result = _specs.get(kind)
    if result is not None:
        return result
    if kind.endswith("?"):
        inner = spec_of_text(kind[:len(kind) - 1])
        result = TypeSpec(KIND_OPTIONAL, (inner,), f"Optional[{inner.annotation_str}]")
    elif kind.endswith("]"):
        result = list_spec(spec_of_text(kind[:kind.rindex("[")]))
    elif kind.startswith("Dict("):
        key, value = [spec_of_text(element) for element in kind[5:len(kind) - 1].split(", ")]
        result = TypeSpec(KIND_DICT, (key, value), f"Dict[{key.annotation_str}, {value.annotation_str}]")
    elif kind.startswith("Future("):
        result = TypeSpec(KIND_FUTURE, (spec_of_text(kind[7:len(kind) - 1]),), "Future")
    elif kind.startswith("__torch__."):  # a custom class, which PyTorch defines in C++
        result = TypeSpec(KIND_OBJECT, (), kind)
    elif kind.startswith("(") and kind.endswith(")"):
        result = tuple_spec(tuple([spec_of_text(element) for element in kind[1:len(kind) - 1].split(", ")]))
    elif kind in _VARIABLES:
        result = TypeSpec(KIND_ANY, (), kind)
    else:
        result = ANY_SPEC
    _specs[kind] = result
    return result



# ---------------------------------------------------------------- conversion of arguments

cdef int unbox_arguments(str operator, tuple parameters, tuple args, IValue *r) except -1:
    cdef dict bound = {}
    cdef IValue value
    cdef Py_ssize_t i
    for i in range(len(args)):
        if i >= len(parameters):
            unbox_shallow(args[i], &value)  # the last argument, which has no parameter, is a Tuple of the variadic arguments
        else:
            unbox_argument(operator, parameters[i], args[i], bound, &value)
        r[i] = value
    return 0


cdef int unbox_argument(str operator, object parameter, object x, dict bound, IValue *out) except -1:
    cdef str kind = parameter.kind
    cdef TypeSpec spec = spec_of_text(kind)
    if isinstance(x, SharedContainer):
        x = (<SharedContainer>x).core_of_type(None)
    if x is None and parameter.optional:
        return unbox_shallow(x, out)
    if kind == "AnyEnumType" and not isinstance(x, Enum) or kind == "AnyClassType" and type(x) is not Object:
        raise mismatch(operator, parameter, x, spec)
    spec = bind(spec, x, bound)
    if spec is None or isinstance(x, (List, Dict, Tuple)) and not fits(x.spec, spec):
        raise mismatch(operator, parameter, x, spec_of_text(kind))
    try:
        return unbox(x, spec, out)
    except TypeError as error:
        raise mismatch(operator, parameter, x, spec) from error


cdef object mismatch(str operator, object parameter, object x, TypeSpec spec):
    return TypeError(
        f"{operator}() Expected a value of type '{spec.annotation_str}' for argument '{parameter.name}' "
        f"but instead found type '{type(x).__name__}'"
    )


cdef TypeSpec bind(TypeSpec spec, object x, dict bound):
    """Return `spec` with types in place of its type variables. The types are inferred from the argument `x`.

    Return None if `x` does not match `spec`. `bound` has the types of the type variables that are bound so
    far.
    """
    if spec.kind == KIND_ANY and spec is not ANY_SPEC:  # `spec` is a type variable, and `annotation_str` its name
        return bound.setdefault(spec.annotation_str, own_spec(x))
    if not any([is_open(child) for child in spec.children]):
        return spec
    if spec.kind == KIND_LIST and isinstance(x, (list, List)):
        return bind_parts(spec, x, bound)
    if spec.kind == KIND_DICT and isinstance(x, (dict, Dict)):
        return bind_parts(spec, x, bound)
    return spec if spec.kind not in (KIND_LIST, KIND_DICT) else None


cdef bint is_open(TypeSpec spec) except -1:
    """Return whether a spec contains a type variable or Any."""
    return spec.kind == KIND_ANY or any([is_open(child) for child in spec.children])


cdef TypeSpec bind_parts(TypeSpec spec, object x, dict bound):
    cdef TypeSpec argument_spec
    if isinstance(x, (list, dict)) and not x:
        return substitute_variables(spec, bound)  # an empty container matches every element type
    argument_spec = own_spec(x)
    return substitute_variables(spec, bound) if unify(spec, argument_spec, bound) else None


cdef TypeSpec own_spec(object x):
    """Return the inferred type of an argument, or Any if no type can be inferred."""
    try:
        return infer_spec(x)
    except TypeError:  # The type cannot be inferred: the list is empty, or its items have different types.
        return ANY_SPEC


cdef bint unify(TypeSpec spec, TypeSpec actual, dict bound) except -1:
    """Return whether the type `actual` matches `spec`, and bind the type variables of `spec` in `bound`.

    An unbound type variable is bound to the type at its position in `actual`.
    """
    cdef Py_ssize_t i
    if spec.kind == KIND_ANY:
        if spec is ANY_SPEC:
            return True
        return fits(actual, bound.setdefault(spec.annotation_str, actual))
    if spec.kind != actual.kind or len(spec.children) != len(actual.children):
        return False
    for i in range(len(spec.children)):
        if not unify(<TypeSpec>spec.children[i], <TypeSpec>actual.children[i], bound):
            return False
    return True


cdef dict NAMES = {KIND_OPTIONAL: "Optional", KIND_FUTURE: "Future"}


cdef TypeSpec substitute_variables(TypeSpec spec, dict bound):
    """Return `spec` with its type variables replaced by their bindings. Unbound variables become Any."""
    cdef tuple children
    if spec.kind == KIND_ANY:
        return bound.get(spec.annotation_str, ANY_SPEC)
    if not spec.children:
        return spec
    children = tuple([substitute_variables(<TypeSpec>child, bound) for child in spec.children])
    if spec.kind == KIND_LIST:
        return list_spec(<TypeSpec>children[0])
    if spec.kind == KIND_TUPLE:
        return tuple_spec(children)
    name = NAMES.get(spec.kind, "Dict")
    return TypeSpec(spec.kind, children, f"{name}[{', '.join([child.annotation_str for child in children])}]")


cdef bint fits(TypeSpec actual, TypeSpec expected) except -1:
    """Return whether a parameter of type `expected` accepts a container of type `actual`."""
    if expected.kind == KIND_ANY or actual is expected or actual == expected:
        return True
    if actual is None or expected.kind != actual.kind or len(expected.children) != len(actual.children):
        return False
    return all([fits(a, b) for a, b in zip(actual.children, expected.children)])
