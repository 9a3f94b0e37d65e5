"""Derivatives of unique operators: backward raises an error, as in PyTorch."""

from __future__ import annotations

from ts.ops.derivatives.common import underivable  # the formulas below contain this name
from ts.ops.derivatives.formula_registry import derive

for _name in ("_unique2", "_unique", "unique_dim", "unique_consecutive", "unique_dim_consecutive"):
    derive(f"aten::{_name}", self=f"underivable('{_name}')", differentiable="result0")
