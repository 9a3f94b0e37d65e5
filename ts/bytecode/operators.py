"""The operator of a node.

    %c : int = aten::add(%a, %b)          aten::add.int for two ints
"""

from __future__ import annotations

from typing import Any

from ts.errors import InternalError
from ts.ir.graph import Node
from ts.ir.types import Type, match_type_variables, substitute
from ts.ops import registry


def find_operator(node: Node) -> Any:
    """The operator of a node: the one that overload resolution chose, else the first that takes the inputs."""
    operator = node.operator()
    if operator is not None:
        return operator
    inputs = node.inputs()
    for candidate in registry.lookup(node.kind()):
        schema = candidate.schema
        if len(schema.arguments) != len(inputs) and not schema.is_vararg:
            continue
        env: dict[str, Type] = {}
        for argument, value in zip(schema.arguments, inputs, strict=False):
            formal = argument.type
            if match_type_variables(formal, value.type(), env) is not True:
                break
            formal = substitute(formal, env)
            if not value.type().is_subtype_of(formal):
                break
        else:
            node.set_operator(candidate)
            return candidate
    raise InternalError(f"no operator {node.kind()}({', '.join(str(v.type()) for v in inputs)})", "lowering")
