"""Derivatives of assertions, whose results (tokens) have no gradients."""

from __future__ import annotations

from ts.ops.derivatives.formula_registry import constant

constant(
    "aten::_functional_assert_async.msg aten::_functional_assert_scalar "
    "aten::_functional_sym_constrain_range aten::_functional_sym_constrain_range_for_size",
    "the result is a token without elements",
)
