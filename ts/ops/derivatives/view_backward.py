"""Derivatives of view backward operators: the corresponding view of the gradient."""

from __future__ import annotations

import ts  # the formulas below contain this name
from ts.ops.derivatives.formula_registry import LINEAR, derive

derive("aten::select_backward", grad_output="grad.select(dim, index)", result=LINEAR)
derive("aten::slice_backward", grad_output="ts.slice(grad, dim, start, end, step)", result=LINEAR)
derive("aten::diagonal_backward", grad_output="grad.diagonal(offset, dim1, dim2)", result=LINEAR)
derive("aten::unfold_backward", grad_in="grad.unfold(dim, size, step)", result=LINEAR)
