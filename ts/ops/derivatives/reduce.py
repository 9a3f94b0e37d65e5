"""Derivatives of reductions: the gradient is expanded to the shape of the argument."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.common import (
    chosen,
    product_of_others,
    scatter_gradient,
    shared_by_all,
    spread,
    unsqueeze_reduced,
)
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive

# ---------------------------------------------------------------------------------------- sums

derive(
    "aten::sum.dim_IntList", self="spread(grad, self.size(), dim, keepdim)",
    result=LINEAR, name="SumBackward1",
)  # fmt: skip
derive("aten::sum", self="grad.expand(self.size())", result=LINEAR)
derive(
    "aten::nansum", self="spread(grad, self.size(), dim, keepdim) * self.isnan().logical_not()",
    result="self_t.masked_fill(self.isnan(), 0).sum(dim, keepdim)",
)  # fmt: skip


def of_product(grad: Tensor, x: Tensor, result: Tensor, dim: int) -> Tensor:
    """Return the gradient of a product along `dim`.

    The factor of `grad` for an element is the product of all other elements. If no element is zero, it is
    computed as result / element.
    """
    if bool(ts._is_any_true(x == 0)):
        return grad * product_of_others(x, dim).conj()
    return grad * (result / x).conj()


def of_full_product(grad: Tensor, x: Tensor, result: Tensor) -> Tensor:
    """Return the gradient of the product of all elements."""
    return of_product(grad, x.reshape(-1), result, 0).reshape(x.size())


derive("aten::prod", self="of_full_product(grad, self, result)")
derive(
    "aten::prod.dim_int", name="ProdBackward1",
    self=(
        "of_product(unsqueeze_reduced(grad, [dim], keepdim), self, "
        "unsqueeze_reduced(result, [dim], keepdim), dim)"
    ),
)  # fmt: skip


def of_mean(grad: Tensor, sizes: list[int], count: int, dim: list[int] | None, keepdim: bool) -> Tensor:
    """Return the gradient of the input of a mean, a tensor of shape `sizes`.

    It is `grad` divided by the number of elements from which each mean is computed. `count` is the number of
    all elements of the input.
    """
    return spread(grad / (count // max(grad.numel(), 1)), sizes, dim, keepdim)


derive("aten::mean", self="(grad / self.numel()).expand(self.size())", result=LINEAR)
derive(
    "aten::mean.dim", self="of_mean(grad, self.size(), self.numel(), dim, keepdim)",
    result=LINEAR, name="MeanBackward1",
)  # fmt: skip


def mean_of_numbers(x: Tensor, dim: list[int] | None, keepdim: bool, dtype: int | None) -> Tensor:
    """Return the mean of elements that are not NaN."""
    constant = x.detach()
    count = (constant != constant).logical_not().sum(dim, keepdim)
    return ts.nansum(x, dim, keepdim, dtype=dtype) / count


compose("aten::nanmean", "mean_of_numbers(self, dim, keepdim, dtype)")

# ---------------------------------------------------------------------------- variance and standard deviation


def of_variance(grad: Tensor, x: Tensor, dim: list[int] | None, correction: float, keepdim: bool) -> Tensor:
    """Return the gradient of the variance: 2 * (x - mean) / degrees of freedom, times `grad`."""
    mean = x.mean(dim, True)
    count = x.numel() // max(mean.numel(), 1)
    freedom = count - correction
    expanded_grad = unsqueeze_reduced(grad, dim, keepdim)
    if freedom <= 0:
        return expanded_grad * ts.where(x == mean, float("nan"), float("inf"))
    return expanded_grad * (x - mean) * (2 / freedom)


def of_deviation(
    grad: Tensor,
    x: Tensor,
    result: Tensor,
    dim: list[int] | None,
    correction: float,
    keepdim: bool,
) -> Tensor:
    """Return the gradient of a standard deviation, computed by the gradient of the variance.

    The gradient is 0 where the standard deviation is 0.
    """
    half = (grad / (result * 2)).masked_fill(result == 0, 0)
    return of_variance(half, x, dim, correction, keepdim)


_VARIANCE_ARGUMENTS = {
    "": "None, float(unbiased), False",
    ".dim": "dim, float(unbiased), keepdim",
    ".correction": "dim, 1.0 if correction is None else float(correction), keepdim",
}
for _overload, _arguments in _VARIANCE_ARGUMENTS.items():
    _dims = "None, False" if not _overload else "dim, keepdim"
    _mean = f"of_mean(grad1, self.size(), self.numel(), {_dims})"
    derive(f"aten::var{_overload}", self=f"of_variance(grad, self, {_arguments})")
    derive(f"aten::std{_overload}", self=f"of_deviation(grad, self, result, {_arguments})")
    derive(f"aten::var_mean{_overload}", self=f"of_variance(grad0, self, {_arguments}) + {_mean}")
    derive(f"aten::std_mean{_overload}", self=f"of_deviation(grad0, self, result0, {_arguments}) + {_mean}")

# ---------------------------------------------------------------------------------------- minimum and maximum


def distribute_to_extrema(grad: Tensor, x: Tensor, extremum: Tensor, dim: list[int], keepdim: bool) -> Tensor:
    """Return the gradient of `x`, where `extremum` is the maximum or minimum over the dimensions `dim`.

    If several elements equal `extremum`, each gets an equal part of `grad`.
    """
    is_extremum = x == unsqueeze_reduced(extremum, dim, keepdim)
    return unsqueeze_reduced(grad, dim, keepdim) * is_extremum / is_extremum.sum(dim, True)


derive("aten::amax aten::amin", self="distribute_to_extrema(grad, self, result, dim, keepdim)")


def shared_along(grad: Tensor, x: Tensor, extremum: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    """Return the gradient of `x`, where `extremum` is the maximum or minimum along `dim`.

    If `dim` is None, it is that of all elements. Elements that equal `extremum` get equal parts of `grad`.
    """
    dims: list[int] = []
    return distribute_to_extrema(grad, x, extremum, dims if dim is None else [dim], keepdim)


derive(
    "aten::aminmax",
    self="shared_along(grad_min, self, min, dim, keepdim) + shared_along(grad_max, self, max, dim, keepdim)",
)
compose("aten::_aminmax", "ts.aminmax(self)")
compose("aten::_aminmax.dim", "ts.aminmax(self, dim=dim, keepdim=keepdim)")
compose("aten::max.other", "ts.maximum(self, other)")
compose("aten::min.other", "ts.minimum(self, other)")
for _name, _title in (("max", "Max"), ("min", "Min")):
    derive(f"aten::{_name}", self="shared_by_all(grad, self, result)", name=f"{_title}Backward1")
    derive(
        f"aten::{_name}.dim", self="scatter_gradient(grad, self.size(), dim, indices, keepdim)",
        result={"values": "chosen(self_t, dim, indices, keepdim)"},
    )  # fmt: skip

# ---------------------------------------------------------------------------------------- other reductions

derive(
    "aten::logsumexp",
    self=(
        "unsqueeze_reduced(grad, dim, keepdim) * "
        "(self - unsqueeze_reduced(result, dim, keepdim)).exp().conj()"
    ),
)
derive("aten::trace", self="grad * ts.eye(self.size(0), self.size(1), dtype=grad.dtype, device=grad.device)")
