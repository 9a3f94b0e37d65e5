"""Derivatives of pointwise operators with three arguments, options, or several results."""

from __future__ import annotations

from typing import Optional, Union

import ts
from ts import Tensor
from ts.ops.derivatives.common import mul_conj
from ts.ops.derivatives.formula_registry import ELEMENTWISE, LINEAR, derive

# ------------------------------------------------------------------------------ operators with three operands

derive(
    "aten::addcmul", self="grad", tensor1="mul_conj(grad * tensor2.conj(), value)",
    tensor2="mul_conj(grad * tensor1.conj(), value)", result=ELEMENTWISE,
)  # fmt: skip
derive(
    "aten::addcdiv", self="grad", tensor1="mul_conj(grad / tensor2.conj(), value)",
    tensor2="mul_conj(-grad * (tensor1 / (tensor2 * tensor2)).conj(), value)", result=ELEMENTWISE,
)  # fmt: skip
derive(
    "aten::lerp.Scalar", self="mul_conj(grad, 1 - weight)", end="mul_conj(grad, weight)", result=ELEMENTWISE,
)  # fmt: skip
derive(
    "aten::lerp.Tensor", name="LerpBackward1", result=ELEMENTWISE,
    self="grad * (1 - weight).conj()", end="grad * weight.conj()", weight="grad * (end - self).conj()",
)  # fmt: skip
derive(
    "aten::where.self", self="ts.where(condition, grad, 0)", other="ts.where(condition, 0, grad)",
    result=LINEAR,
)  # fmt: skip
derive(
    "aten::where.ScalarOther", name="WhereBackward0", self="ts.where(condition, grad, 0)", result=ELEMENTWISE
)
derive(
    "aten::where.ScalarSelf", name="WhereBackward0", other="ts.where(condition, 0, grad)", result=ELEMENTWISE
)

# ---------------------------------------------------------------------------------------- clamp and rounding


def within(
    grad: Tensor,
    self: Tensor,
    min: int | float | complex | None,
    max: int | float | complex | None,
) -> Tensor:
    """Return the gradient of `clamp`: `grad` where min <= self <= max, and 0 elsewhere."""
    if min is None:
        return grad if max is None else ts.where(self <= max, grad, 0)
    if max is None:
        return ts.where(self >= min, grad, 0)
    return ts.where((self >= min) & (self <= max), grad, 0)


def between(grad: Tensor, self: Tensor, min: Tensor | None, max: Tensor | None) -> Tensor:
    """Return the gradient of `clamp` with tensors as bounds: `grad` where min <= self <= max, 0 elsewhere."""
    if min is None:
        return grad if max is None else ts.where(self <= max, grad, 0)
    if max is None:
        return ts.where(self >= min, grad, 0)
    return ts.where((self >= min) & (self <= max), grad, 0)


def of_min(grad: Tensor, self: Tensor, min: Tensor, max: Tensor | None) -> Tensor:
    """Return the gradient of the lower bound of `clamp`.

    It is `grad` for elements below the bound, except where the upper bound is smaller than the lower one.
    """
    used = self < min if max is None else (self < min) & (min < max)
    return ts.where(used, grad, 0)


def of_max(grad: Tensor, self: Tensor, min: Tensor | None, max: Tensor) -> Tensor:
    """Return the gradient of the upper bound of `clamp`, which has precedence over the lower bound."""
    used = self > max if min is None else (self > max) | (max < min)
    return ts.where(used, grad, 0)


derive("aten::clamp", self="within(grad, self, min, max)", name="ClampBackward1", result=ELEMENTWISE)
derive(
    "aten::clamp.Tensor", name="ClampBackward0", result=ELEMENTWISE,
    self="between(grad, self, min, max)",
    min="of_min(grad, self, ts.jit._unwrap_optional(min), max)",
    max="of_max(grad, self, min, ts.jit._unwrap_optional(max))",
)  # fmt: skip
derive("aten::clamp_min", self="ts.where(self >= min, grad, 0)", result=ELEMENTWISE)
derive("aten::clamp_max", self="ts.where(self <= max, grad, 0)", result=ELEMENTWISE)
derive(
    "aten::clamp_min.Tensor", name="ClampMinBackward1", result=ELEMENTWISE,
    self="ts.where(self >= min, grad, 0)", min="ts.where(self < min, grad, 0)",
)  # fmt: skip
derive(
    "aten::clamp_max.Tensor", name="ClampMaxBackward1", result=ELEMENTWISE,
    self="ts.where(self <= max, grad, 0)", max="ts.where(self > max, grad, 0)",
)  # fmt: skip
derive("aten::round", self="ts.zeros_like(grad)", result=ELEMENTWISE)
derive("aten::round.decimals", self="ts.zeros_like(grad)", name="RoundBackward1", result=ELEMENTWISE)
derive("aten::nan_to_num", self="ts.where(self.isfinite(), grad, 0)", result=ELEMENTWISE)

# ---------------------------------------------------------------------------------------- special functions


def of_logit(grad: Tensor, self: Tensor, eps: float | None) -> Tensor:
    """Return the gradient of `logit`.

    For elements outside of [0, 1], the gradient is NaN if `eps` is None. If `eps` is given, the gradient is 0
    for elements outside of [eps, 1 - eps].
    """
    slope = grad / (self * (1 - self))
    if eps is None:
        return ts.where((self < 0) | (self > 1), float("nan"), slope)
    return ts.where((self < eps) | (self > 1 - eps), 0, slope)


def of_mvlgamma(grad: Tensor, self: Tensor, p: int) -> Tensor:
    """Return the gradient of `mvlgamma`, a sum of digamma functions with shifted arguments."""
    steps = ts.arange(p, dtype=self.dtype, device=self.device) / 2
    return grad * (self.unsqueeze(-1) - steps).digamma().sum(-1)


derive("aten::logit", self="of_logit(grad, self, eps)", result=ELEMENTWISE)
derive("aten::polygamma", self="grad * ts.polygamma(n + 1, self)", result=ELEMENTWISE)
derive("aten::polygamma_", self="grad * ts.polygamma(n + 1, self)", name="PolygammaBackward0")
derive("aten::mvlgamma", self="of_mvlgamma(grad, self, p)", result=ELEMENTWISE)
derive("aten::complex", real="ts.real(grad)", imag="ts.imag(grad)", result=LINEAR)
derive(
    "aten::polar", abs="ts.real(grad * result.sgn().conj())", angle="ts.imag(grad * result.conj())",
    result="ts.complex(abs_t, angle_t * abs) * ts.polar(ts.ones_like(abs), angle)",
)  # fmt: skip
derive("aten::frexp.Tensor", self="grad / exponent.exp2()", name="FrexpBackward0", differentiable="mantissa")
