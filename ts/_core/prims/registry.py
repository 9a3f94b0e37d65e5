"""All operators that are written in C: over numbers, strings, lists and dicts, and facts about tensors.

In: nothing.  Out: `operators()`, which the registry puts in order together with the records.
"""

from __future__ import annotations

from ts._core.dispatch.operator import Operator
from ts._core.prims import (  # type: ignore[attr-defined]  # without stubs: all they show is operators()
    comparison,
    container,
    dict,
    generic,
    joined,
    math,
    scalar,
    string,
    tensor,
)

_MODULES = (math, scalar, container, comparison, dict, string, generic, tensor, joined)


def operators() -> list[Operator]:
    """Every operator once, those of a module in the order of its table."""
    return [op for module in _MODULES for op in module.operators()]
