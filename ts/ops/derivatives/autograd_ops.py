"""Passes back are no steps of a computation: with `create_graph` they record what they do themselves."""

from __future__ import annotations

from ts.ops.derivatives.formula_registry import constant

constant("aten::grad prim::grad", "a gradient has its own history")
