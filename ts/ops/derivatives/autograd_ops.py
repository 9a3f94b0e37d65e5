"""Derivatives of autograd operators: with `create_graph`, backward passes record their own operations."""

from __future__ import annotations

from ts.ops.derivatives.formula_registry import constant

constant("aten::grad prim::grad", "a gradient has its own history")
