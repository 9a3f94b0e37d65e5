"""Operator lookup for graph nodes by kind and input types.

The lookup returns the first overload, in the order of the registry, that accepts the input types. It is used
for nodes from text or passes, and for nodes with changed inputs. For other nodes, the emitter has stored the
overload. Importing the module installs the lookup in `Node.operator()`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ts.ir.graph import Node, OperatorLookup, Value
from ts.ir.schema import FunctionSchema
from ts.ir.types import NoneType, Type, match_type_variables, substitute


def find_operator(node: Node) -> Any | None:
    """Return the operator overload for `node`, or None for control flow such as `prim::If`."""
    if node.blocks():
        return None
    types = tuple([value.type() for value in node.inputs()])
    find = _find if any(type.mentions_class() for type in types) else _find_cached
    candidates = find(node.kind(), types)
    # If several overloads accept the inputs, as for the value of an enum, select the overload by the node's
    # output type.
    if len(candidates) > 1 and node.outputs_size() == 1:
        result = node.output().type()
        return next(
            (o for o in candidates if o.schema.returns and o.schema.returns[0].type == result), candidates[0]
        )
    return candidates[0] if candidates else None


def _find(kind: str, types: tuple[Type, ...]) -> list[Any]:
    """Return all overloads of operator `kind` that accept inputs of `types`."""
    from ts.ops import registry

    return [operator for operator in registry.lookup(kind) if _accepts(operator.schema, types)]


_find_cached = lru_cache(maxsize=4096)(_find)


def _accepts(schema: FunctionSchema, inputs: tuple[Type, ...]) -> bool:
    arguments = schema.arguments
    if len(inputs) != len(arguments) and not (schema.is_vararg and len(inputs) >= len(arguments)):
        return False
    bindings: dict[str, Type] = {}
    for argument, actual in zip(arguments, inputs, strict=False):
        formal = argument.type
        if formal.has_free_variables():
            if match_type_variables(formal, actual, bindings) is not True:
                return False
            bound = substitute(formal, bindings)
            if bound is None and isinstance(actual, NoneType):
                continue  # a parameter of any optional type accepts None
            if bound is None:
                return False
            formal = bound
        if not actual.isSubtypeOf(formal):
            return False
    return True


def missing_defaults(kind: str, inputs: list[Value]) -> list[Any] | None:
    """Return the default values of the arguments that follow `inputs` in a call of the operator `kind`.

    Return None if no overload of the operator accepts the inputs.
    """
    from ts.ops import registry

    operators = list(registry.lookup(kind))
    types = tuple([value.type() for value in inputs])
    if not operators:
        return None if kind.startswith("aten::") else []
    if any(_accepts(operator.schema, types) for operator in operators):
        return []
    for operator in operators:
        rest = operator.schema.arguments[len(types) :]
        if rest and all(argument.has_default for argument in rest):
            first = FunctionSchema(kind, "", operator.schema.arguments[: len(types)])
            if _accepts(first, types):
                return [argument.default for argument in rest]
    return None


OperatorLookup.find = find_operator
OperatorLookup.with_defaults = missing_defaults
