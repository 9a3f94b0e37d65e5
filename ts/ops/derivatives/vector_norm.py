"""Derivatives of vector norms. The derivative at a zero vector is zero."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.common import unsqueeze_reduced
from ts.ops.derivatives.formula_registry import compose, derive


def of_norm(
    grad: Tensor,
    x: Tensor,
    p: float,
    result: Tensor,
    dim: list[int] | None,
    keepdim: bool,
) -> Tensor | None:
    """Return the gradient of a p-norm, which is `grad` times x |x|^(p - 2) / norm^(p - 1).

    For p = inf, the elements with the largest magnitude get equal parts of `grad`. For p = -inf, these are
    the elements with the smallest magnitude. For p = 0, return None, because the norm is the number of
    nonzero elements.
    """
    expanded_grad, norm = (
        unsqueeze_reduced(grad, dim, keepdim),
        unsqueeze_reduced(result, dim, keepdim),
    )
    if p == 0:
        return None
    if p == 1:
        return expanded_grad * x.sgn()
    if p == 2:
        return expanded_grad * (x / norm).masked_fill(norm == 0, 0)
    if p == float("inf") or p == -float("inf"):
        size = x.abs()
        is_extremum = size == norm
        dims: list[int] = []
        count = is_extremum.sum(dims if dim is None else dim, True)
        return x.sgn() * (is_extremum / count * expanded_grad)
    if p < 1:
        share = x.sgn() * x.abs().pow(p - 1).masked_fill(x == 0, 0)
        return share * (expanded_grad * norm.pow(1 - p))
    scale = (expanded_grad / norm.pow(p - 1)).masked_fill(norm == 0, 0)
    if p < 2:
        return x.sgn() * x.abs().pow(p - 1) * scale
    return x * x.abs().pow(p - 2) * scale


derive("aten::linalg_vector_norm", self="of_norm(grad, self, float(ord), result, dim, keepdim)")
derive("aten::norm.Scalar", self="of_norm(grad, self, float(p), result, None, False)")
_P = "2.0 if p is None else float(p)"
for _overload, _dims, _name in (
    ("dim", "dim, keepdim", "NormBackward1"),
    ("dtype", "None, False", "NormBackward2"),
    ("dim_dtype", "dim, keepdim", "NormBackward3"),
):
    derive(
        f"aten::norm.ScalarOpt_{_overload}", self=f"of_norm(grad, self, {_P}, result, {_dims})", name=_name
    )


def of_distance(grad: Tensor, x: Tensor, p: float, result: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """Return the gradients of both points for their p-norm distance. `x` is the difference of the points."""
    gradient = of_norm(grad, x, p, result, None, False)
    return gradient, None if gradient is None else -gradient


derive("aten::dist", {"self, other": "of_distance(grad, self - other, float(p), result)"})


def renormalize_slices(x: Tensor, p: int | float | complex, dim: int, limit: int | float | complex) -> Tensor:
    """Scale the slices along `dim` whose norm exceeds `limit` to this norm."""
    rest = list(range(x.dim()))
    rest.pop(dim)
    norm = ts.linalg.vector_norm(x, p, rest, True)
    return x * ts.where(norm > limit, (norm + 1e-7).reciprocal() * limit, 1.0)


compose("aten::renorm", "renormalize_slices(self, p, dim, maxnorm)")
compose("aten::linalg__powsum", "self.abs().pow(ord).sum(dim, keepdim, dtype=dtype)")
compose("aten::native_norm", "ts.norm(self, p)")
compose("aten::native_norm.ScalarOpt_dim_dtype", "ts.norm(self, p, dim, keepdim, dtype=dtype)")
