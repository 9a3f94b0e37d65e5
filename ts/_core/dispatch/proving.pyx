"""Inference of result types of operators from argument types.

Input: an operator, and the types (`TypeSpec`) of its arguments. Output: the types of its results, or a
TypeError.

A type variable (`t`) gets its type from the first argument that contains it. Later arguments must match this
type. The table shows schemas, argument types and result types:

    aten::sub.int(int a, int b) -> int               int, int              int
    aten::append.t(t[](a!) self, t(c -> *) el)       List[str], str        List[str]
                                                     List[str], int        TypeError
"""

from ts._core.dispatch.arguments cimport substitute_variables, spec_of_text
from ts._core.value.fitting cimport is_subtype, not_none
from ts._core.value.spec cimport (
    ANY_SPEC,
    KIND_ANY,
    KIND_CLASS,
    KIND_DICT,
    KIND_ENUM,
    KIND_FUTURE,
    KIND_LIST,
    KIND_NONE,
    KIND_OBJECT,
    KIND_OPTIONAL,
    KIND_TUPLE,
    TypeSpec,
)

# Parameter types that match every enum value or every object of a script class. Their kernels also check the
# arguments, because calls from Python do not use this module.
cdef dict SORTS = {"AnyEnumType": TypeSpec(KIND_ENUM, (), "enum"), "AnyClassType": TypeSpec(KIND_CLASS, (), "object")}
cdef TypeSpec REST = TypeSpec(KIND_OBJECT, (), "tuple")  # type of the tuple of variadic arguments


cdef tuple result_specs(Operator op, list actual):
    cdef Py_ssize_t i
    cdef dict bound = {}
    if op.argument_specs is None:
        op.argument_specs = parameter_specs(op)
    # An operator such as `prim::tolist(...)` accepts more arguments than its schema has parameters. Its
    # kernel checks the additional arguments.
    for i in range(min(len(actual), len(op.argument_specs))):
        if not matches(<TypeSpec>op.argument_specs[i], <TypeSpec>actual[i], bound):
            raise TypeError(
                f"{op.key}: argument {i} has type {(<TypeSpec>actual[i]).annotation_str}, "
                f"expected {substitute_variables(<TypeSpec>op.argument_specs[i], bound).annotation_str}"
            )
    if op.result_spec is not None:
        return (op.result_spec,)
    results = tuple([substitute_variables(<TypeSpec>spec, bound) for spec in op.return_specs])
    return results + (ANY_SPEC,) * (op.nrets - len(results))


cdef tuple parameter_specs(Operator op):
    """Return the TypeSpec of each parameter."""
    cdef list specs = []
    for parameter in op.signature.parameters:
        spec = SORTS.get(parameter.kind) or spec_of_text(parameter.kind)
        specs.append(TypeSpec(KIND_OPTIONAL, (spec,), f"Optional[{spec.annotation_str}]") if parameter.optional else spec)
    if len(specs) < op.nargs:
        specs.append(REST)
    return tuple(specs)


cdef bint matches(TypeSpec expected, TypeSpec actual, dict bound) except -1:
    """Return whether the argument type `actual` matches the parameter type `expected`.

    The type variables in `expected` are bound in `bound`. The element types of a container in `actual` may be
    subtypes of those in `expected`.
    """
    cdef Py_ssize_t i
    cdef int kind = expected.kind
    if expected is ANY_SPEC or expected is actual:
        return True
    if kind == KIND_ANY:
        return is_subtype(actual, bound.setdefault(expected.annotation_str, actual))
    if kind == KIND_OPTIONAL:
        if actual.kind == KIND_NONE:
            return True
        return matches(<TypeSpec>expected.children[0], not_none(actual), bound)
    if kind not in (KIND_LIST, KIND_DICT, KIND_TUPLE, KIND_FUTURE) or actual.kind != kind:
        return is_subtype(actual, expected)
    if len(actual.children) != len(expected.children):
        return False
    for i in range(len(expected.children)):
        if not matches(<TypeSpec>expected.children[i], <TypeSpec>actual.children[i], bound):
            return False
    return True
