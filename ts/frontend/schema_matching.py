"""Schema matching (overload resolution, type coercion): select the overload of a call, convert arguments.

Example, in which %1 is a number:

    match_schemas([add.Tensor, add.Scalar, ...], graph, range, [%x, %1], {})

`add.Tensor` does not match, but `add.Scalar` does. The result contains the result types and the inputs of the
node. The parameter alpha gets a new constant. If no schema matches, an error lists all of them.

A constant argument (`Literal`) becomes a node when a schema is tried, as in PyTorch.

All schemas are tried in two rounds with different conversions:

    first     number to list of fixed size (`int[2]`), tuple to list, empty list literal to any list type
    second    also Tensor to number, bool to int, str to device, trailing positional arguments to a list
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ts.errors import CompilationError, SchemaMatchError
from ts.frontend import hints
from ts.frontend.sugared_values.builtin_functions import builtin_functions
from ts.ir.graph import Graph
from ts.ir.node import Node
from ts.ir.schema import Argument, FunctionSchema, parse_schema
from ts.ir.source import BuiltinRange, SourceRange
from ts.ir.types import (
    ANY,
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STR,
    TENSOR,
    ListType,
    OptionalType,
    TupleType,
    Type,
    VarType,
    match_type_variables,
    substitute,
    why_not_implemented,
)  # fmt: skip
from ts.ir.value import Value
from ts.ops import registry


class Literal(NamedTuple):
    """Argument of a call that is a Python constant.

    `type` is the type of the constant. It is None if `value` determines the type.
    """

    value: Any
    type: Type | None = None

    def insert(self, graph: Graph) -> Value:
        """Insert the constant at the graph's insertion point, and return its value."""
        return graph.insert_constant(self.value, type=self.type)


Actual = Value | Literal


class MatchedSchema(NamedTuple):
    """Matched call: the node's inputs in the order of the schema, and the result types."""

    inputs: list[Value]
    returns: list[Type]


# ---- construction and unpacking of tuples and lists ------------------------------------------------


def construct_tuple(graph: Graph, values: list[Value], type: TupleType | None = None) -> Value:
    """Insert a `prim::TupleConstruct` of values."""
    node = graph.insert_node(graph.create("prim::TupleConstruct", values))
    return node.output().set_type(type or TupleType(tuple(v.type() for v in values)))


def construct_list(graph: Graph, elem: Type, values: Sequence[Value]) -> Value:
    """Insert a `prim::ListConstruct` of values."""
    node = graph.insert_node(graph.create("prim::ListConstruct", values))
    return node.output().set_type(ListType(elem))


def unpack_tuple(graph: Graph, value: Value) -> list[Value]:
    """Return the elements of a tuple: the inputs of its `prim::TupleConstruct`, or new unpacked values."""
    if value.node().kind() == "prim::TupleConstruct":
        return list(value.node().inputs())
    tuple_type = value.type()
    assert isinstance(tuple_type, TupleType)
    node = graph.insert_node(graph.create("prim::TupleUnpack", (value,), len(tuple_type.elems)))
    for output, elem in zip(node.outputs(), tuple_type.elems, strict=True):
        output.set_type(elem)
    return list(node.outputs())


def _unwrap_optional(type: Type) -> Type:
    return type.elem if isinstance(type, OptionalType) else type


def convertible_to_list(type: Type, target: Type) -> bool:
    """Return whether a list or tuple of type `type` can be converted to the list type `target`."""
    if not isinstance(target, ListType):
        return False
    if type.is_subtype_of(target):
        return True
    return isinstance(type, TupleType) and all(elem.is_subtype_of(target.elem) for elem in type.elems)


# ---- implicit conversions --------------------------------------------------------------------------

_FROM_TENSOR: dict[Type, str] = {
    FLOAT: "aten::FloatImplicit",
    COMPLEX: "aten::ComplexImplicit",
    INT: "aten::IntImplicit",
    NUMBER: "aten::ScalarImplicit",
}
_FROM_NUMBER: dict[Type, str] = {FLOAT: "aten::Float", COMPLEX: "aten::Complex", INT: "aten::Int"}


def convert_to_type(
    range: SourceRange | None, graph: Graph, target: Type, value: Value, allow_conversions: bool
) -> Value:
    """Convert `value` implicitly to type `target`. Return `value` unchanged if no conversion applies."""
    type = value.type()
    if type is target:
        return value
    if isinstance(target, OptionalType) and not isinstance(type, OptionalType) and type is not NONE:
        return convert_to_type(range, graph, target.elem, value, allow_conversions)
    if value.node().kind() == "prim::EmptyListLiteral" and isinstance(target, ListType):
        value = construct_list(graph, target.elem, ())
    if isinstance(type, TupleType):
        plain = _unwrap_optional(target)
        if isinstance(plain, ListType) and convertible_to_list(type, plain):
            value = construct_list(graph, plain.elem, unpack_tuple(graph, value))
        if (
            isinstance(target, TupleType)
            and not type.is_subtype_of(target)
            and len(target.elems) == len(type.elems)
        ):
            elements = unpack_tuple(graph, value)
            value = construct_tuple(
                graph,
                [
                    convert_to_type(range, graph, elem, element, allow_conversions)
                    for elem, element in zip(target.elems, elements, strict=True)
                ],
            )
    if allow_conversions:
        name = None
        type = value.type()
        if type.is_subtype_of(TENSOR):
            name = _FROM_TENSOR.get(target)
        elif type is NUMBER:
            name = _FROM_NUMBER.get(target)
        elif type is BOOL:
            name = "aten::Int" if target is INT or target is NUMBER else None
            name = "aten::Float" if target is FLOAT else name
        elif type is STR and target is DEVICE:
            name = "aten::device"
        if name is not None:
            return emit_builtin_call(range, graph, name, [value])
    return value


# ---- matching of arguments to a schema -------------------------------------------------------------


class _Mismatch(Exception):
    """Schema mismatch, with the reason as message."""


class _Matcher:
    """Attempt to match the arguments of a call to one schema."""

    def __init__(
        self, schema: FunctionSchema, graph: Graph, range: SourceRange | None, allow_conversions: bool
    ) -> None:
        self.schema = schema
        self.graph = graph
        self.range = range
        self.allow_conversions = allow_conversions
        self.variables: dict[str, Type] = {}
        self.inputs: list[Value] = []  # graph values of the matched arguments, in the order of the schema

    def match(
        self, args: Sequence[Actual], kwargs: Mapping[str, Actual], self_value: Actual | None
    ) -> MatchedSchema:
        arguments = self.schema.arguments
        inputs = self.inputs
        used = 0
        used_names = set()
        for i, formal in enumerate(arguments):
            actual: Actual
            if self_value is not None and formal.name == "self":
                actual, self_value = self_value, None
            elif not formal.kwarg_only and used < len(args):
                if self.allow_conversions and _is_variadic_list(arguments, i):
                    first = self._value(args[used])
                    target = _unwrap_optional(formal.type)
                    assert isinstance(target, ListType)
                    is_list = isinstance(first.type(), ListType) or convertible_to_list(first.type(), target)
                    if not is_list:
                        inputs.append(self._list(target.elem, [first, *args[used + 1 :]]))
                        used = len(args)
                        continue
                    actual = first
                else:
                    actual = args[used]
                used += 1
            elif (name := self._keyword(formal, kwargs)) is not None:
                used_names.add(name)
                actual = kwargs[name]
            elif formal.has_default:
                empty = formal.default == []
                if formal.default is None and formal.type.is_subtype_of(TENSOR):
                    raise _Mismatch(
                        f"Argument {formal.name} not provided: its default None is not a Tensor.\n"
                    )
                actual = Literal(formal.default, _unwrap_optional(formal.type) if empty else None)
            else:
                raise _Mismatch(f"Argument {formal.name} not provided.\n")
            inputs.append(self._argument(formal, actual))
        if self_value is not None:
            raise _Mismatch("Provided self argument not used in schema.\n")
        if self.schema.is_vararg:
            inputs += [self._value(arg) for arg in args[used:]]
        elif used < len(args):
            raise _Mismatch(
                f"Expected at most {used} arguments but found {len(args)} positional arguments.\n"
            )
        for name in kwargs:
            if name not in used_names:
                if any(formal.name == name for formal in arguments):
                    raise _Mismatch(f"Keyword argument {name} specified twice.\n")
                raise _Mismatch(f"Keyword argument {name} unknown.\n")
        returns = []
        for result in self.schema.returns:
            type = substitute(result.type, self.variables)
            if type is None:
                raise _Mismatch(f"Type variables in {result.type.repr_str} could not be inferred.")
            returns.append(type)
        return MatchedSchema(inputs, returns)

    def _keyword(self, formal: Argument, kwargs: Mapping[str, Actual]) -> str | None:
        """Return the keyword in `kwargs` that sets parameter `formal`, or None if no keyword does.

        This is the name of the parameter. For parameter `self` of an operator, it can also be `input`.
        """
        if formal.name in kwargs:
            return formal.name
        is_renamed = formal.name == "self" and "input" in kwargs and self.schema.name.startswith("aten::")
        return "input" if is_renamed else None

    def _value(self, actual: Actual) -> Value:
        if isinstance(actual, Value):
            return actual
        value = self.graph.try_insert_constant(actual.value, type=actual.type)
        if value is None:  # the default of a named tuple field may be an unsupported object
            raise _Mismatch(f"A default of class {actual.value.__class__.__name__} cannot be a constant.\n")
        return value

    def _list(self, elem: Type, actuals: Sequence[Actual]) -> Value:
        formal = Argument("<varargs>", elem)
        return construct_list(self.graph, elem, [self._argument(formal, actual) for actual in actuals])

    def _argument(self, formal: Argument, actual: Actual) -> Value:
        value = self._value(actual)
        type = value.type()
        expected = formal.type
        if type is expected:
            return value
        target = _unwrap_optional(expected)
        if formal.size is not None and isinstance(target, ListType) and type is target.elem:
            value = construct_list(self.graph, type, [value] * formal.size)
            type = value.type()
        matched = match_type_variables(expected, type, self.variables)
        if matched is not True:
            raise _Mismatch(
                f"Could not match type {type.repr_str} to {expected.repr_str} "
                f"in argument '{formal.name}': {matched}.\n"
            )
        concrete = substitute(expected, self.variables)
        if concrete is None:
            raise _Mismatch(
                f"Type variables in type {expected.repr_str} could not be inferred "
                f"from actual type {type.repr_str}"
            )
        value = convert_to_type(self.range, self.graph, concrete, value, self.allow_conversions)
        if not value.type().is_subtype_of(concrete):
            raise _Mismatch(_type_mismatch(formal, concrete, value))
        return value


def _is_variadic_list(arguments: Sequence[Argument], i: int) -> bool:
    """Return whether parameter `i` accepts all remaining positional arguments as a list: `ones(2, 3)`."""
    formal = arguments[i]
    if i + 1 < len(arguments) and not arguments[i + 1].kwarg_only:
        return False
    return (
        isinstance(formal.type, ListType)
        and formal.size is None
        and not isinstance(formal.type.elem, VarType)
        and formal.type.elem is not ANY  # otherwise `len(x)` would match the list overload as `len([x])`
    )


def _type_mismatch(formal: Argument, expected: Type, value: Value) -> str:
    type = value.type()
    message = (
        f"Expected a value of type '{formal.type.repr_str}' for argument '{formal.name}' "
        f"but instead found type '{type.repr_str}'.\n"
    )
    if getattr(formal.type, "inferred", False):
        message += (
            f"Inferred '{formal.name}' to be of type 'Tensor' "
            "because it was not annotated with an explicit type.\n"
        )
    if getattr(type, "inferred", False):
        message += (
            f"Inferred the value for argument '{formal.name}' to be of type 'Tensor' "
            "because it was not annotated with an explicit type.\n"
        )
    if isinstance(type, ListType) and type.elem.is_subtype_of(TENSOR):
        message += (
            "Empty lists default to List[Tensor]. Add a variable annotation to the assignment to create an "
            "empty list of another type (torch.jit.annotate(List[T, []]) where T is the type of elements in "
            "the list for Python 2)\n"
        )
    return message + why_not_implemented(type, expected)


def match_schema(
    schema: FunctionSchema,
    graph: Graph,
    range: SourceRange | None,
    args: Sequence[Actual],
    kwargs: Mapping[str, Actual] | None = None,
    self: Actual | None = None,
) -> MatchedSchema:
    """Match the arguments to `schema`, with implicit conversions. Raise CompilationError on a mismatch."""
    try:
        return _Matcher(schema, graph, range, True).match(args, kwargs or {}, self)
    except _Mismatch as mismatch:
        reason = str(mismatch).rstrip("\n")
        hint = _hint([schema], [*args] if self is None else [self, *args], kwargs or {}, reason, reason)
        raise SchemaMatchError(f"\n{schema}:\n{reason}\n", range, hint) from None


def _hint(
    schemas: Sequence[FunctionSchema],
    args: Sequence[Actual],
    kwargs: Mapping[str, Actual],
    reason: str,
    listed_mismatches: str,
) -> str:
    """Return the hint of the error for mismatched arguments.

    `reason` describes all mismatches. `listed_mismatches` is the part of `reason` that the error message
    shows.
    """
    parameter_names = dict.fromkeys(argument.name for schema in schemas for argument in schema.arguments)
    unknown = next((name for name in kwargs if name not in parameter_names), None)
    if unknown is not None:
        return hints.keyword(unknown, parameter_names, listed_mismatches)
    return hints.argument([arg for arg in (*args, *kwargs.values()) if isinstance(arg, Value)], reason)


# Overloads that are never selected. For example, a dtype has type int in schemas, so that `x.view(4)` would
# match the overload `view.dtype`.
_NEVER_CALLED = frozenset({("aten::view", "dtype"), ("aten::max", "unary_out"), ("aten::min", "unary_out")})
_PLAIN = frozenset({TENSOR, INT, FLOAT, BOOL, STR, NUMBER})


_Numbered = tuple[int, FunctionSchema]
# (operator name, number of overloads, type of the first argument, True if the first argument is `self`) ->
# (index, schema) pairs of the overloads that may match
_candidate_schema_cache: dict[tuple[str, int, Type, bool], tuple[_Numbered, ...]] = {}


def _candidate_schemas(
    schemas: Sequence[FunctionSchema], args: Sequence[Actual], self: Actual | None
) -> Iterable[_Numbered]:
    """Return (index, schema) pairs for the schemas in `schemas` that may accept the first argument."""
    first = self if self is not None else args[0] if args else None
    name = schemas[0].name
    if not isinstance(first, Value) or first.type() not in _PLAIN or "::" not in name:
        return enumerate(schemas)
    key = (name, len(schemas), first.type(), self is not None)
    candidates = _candidate_schema_cache.get(key)
    if candidates is None:
        candidates = _candidate_schema_cache[key] = tuple(
            (i, schema)
            for i, schema in enumerate(schemas)
            if not schema.arguments
            or _accepts_first_argument(schema.arguments[0], first.type(), self is not None)
        )
    return candidates


def _accepts_first_argument(formal: Argument, type: Type, is_self: bool) -> bool:
    if formal.kwarg_only or formal.size is not None or (is_self and formal.name != "self"):
        return True
    return formal.type.has_free_variables() or type.is_subtype_of(formal.type)


def match_schemas(
    schemas: Sequence[FunctionSchema],
    graph: Graph,
    range: SourceRange | None,
    args: Sequence[Actual],
    kwargs: Mapping[str, Actual] | None = None,
    self: Actual | None = None,
) -> tuple[int, MatchedSchema]:
    """Return the index and the match of the first schema that accepts the arguments.

    Raise CompilationError if no schema accepts them.
    """
    kwargs = kwargs or {}
    if len(schemas) == 1:
        return 0, match_schema(schemas[0], graph, range, args, kwargs, self)
    failures: list[tuple[int, str]] = []  # for each overload: number of arguments that matched, error message
    for allow_conversions in (False, True):
        failures = []
        tried = enumerate(schemas) if allow_conversions else _candidate_schemas(schemas, args, self)
        for i, schema in tried:
            if (schema.name, schema.overload_name) in _NEVER_CALLED:
                continue
            matcher = _Matcher(schema, graph, range, allow_conversions)
            try:
                return i, matcher.match(args, kwargs, self)
            except _Mismatch as mismatch:
                failures.append((len(matcher.inputs), f"\n{schema}:\n{mismatch}"))
    reason, listed_mismatches = _indented(message for _, message in failures), _closest_mismatches(failures)
    raise SchemaMatchError(
        "Arguments for call are not valid.\nThe following variants are available:\n"
        f"{listed_mismatches}\nThe original call is",
        range,
        _hint(schemas, [*args] if self is None else [self, *args], kwargs, reason, listed_mismatches),
    )


_MAX_LISTED_OVERLOADS: Final = 6  # maximum number of overloads in an error message


def _closest_mismatches(failures: Sequence[tuple[int, str]]) -> str:
    """Return a text with the reasons why no schema matches a call.

    `failures` has a pair for each schema: number of matched arguments, mismatch message. If there are more
    than `_MAX_LISTED_OVERLOADS` schemas, only the messages of the schemas with the most matched arguments are
    listed.
    """
    if len(failures) <= _MAX_LISTED_OVERLOADS:
        return _indented(message for _, message in failures)
    max_matched = max(matched for matched, _ in failures)
    closest = [message for matched, message in failures if matched == max_matched][:_MAX_LISTED_OVERLOADS]
    rest = len(failures) - len(closest)
    return f"{_indented(closest)}  \n  and {rest} other overloads, which match no better.\n"


def _indented(texts: Iterable[str]) -> str:
    return "".join(f"  {line}\n" for line in "".join(texts).rstrip("\n").split("\n"))


# ---- operators without operator records -------------------------------------------------------------


class LanguageOperator(NamedTuple):
    """Operator that the interpreter implements and that has no operator record."""

    schema: FunctionSchema


_LANGUAGE_OPERATORS = {
    schema.name: (LanguageOperator(schema),) for schema in [parse_schema("aten::is_scripting() -> bool")]
}


def candidates(name: str) -> Sequence[Any]:
    """Return the overloads of operator `name`, in the order in which they are tried."""
    return _LANGUAGE_OPERATORS.get(name) or registry.lookup(name)


# ---- insertion of operator calls -------------------------------------------------------------------


# Cache of selected overloads: (operator name, number of overloads, argument types) -> (overload index, result
# type). Contains only calls in which all arguments are graph values and need no conversion.
_plain_calls: dict[tuple[object, ...] | None, tuple[int, Type]] = {}
_PLAIN_IDS = frozenset(map(id, _PLAIN))


def _key_of_call(name: str, overloads: int, args: Sequence[Actual]) -> tuple[object, ...] | None:
    """Return the cache key of a call, or None if its argument types do not determine the overload."""
    types = []
    for arg in args:
        type = id(arg.type()) if isinstance(arg, Value) else 0
        if type not in _PLAIN_IDS:
            return None
        types.append(type)
    return (name, overloads, *types)


def emit_builtin_call(
    range: SourceRange | None,
    graph: Graph,
    name: str,
    args: Sequence[Actual],
    kwargs: Mapping[str, Actual] | None = None,
    self: Actual | None = None,
) -> Value:
    """Insert a call of the overload of operator `name` that matches the arguments, and return its result.

    Several results are packed into a tuple.
    """
    operators = candidates(name)
    key = None if kwargs or self is not None else _key_of_call(name, len(operators), args)
    if key in _plain_calls:
        index, returned = _plain_calls[key]
        plain = MatchedSchema([arg for arg in args if isinstance(arg, Value)], [returned])
        return insert_operator(graph, name, plain, range, operators[index]).output()
    numbered = graph.numbered()
    functions = builtin_functions(name)
    schemas = [operator.schema for operator in operators] + [function.schema for function in functions]
    if not schemas:
        raise CompilationError(
            f"Unknown builtin op: {name}.\nCould not find any similar ops to {name}. "
            "This op may not exist or may not be currently supported in TorchScript.\n",
            range,
        )
    index, matched = match_schemas(schemas, graph, range, args, kwargs, self)
    if index >= len(operators):
        return _insert_builtin(graph, functions[index - len(operators)].graph, matched.inputs, range)
    if key is not None and len(matched.returns) == 1 and graph.numbered() == numbered:
        _plain_calls[key] = index, matched.returns[0]
    outputs = insert_operator(graph, name, matched, range, operators[index]).outputs()
    if len(outputs) == 1:
        return outputs[0]
    names = [result.name for result in operators[index].schema.returns]
    is_named_tuple = bool(outputs) and len(names) == len(outputs) and all(names)
    type = TupleType([output.type() for output in outputs], fields=names) if is_named_tuple else None
    return construct_tuple(graph, list(outputs), type)


def _insert_builtin(graph: Graph, body: Graph, inputs: Sequence[Value], range: SourceRange | None) -> Value:
    """Insert a copy of `body`, the graph of a builtin script function, and return its result.

    `range` is the source range of the call. It is added to the source ranges of the copied nodes.
    """
    previous_node = graph.insert_point().prev()
    result = graph.insert_graph(body, inputs)[0]
    if range is not None:
        node = graph.insert_point().prev()
        while node is not previous_node:
            # Nodes without a location, such as constants, keep no range
            if node.range is not None and node.range.location():
                node.range = BuiltinRange(node.range, range)
            node = node.prev()
    return result


def emit_builtin_statement(range: SourceRange, graph: Graph, name: str, args: Sequence[Actual]) -> None:
    """Insert a call of operator `name`, which has no results."""
    operators = candidates(name)
    index, matched = match_schemas([operator.schema for operator in operators], graph, range, args)
    insert_operator(graph, name, matched, range, operators[index])


def insert_operator(
    graph: Graph, name: str, matched: MatchedSchema, range: SourceRange | None, operator: Any
) -> Node:
    """Insert a node for a call of an operator with matched arguments."""
    node = graph.create(name, matched.inputs, 0)
    node.range = range
    graph.insert_node(node)
    for type in matched.returns:
        node.add_output(type=type)
    if not isinstance(operator, LanguageOperator):
        node.set_operator(operator)
    return node


def has_method(name: str, type: Type) -> bool:
    """Return whether an operator `name` accepts `type` as its `self`."""
    schemas = [operator.schema for operator in registry.lookup(name)]
    schemas += [function.schema for function in builtin_functions(name)]
    for schema in schemas:
        formal = next((a.type for a in schema.arguments if a.name == "self"), None)
        if formal is None:
            continue
        variables: dict[str, Type] = {}
        if match_type_variables(formal, type, variables) is True:
            concrete = substitute(formal, variables)
            if concrete is not None and type.is_subtype_of(concrete):
                return True
    return False
