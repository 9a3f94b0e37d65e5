"""Registry of the built-in operators: on numbers, strings, lists and dicts, and on tensor metadata.

The first lookup of a name imports the module of the operator. Two functions look up built-in operators:

    named("aten::len")       the built-in overloads of a name
    operators()              all built-in operators

`ts.ops.registry` contains the other operators, which are defined by operator records. A name may have
built-in overloads and overloads with operator records.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ts._core.builtin_ops.op_index import OPERATOR_TO_MODULES
from ts._core.dispatch.operator import Operator

MODULES = (
    "math",
    "scalar",
    "container",
    "comparison",
    "dict",
    "string",
    "generic_ops",
    "tensor",
    "variadic_ops",
)


def operators() -> list[Operator]:
    """Return every operator once. Operators of one module are in the order of its table."""
    return [op for module in MODULES for group in _of_module(module).values() for op in group]


def named(name: str) -> list[Operator]:
    """Return the overloads of the built-in operator `name`, or an empty list if there are none."""
    return [op for module in OPERATOR_TO_MODULES.get(name, ()) for op in _of_module(module)[name]]


@cache
def _of_module(module: str) -> dict[str, list[Operator]]:
    operators: dict[str, list[Operator]] = {}
    for operator in import_module(f"ts._core.builtin_ops.{module}").operators():
        operators.setdefault(operator.name, []).append(operator)
    return operators
