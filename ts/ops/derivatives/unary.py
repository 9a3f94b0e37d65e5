"""Derivatives of the pointwise operators of one argument."""

from __future__ import annotations

import math
from typing import Final

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import ELEMENTWISE, LINEAR, compose, constant, derive

LN_2: Final = math.log(2)
LN_10: Final = math.log(10)
RADIANS: Final = math.pi / 180
ROOT_2_PI: Final = math.sqrt(2 * math.pi)
TWO_BY_ROOT_PI: Final = 2 / math.sqrt(math.pi)


def of_sgn(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """Return the gradient of `sgn`: zero for real tensors.

    For complex tensors it is the tangential component of `grad`, divided by the magnitude.
    """
    if not self.is_complex():
        return ts.zeros_like(grad)
    along = ts.real(result.conj() * grad) * result
    return ts.where(self == 0, 0, (grad - along) / self.abs())


def of_angle(grad: Tensor, self: Tensor) -> Tensor:
    """Return the gradient of `angle`. It is 0 for real elements and for 0."""
    if not self.is_complex():
        return ts.zeros_like(self)
    return ts.where(self == 0, 0, grad * 1j / self.conj())


def of_acosh(grad: Tensor, self: Tensor) -> Tensor:
    """Return the gradient of `acosh`. For complex elements, two square roots select the correct branch."""
    if self.is_complex():
        return grad * ((self + 1).rsqrt() * (self - 1).rsqrt()).conj()
    return grad * (self * self - 1).rsqrt()


def of_sinc(grad: Tensor, self: Tensor) -> Tensor:
    """Return the gradient of sinc, (cos(pi x) - sinc(x)) / x, and 0 at 0."""
    x = self * math.pi
    return ts.where(x * self == 0, 0, grad * ((x * x.cos() - x.sin()) / (x * self)).conj())


def of_bessel(first: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """Return `first - result / self`, or 0.5 where `self` is near 0.

    If `first` is i0(x) and `result` is i1(x), this is the derivative of i1. For the derivative of i1e,
    `first` is i0e(x), and the caller subtracts sgn(x) * `result`.
    """
    nothing = self.abs() < 1e-30
    return ts.where(nothing, 0.5, first - result / ts.where(nothing, 1, self))


# arithmetic operators
derive("aten::abs", self="grad * self.sgn()", result="ts.real(self_t * self.sgn().conj())")
derive("prim::abs", x="grad * x.sgn()", name="AbsBackward0")
derive("aten::neg", self="-grad", result=LINEAR)
derive("aten::sgn", self="of_sgn(grad, self, result)", result="of_sgn(self_t, self, result)")
derive("aten::sign", self="ts.zeros_like(grad)", result=ELEMENTWISE)
derive("aten::reciprocal", self="-grad * (result * result).conj()", result=ELEMENTWISE)
derive("aten::sqrt", self="grad / (result.conj() * 2)", result=ELEMENTWISE)
derive("aten::rsqrt", self="grad * (result ** 3).conj() * -0.5", result=ELEMENTWISE)
derive(
    "aten::conj_physical", self="grad.conj_physical()", result=LINEAR, inplace_name="ConjPhysicalBackward1"
)
derive("aten::_conj_physical", self="grad.conj_physical()", name="ConjPhysicalBackward0", result=LINEAR)
derive("aten::deg2rad", self="grad * RADIANS", result=LINEAR)
derive("aten::rad2deg", self="grad * (1 / RADIANS)", result=LINEAR)

# rounding operators
derive("aten::ceil aten::floor aten::trunc", self="ts.zeros_like(grad)", result=ELEMENTWISE)
derive("aten::frac", self="grad", result=ELEMENTWISE)

# transcendental functions
derive("aten::exp", self="grad * result.conj()", result=ELEMENTWISE)
derive("aten::exp2", self="grad * result.conj() * LN_2", result=ELEMENTWISE)
derive("aten::expm1", self="grad * (result.conj() + 1)", result=ELEMENTWISE)
derive("aten::log", self="grad / self.conj()", result=ELEMENTWISE)
derive("aten::log2", self="grad / (self.conj() * LN_2)", result=ELEMENTWISE)
derive("aten::log10", self="grad / (self.conj() * LN_10)", result=ELEMENTWISE)
derive("aten::log1p", self="grad / (self.conj() + 1)", result=ELEMENTWISE)
derive("aten::sin", self="grad * self.cos().conj()", result=ELEMENTWISE)
derive("aten::cos", self="grad * -self.sin().conj()", result=ELEMENTWISE)
derive("aten::tan", self="grad * (result * result + 1).conj()", result=ELEMENTWISE)
derive("aten::asin", self="grad * (1 - self * self).rsqrt().conj()", result=ELEMENTWISE)
derive("aten::acos", self="grad * -(1 - self * self).rsqrt().conj()", result=ELEMENTWISE)
derive("aten::atan", self="grad / (self * self + 1).conj()", result=ELEMENTWISE)
derive("aten::sinh", self="grad * self.cosh().conj()", result=ELEMENTWISE)
derive("aten::cosh", self="grad * self.sinh().conj()", result=ELEMENTWISE)
derive("aten::tanh", self="grad * (1 - result * result).conj()", result=ELEMENTWISE)
derive("aten::asinh", self="grad * (self * self + 1).rsqrt().conj()", result=ELEMENTWISE)
derive("aten::acosh", self="of_acosh(grad, self)", result=ELEMENTWISE)
derive("aten::atanh", self="grad / (1 - self * self).conj()", result=ELEMENTWISE)
derive("aten::sinc", self="of_sinc(grad, self)", result=ELEMENTWISE)
derive("aten::sigmoid", self="grad * ((1 - result) * result).conj()", result=ELEMENTWISE)
derive("aten::erf", self="grad * TWO_BY_ROOT_PI * (-self * self).exp()", result=ELEMENTWISE)
derive("aten::erfc", self="grad * -TWO_BY_ROOT_PI * (-self * self).exp()", result=ELEMENTWISE)
derive("aten::erfinv", self="grad * (1 / TWO_BY_ROOT_PI) * (result * result).exp()", result=ELEMENTWISE)
derive("aten::lgamma", self="grad * self.digamma()", result=ELEMENTWISE)
derive("aten::digamma", self="grad * ts.polygamma(1, self)", result=ELEMENTWISE)
derive("aten::i0", self="grad * ts.special.i1(self)", result=ELEMENTWISE)

# special functions that exist only in `torch.special`
derive("aten::special_i0e", self="grad * (ts.special.i1e(self) - self.sgn() * result)", result=ELEMENTWISE)
derive("aten::special_i1", self="grad * of_bessel(self.i0(), self, result)", result=ELEMENTWISE)
derive(
    "aten::special_i1e", result=ELEMENTWISE,
    self="grad * (of_bessel(ts.special.i0e(self), self, result) - self.sgn() * result)",
)  # fmt: skip
compose("aten::special_ndtr", "ts.erfc(self * -math.sqrt(0.5)) * 0.5")
derive("aten::special_ndtri", self="grad * ROOT_2_PI * (result * result / 2).exp()", result=ELEMENTWISE)
derive(
    "aten::special_log_ndtr", result=ELEMENTWISE,
    self="grad * (2 / ROOT_2_PI) / ts.special.erfcx(self * -math.sqrt(0.5))",
)  # fmt: skip
derive("aten::special_entr", self="grad * -(self.log() + 1)", result=ELEMENTWISE)
derive("aten::special_erfcx", self="grad * (self * result * 2 - TWO_BY_ROOT_PI)", result=ELEMENTWISE)
constant(
    "aten::special_bessel_j0 aten::special_bessel_j1 aten::special_bessel_y0 aten::special_bessel_y1 "
    "aten::special_modified_bessel_i0 aten::special_modified_bessel_i1 aten::special_modified_bessel_k0 "
    "aten::special_modified_bessel_k1 aten::special_airy_ai aten::special_scaled_modified_bessel_k0 "
    "aten::special_scaled_modified_bessel_k1 aten::special_spherical_bessel_j0",
    "PyTorch does not define its derivative",
)

derive("aten::angle", self="of_angle(grad, self)", result="ts.real(of_angle(self_t.conj(), self).conj())")
compose("aten::square", "ts.pow(self, 2)")
derive(
    "aten::logical_not_", name="LogicalNotBackward0",
    self="ts.zeros_like(grad)", result="ts.zeros_like(self)",
)  # fmt: skip
