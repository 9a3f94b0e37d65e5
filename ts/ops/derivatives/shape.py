"""Derivatives of joining, repeating and rearranging: what happened to the elements, the other way round."""

from __future__ import annotations

from ts import Tensor
from ts.ops.derivatives.rows import LINEAR, derive

# ---------------------------------------------------------------------------------------- joined


def parts(grad: Tensor, tensors: list[Tensor], dim: int) -> list[Tensor]:
    """The part of each tensor; one of the shape (0,) is joined with all shapes and has none."""
    found: list[Tensor] = []
    at = 0
    for x in tensors:
        if x.dim() == 1 and x.numel() == 0:
            found.append(grad.new_zeros([0]))
        else:
            found.append(grad.narrow(dim, at, x.size(dim)))
            at += x.size(dim)
    return found


derive("aten::cat", tensors="parts(grad, tensors, dim)", result=LINEAR)
derive("aten::stack aten::_stack", tensors="grad.unbind(dim)", result=LINEAR)
