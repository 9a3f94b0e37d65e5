"""Derivatives of sorting and order statistics: gradients are scattered to the selected elements."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.common import chosen, scatter_gradient, shared_by_all, underivable
from ts.ops.derivatives.formula_registry import compose, constant, derive

_ALL = {"values": "chosen(self_t, dim, indices, True)"}
_ONE = {"values": "chosen(self_t, dim, indices, keepdim)"}

derive(
    "aten::sort aten::topk",
    self="scatter_gradient(grad, self.size(), dim, indices, True)",
    result=_ALL,
)
derive(
    "aten::sort.stable", self="scatter_gradient(grad, self.size(), dim, indices, True)", result=_ALL,
    name="SortBackward1",
)  # fmt: skip
compose("aten::msort", "self.sort(0)[0]")
derive(
    "aten::kthvalue aten::mode",
    self="scatter_gradient(grad, self.size(), dim, indices, keepdim)",
    result=_ONE,
)
derive("aten::median aten::nanmedian", self="shared_by_all(grad, self, result)")
derive(
    "aten::median.dim", self="scatter_gradient(grad, self.size(), dim, indices, keepdim)", result=_ONE,
    name="MedianBackward1",
)  # fmt: skip
derive(
    "aten::nanmedian.dim", self="scatter_gradient(grad, self.size(), dim, indices, keepdim)", result=_ONE,
    name="NanmedianBackward1",
)  # fmt: skip

# ---------------------------------------------------------------------------------------- quantiles


def ranks(values: Tensor, q: Tensor, ignore_nan: bool) -> Tensor:
    """Return the positions of the quantiles `q` in each sorted row of `values`, as fractional indices.

    NaNs are at the end of a row. With `ignore_nan`, they do not count. Otherwise, if a row contains NaN, all
    its positions are the last index.
    """
    last = values.size(-1) - 1
    if ignore_nan:
        return q * (values.isnan().logical_not().sum(-1, True) - 1).clamp(min=0)
    return ts.where(values.select(-1, last).isnan().unsqueeze(-1), last, q * last)


def between(values: Tensor, at: Tensor, interpolation: str) -> Tensor:
    """Return `values` at the fractional indices `at`. `interpolation` selects how neighbors are combined."""
    if interpolation == "lower":
        return values.gather(-1, at.floor().to(ts.int64))
    if interpolation == "higher":
        return values.gather(-1, at.ceil().to(ts.int64))
    if interpolation == "nearest":
        return values.gather(-1, at.round().to(ts.int64))
    below = at.floor()
    low = values.gather(-1, below.to(ts.int64))
    high = values.gather(-1, at.ceil().to(ts.int64))
    return low.lerp(high, ts.full_like(at, 0.5) if interpolation == "midpoint" else at - below)


def among_sorted(
    x: Tensor, q: Tensor, dim: int | None, keepdim: bool, interpolation: str, ignore_nan: bool
) -> Tensor:
    """Compute the quantiles `q` of `x` along a dimension, by sorting `x`.

    If `q` is a vector, the result has an additional first dimension.
    """
    rows = x.reshape(-1) if dim is None or x.dim() == 0 else x.movedim(dim, -1)
    values = rows.sort(-1)[0]
    quantiles = between(values, ranks(values, q.reshape(-1), ignore_nan), interpolation)
    quantiles = quantiles.squeeze(-1) if q.dim() == 0 else quantiles.movedim(-1, 0)
    if not keepdim:
        return quantiles
    if dim is None or x.dim() == 0:
        return quantiles.reshape(q.size() + [1] * x.dim())
    return quantiles.unsqueeze(dim % x.dim() + q.dim())


def scalar_like(q: float, x: Tensor) -> Tensor:
    """Convert the quantile `q` to a tensor with the dtype and device of `x`."""
    return ts.tensor(q, dtype=x.dtype, device=x.device)


compose("aten::quantile", "among_sorted(self, q, dim, keepdim, interpolation, False)")
compose(
    "aten::quantile.scalar", "among_sorted(self, scalar_like(q, self), dim, keepdim, interpolation, False)"
)
compose("aten::nanquantile", "among_sorted(self, q, dim, keepdim, interpolation, True)")
compose(
    "aten::nanquantile.scalar", "among_sorted(self, scalar_like(q, self), dim, keepdim, interpolation, True)"
)

# ---------------------------------------------------------------------------------------- histograms

derive("aten::bincount", weights="underivable('aten::bincount')")
constant("aten::histc", "counts are integers")
