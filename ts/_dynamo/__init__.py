"""API of TorchDynamo, PyTorch's bytecode compiler, which `ts` does not have.

`ts` compiles only on request, so functions that disable or annotate compilation have no effect. For example,
the decorator `ts._dynamo.disable` returns the function itself. Functions that request compiled code
(`optimize`, `export`, `explain`) raise NotImplementedError. `is_compiling()` returns True during an export.
"""

from __future__ import annotations

from typing import Any

from ts._dynamo import exc
from ts.compiler import allow_in_graph, assume_constant_result, disable, is_compiling
from ts.unsupported import names_for

__all__ = [
    "allow_in_graph", "assume_constant_result", "disable", "disallow_in_graph", "exc", "forbid_in_graph",
    "graph_break", "is_compiling", "mark_dynamic", "mark_static", "mark_static_address", "maybe_mark_dynamic",
    "reset",
]  # fmt: skip


def disallow_in_graph(fn: Any) -> Any:
    """Return the function unchanged."""
    return fn


def forbid_in_graph(fn: Any) -> Any:
    """Return the function unchanged."""
    return fn


def graph_break(msg: str = "") -> None:
    """Do nothing: `ts` has no Dynamo graph to break."""


def mark_dynamic(t: Any, index: Any, **options: Any) -> None:
    """Do nothing: no dimension is assumed static."""


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Do nothing: no dimension is assumed static."""


def mark_static(t: Any, index: Any = None) -> None:
    """Do nothing: compiled code is not specialized by marks on dimensions."""


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Do nothing: compiled code does not depend on tensor addresses."""


def reset() -> None:
    """Do nothing: this module caches no compiled code."""


__getattr__ = names_for(__name__)
