"""All operators that are written in C: over numbers, strings, lists and dicts, and facts about tensors.

    named("aten::len")       those of a name, which the registry puts in order together with the records
    operators()              all

A module is imported when a name is asked for that it has operators of: which one that is, `directory` says.
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
    """Return every operator once, in table order within a module."""
    return [op for module in MODULES for group in _of_module(module).values() for op in group]


def named(name: str) -> list[Operator]:
    """Return the operators with that name."""
    return [op for module in OPERATOR_TO_MODULES.get(name, ()) for op in _of_module(module)[name]]


@cache
def _of_module(module: str) -> dict[str, list[Operator]]:
    found: dict[str, list[Operator]] = {}
    for operator in import_module(f"ts._core.builtin_ops.{module}").operators():
        found.setdefault(operator.name, []).append(operator)
    return found
