"""Conversion of the arguments of nodes, and access to the source metadata of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts import dtypes
from ts.fx.node import Node


def values_of(x: Any, value: Callable[[Node], Any]) -> Any:
    """Return the argument `x` with each node in it replaced by `value(node)`."""
    if isinstance(x, Node):
        return value(x)
    if isinstance(x, list | tuple):
        values = [values_of(y, value) for y in x]
        return tuple(values) if isinstance(x, tuple) else values
    if isinstance(x, dict):
        return {k: values_of(y, value) for k, y in x.items()}
    if isinstance(x, slice):
        return slice(*(values_of(y, value) for y in (x.start, x.stop, x.step)))
    return x


def origin_of(node: Node | None) -> dict[str, Any]:
    """Return the source metadata of a node: `stack_trace` and `nn_module_stack`."""
    meta = {} if node is None else node.meta
    return {k: meta[k] for k in ("stack_trace", "nn_module_stack") if k in meta}


def readable(kind: str, x: Any) -> Any:
    """Return the dtype, layout or memory format for an integer code. `kind` names the type of the result.

    Return `x` unchanged if it is not an integer or `kind` is another type.
    """
    if type(x) is not int:
        return x
    if kind == "ScalarType":
        return dtypes.BY_CODE[x]
    if kind == "Layout":
        return dtypes.strided
    if kind == "MemoryFormat":
        return next(f for f in dtypes.MEMORY_FORMATS if f.code == x)
    return x
