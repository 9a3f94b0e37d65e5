"""Derivatives of autograd operators, which need no formulas: `create_graph` records the backward pass."""

from __future__ import annotations

from ts.ops.derivatives.formula_registry import constant

constant("aten::grad prim::grad", "the gradient has a separate autograd graph")
