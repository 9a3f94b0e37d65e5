"""Named tuple classes of operator results.

For example, `type(ts.max(x, 0))` is `ts.return_types.max`. Each class has the name of its operator, and is a
node type of `ts.utils._pytree`.
"""

from __future__ import annotations

from typing import Any

from ts._core.dispatch.result_tuples import results_class
from ts.ops import registry

__all__ = ["pytree_register_structseq"]


def __getattr__(name: str) -> Any:
    if name == "all_return_types":
        return [
            result_class
            for operator in registry.python_names("m")
            if (result_class := _class_of(operator)) is not None
        ]
    result_class = None if name.startswith("__") else _class_of(name.removesuffix("_out"))
    if result_class is None:
        raise AttributeError(f"module 'ts.return_types' has no attribute '{name}'")
    globals()[name] = result_class
    return result_class


def _class_of(operator: str) -> type | None:
    for overload in registry.lookup(f"aten::{operator}"):
        names = tuple(r.name for r in overload.signature.returns)
        if len(names) > 1 and all(names) and not any(p.written for p in overload.signature.parameters):
            return results_class(f"aten::{operator}", names)
    return None


def pytree_register_structseq(cls: type) -> None:
    """Do nothing, because named tuples of results are always nodes of pytrees."""
