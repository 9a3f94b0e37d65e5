"""Operators by schema name, including those whose name in `ts` is a Python function (`torch._VF`).

Python code and scripts can call the operators. The example shows a function and the operator of the same
name:

    ts.unique_consecutive(x)          the function: values, and results selected by flags
    ts._VF.unique_consecutive(x)      the operator: always three tensors
"""

from __future__ import annotations

from typing import Any

from ts.ops import registry


def __getattr__(name: str) -> Any:
    from ts._core.dispatch.overloads import overloads

    if name.startswith("__") or not registry.records(f"aten::{name}"):
        raise AttributeError(f"module 'ts._VF' has no attribute '{name}'")
    function = globals()[name] = overloads(name)
    return function
