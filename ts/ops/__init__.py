"""Operator records, by family; and `ts.ops.aten`, the operators by their full names."""

from typing import Any

aten: Any  # these are made when somebody asks for them
prim: Any
profiler: Any


def __getattr__(name: str) -> Any:
    if name in ("aten", "prim", "profiler"):
        from ts.ops.namespace import Namespace

        found = globals()[name] = Namespace(name)
        return found
    if name == "OpNamespace":
        from ts.ops.namespace import Namespace

        return Namespace
    raise AttributeError(f"module 'ts.ops' has no attribute '{name}'")
