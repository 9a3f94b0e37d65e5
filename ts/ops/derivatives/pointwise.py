"""Derivatives of the pointwise operators of two arguments."""

from __future__ import annotations

from typing import Optional, Union

import ts
from ts import Tensor
from ts.ops.derivatives.common import mul_conj, underivable
from ts.ops.derivatives.formula_registry import ELEMENTWISE, LINEAR, compose, constant, derive

# ---------------------------------------------------------------------------------------- sums and products

derive("aten::add.Tensor", self="grad", other="mul_conj(grad, alpha)", result=LINEAR)
derive("aten::add.Scalar", self="grad", result=ELEMENTWISE)
derive("aten::sub.Tensor", self="grad", other="mul_conj(-grad, alpha)", result=LINEAR)
derive("aten::sub.Scalar", self="grad", result=ELEMENTWISE)
derive("aten::rsub.Tensor", self="mul_conj(-grad, alpha)", other="grad", result=LINEAR)
derive("aten::rsub.Scalar", self="mul_conj(-grad, alpha)", name="RsubBackward1", result=ELEMENTWISE)
derive(
    "aten::mul.Tensor", self="grad * other.conj()", other="grad * self.conj()",
    result="self_t * other + self * other_t",
)  # fmt: skip
derive("aten::mul.Scalar", self="mul_conj(grad, other)", result=ELEMENTWISE)


def division_gradient(grad: Tensor, divisor: Tensor, rounding_mode: str | None) -> Tensor:
    """Return the gradient of the dividend of a division, which is zero if the quotient is rounded."""
    return grad / divisor.conj() if rounding_mode is None else ts.zeros_like(grad)


def of_divisor(grad: Tensor, self: Tensor, other: Tensor) -> Tensor:
    """Return the gradient of the divisor of a division."""
    return -grad * (self / other / other).conj()


derive(
    "aten::div.Tensor", self="grad / other.conj()", other="of_divisor(grad, self, other)",
    result="(self_t - other_t * result) / other",
)  # fmt: skip
derive("aten::div.Scalar", self="(grad.conj() / other).conj()", result=ELEMENTWISE)
derive(
    "aten::div.Tensor_mode", name="DivBackward2", result=ELEMENTWISE,
    self="division_gradient(grad, other, rounding_mode)",
    other="of_divisor(grad, self, other) if rounding_mode is None else ts.zeros_like(grad)",
)  # fmt: skip
derive(
    "aten::div.Scalar_mode", name="DivBackward3", result=ELEMENTWISE,
    self="(grad.conj() / other).conj() if rounding_mode is None else ts.zeros_like(grad)",
)  # fmt: skip
derive(
    "aten::remainder.Tensor", name="RemainderBackward1", result=ELEMENTWISE,
    self="grad", other="-grad * ts.div(self, other, rounding_mode='floor')",
)  # fmt: skip
derive("aten::remainder.Scalar", self="grad", result=ELEMENTWISE)
derive(
    "aten::fmod.Tensor", name="FmodBackward1", result=ELEMENTWISE,
    self="grad", other="-grad * ts.div(self, other, rounding_mode='trunc')",
)  # fmt: skip
derive("aten::fmod.Scalar", self="grad", result=ELEMENTWISE)

# ---------------------------------------------------------------------------------------- powers


def of_base(grad: Tensor, self: Tensor, exponent: int | float | complex) -> Tensor:
    """Return the gradient of the base of `self ** exponent`. It is zero for exponent 0."""
    if exponent == 0:
        return ts.zeros_like(grad)
    if exponent == 2:
        return grad * (self * 2).conj()
    return grad * (self ** (exponent - 1) * exponent).conj()


def of_exponent(grad: Tensor, base: Tensor, exponent: Tensor, result: Tensor) -> Tensor:
    """Return the gradient of the exponent of a power.

    The gradient is 0 where the base is 0 and the exponent is not negative.
    """
    still = (base == 0) & (ts.real(exponent) >= 0)
    return ts.where(still, 0, grad * (result * base.log()).conj())


derive("aten::pow.Tensor_Scalar", self="of_base(grad, self, exponent)", result=ELEMENTWISE)
derive(
    "aten::pow.Tensor_Tensor", name="PowBackward1", result=ELEMENTWISE,
    self="ts.where(exponent == 0, 0, grad * (exponent * self ** (exponent - 1)).conj())",
    exponent="of_exponent(grad, self, exponent, result)",
)  # fmt: skip
derive(
    "aten::pow.Scalar", name="PowBackward2", result=ELEMENTWISE,
    exponent="of_exponent(grad, ts.scalar_tensor(self, dtype=result.dtype), exponent, result)",
)  # fmt: skip


def widest(x: Tensor, other_is_complex: bool) -> Tensor:
    """Convert x to float64 or complex128, in which `float_power` computes."""
    return x.to(ts.complex128) if x.is_complex() or other_is_complex else x.to(ts.float64)


def widest_number(x: int | float | complex) -> int | float | complex:
    """Convert x to float, unless it is complex, as `float_power` does."""
    if isinstance(x, complex):
        return x
    return float(x)


compose(
    "aten::float_power.Tensor_Tensor",
    "ts.pow(widest(self, exponent.is_complex()), widest(exponent, self.is_complex()))",
)
compose("aten::float_power.Scalar", "ts.pow(self, widest(exponent, isinstance(self, complex)))")
compose(
    "aten::float_power.Tensor_Scalar",
    "ts.pow(widest(self, isinstance(exponent, complex)), widest_number(exponent))",
)
compose("aten::ldexp.Tensor", "self * ts.pow(2.0, other)")

# ---------------------------------------------------------------------------------------- maximum and minimum


def larger(grad: Tensor, self: Tensor, other: Tensor) -> Tensor:
    """Return the gradient of `self` for `maximum(self, other)`.

    It is `grad` where `self` is larger or an operand is NaN, half of `grad` where the operands are equal, and
    0 elsewhere.
    """
    return ts.where(self == other, grad / 2, ts.where(self < other, 0, grad))


derive(
    "aten::maximum", self="larger(grad, self, other)", other="larger(grad, other, self)",
    result=ELEMENTWISE,
)  # fmt: skip
derive(
    "aten::minimum", self="larger(grad, other, self)", other="larger(grad, self, other)",
    result=ELEMENTWISE,
)  # fmt: skip
derive(
    "aten::fmax", result=ELEMENTWISE,
    self="ts.where((self >= other) | other.isnan(), grad, 0)",
    other="ts.where((self >= other) | other.isnan(), 0, grad)",
)  # fmt: skip
derive(
    "aten::fmin", result=ELEMENTWISE,
    self="ts.where((self <= other) | other.isnan(), grad, 0)",
    other="ts.where((self <= other) | other.isnan(), 0, grad)",
)  # fmt: skip

# ---------------------------------------------------------------------------------------- special functions


def atan2_grad(grad: Tensor, opposite: Tensor, adjacent: Tensor) -> Tensor:
    """Return `grad * adjacent / (opposite² + adjacent²)`, and 0 where both are 0."""
    square = opposite * opposite + adjacent * adjacent
    return ts.where(square == 0, 0, grad * adjacent / square)


derive(
    "aten::atan2", result=ELEMENTWISE,
    self="atan2_grad(grad, self, other)", other="-atan2_grad(grad, other, self)",
)  # fmt: skip
derive("aten::hypot", self="grad * (self / result)", other="grad * (other / result)", result=ELEMENTWISE)
derive(
    "aten::copysign.Tensor", result=ELEMENTWISE,
    self="ts.where(self == 0, 0, grad * (result / self))", other="ts.zeros_like(grad)",
)  # fmt: skip
derive(
    "aten::copysign.Scalar", name="CopysignBackward1", result=ELEMENTWISE,
    self="ts.where(self == 0, 0, grad * (result / self))",
)  # fmt: skip
derive(
    "aten::nextafter", result=ELEMENTWISE,
    self="ts.where(self == other, 0, grad)", other="ts.zeros_like(grad)",
)  # fmt: skip
derive(
    "aten::logaddexp", result=ELEMENTWISE,
    self="grad / ((other - self).exp() + 1).conj()", other="grad / ((self - other).exp() + 1).conj()",
)  # fmt: skip
derive(
    "aten::logaddexp2", result=ELEMENTWISE,
    self="grad / ((other - self).exp2() + 1)", other="grad / ((self - other).exp2() + 1)",
)  # fmt: skip
derive(
    "aten::xlogy.Tensor", result=ELEMENTWISE,
    self="ts.where((self == 0) & (other <= 0), 0, ts.xlogy(grad, other))", other="grad * self / other",
)  # fmt: skip
derive("aten::xlogy.Scalar_Self", name="XlogyBackward1", other="grad * self / other", result=ELEMENTWISE)
derive(
    "aten::xlogy.Scalar_Other", name="XlogyBackward2", result=ELEMENTWISE,
    self="ts.where(self == 0, 0, ts.xlogy(grad, other)) if float(other) <= 0 else ts.xlogy(grad, other)",
)  # fmt: skip
derive(
    "aten::special_xlog1py", name="SpecialXlog1PyBackward0", result=ELEMENTWISE,
    self="ts.where((self == 0) & (other <= -1), 0, ts.special.xlog1py(grad, other))",
    other="grad * self / (other + 1)",
)  # fmt: skip
derive(
    "aten::special_xlog1py.self_scalar", name="SpecialXlog1PyBackward1", result=ELEMENTWISE,
    other="grad * self / (other + 1)",
)  # fmt: skip
derive(
    "aten::special_xlog1py.other_scalar", name="SpecialXlog1PyBackward2", result=ELEMENTWISE,
    self="ts.where(self == 0, 0, ts.special.xlog1py(grad, other)) if float(other) <= -1 "
    "else ts.special.xlog1py(grad, other)",
)  # fmt: skip


def of_igamma(grad: Tensor, self: Tensor, other: Tensor) -> Tensor:
    """Return the gradient of the incomplete gamma function with respect to its second argument, the bound."""
    return grad * ((self - 1) * other.log() - other - self.lgamma()).exp()


derive("aten::igamma", self="underivable('igamma: input')", other="of_igamma(grad, self, other)")
derive("aten::igammac", self="underivable('igammac: input')", other="-of_igamma(grad, self, other)")
derive(
    "aten::special_zeta", self="underivable('zeta')",
    other="grad * -self * ts.special.zeta(self + 1, other)",
)  # fmt: skip
derive(
    "aten::special_zeta.self_scalar", name="SpecialZetaBackward1", result=ELEMENTWISE,
    other="grad * -self * ts.special.zeta(self + 1.0, other)",
)  # fmt: skip
derive("aten::special_zeta.other_scalar", name="SpecialZetaBackward2", self="underivable('zeta')")

# In-place comparisons write zeros and ones in the dtype of `self`. Their derivative is zero.
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    derive(
        f"aten::{_name}_.Tensor", name=f"{_name.title()}Backward1",
        self="ts.zeros_like(grad)", other="ts.zeros_like(other)", result="ts.zeros_like(self)",
    )  # fmt: skip
    derive(
        f"aten::{_name}_.Scalar", name=f"{_name.title()}Backward0",
        self="ts.zeros_like(grad)", result="ts.zeros_like(self)",
    )  # fmt: skip
for _name in ("and", "or", "xor"):
    derive(
        f"aten::logical_{_name}_", name=f"Logical{_name.title()}Backward0",
        self="ts.zeros_like(grad)", other="ts.zeros_like(other)", result="ts.zeros_like(self)",
    )  # fmt: skip
