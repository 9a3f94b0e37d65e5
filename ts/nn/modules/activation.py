"""Activation modules (pointwise activations, softmax variants, gated linear units)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar
from typing import Any, ClassVar

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.hyperparameters import hyperparameters
from ts.nn.modules.module import Module
from ts.nn.modules.ntuple import constructor_text
from ts.nn.parameter import Parameter


class _Activation(Module):
    """Base class of activations. `repr` shows their hyperparameters, but `inplace` only if it is True."""

    _hyperparameters: ClassVar[tuple[str, ...]]
    inplace: bool

    def extra_repr(self) -> str:
        shown = [name for name in self._hyperparameters if name != "inplace" or self.inplace]
        return constructor_text(self, *shown)


@hyperparameters
class _InplaceActivation(_Activation):
    """Base class of activations whose only hyperparameter is `inplace`."""

    _function: ClassVar[Callable[..., Tensor]]
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.inplace)


class ReLU(_InplaceActivation):
    """Elementwise max(x, 0)."""

    _function = staticmethod(F.relu)


class SELU(_InplaceActivation):
    """Scaled exponential linear unit."""

    _function = staticmethod(F.selu)


class SiLU(_InplaceActivation):
    """Elementwise x * sigmoid(x)."""

    _function = staticmethod(F.silu)


class Mish(_InplaceActivation):
    """Elementwise x * tanh(softplus(x))."""

    _function = staticmethod(F.mish)


class Hardsigmoid(_InplaceActivation):
    """Piecewise linear approximation of the sigmoid."""

    _function = staticmethod(F.hardsigmoid)


class Hardswish(_InplaceActivation):
    """Elementwise x * hardsigmoid(x)."""

    _function = staticmethod(F.hardswish)

    def extra_repr(self) -> str:
        return ""  # PyTorch does not print `inplace` here


class Sigmoid(Module):
    """Elementwise 1 / (1 + exp(-x))."""

    def forward(self, input: Tensor) -> Tensor:
        return ts.sigmoid(input)


class Tanh(Module):
    """Hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        return ts.tanh(input)


class Tanhshrink(Module):
    """Elementwise x - tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class Softsign(Module):
    """Elementwise x / (1 + |x|)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class LogSigmoid(Module):
    """Elementwise log(sigmoid(x))."""

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


@hyperparameters
class CELU(_Activation):
    """Continuously differentiable exponential linear unit."""

    alpha: float = 1.0
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


@hyperparameters
class ELU(_Activation):
    """Exponential linear unit."""

    alpha: float = 1.0
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


@hyperparameters
class LeakyReLU(_Activation):
    """Leaky ReLU: x if x >= 0, else `negative_slope` * x."""

    negative_slope: float = 0.01
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


@hyperparameters
class RReLU(_Activation):
    """LeakyReLU with random slopes in training."""

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


@hyperparameters
class Threshold(_Activation):
    """Returns x if x exceeds the threshold, otherwise `value`."""

    threshold: float
    value: float
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


@hyperparameters
class GELU(Module):
    """Elementwise x * Φ(x), where Φ is the standard normal distribution function."""

    approximate: str = "none"

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


@hyperparameters
class GLU(_Activation):
    """Gated linear unit: half of the channels multiplied by the sigmoid of the other half."""

    dim: int = -1

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)


@hyperparameters
class Hardshrink(Module):
    """Hard shrinkage: 0 if |x| is at most `lambd`, otherwise x."""

    lambd: float = 0.5

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


@hyperparameters
class Softshrink(Module):
    """Soft shrinkage: moves x by `lambd` towards 0, at most to 0."""

    lambd: float = 0.5

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


@hyperparameters
class Softplus(_Activation):
    """Elementwise log(1 + exp(beta x)) / beta."""

    beta: float = 1.0
    threshold: float = 20.0

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


@hyperparameters
class Softmax(_Activation):
    """Elementwise exp(x), normalized to sum 1 along a dimension."""

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim, _stacklevel=5)


@hyperparameters
class LogSoftmax(_Activation):
    """Logarithm of the softmax over a dimension."""

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim, _stacklevel=5)


@hyperparameters
class Softmin(_Activation):
    """Softmax of -x over a dimension."""

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels of images."""

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4 and input.dim() != 3:
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)


class Hardtanh(_Activation):
    """Elementwise x, clamped to [min_val, max_val]."""

    _hyperparameters: ClassVar[tuple[str, ...]] = ("min_val", "max_val", "inplace")
    __constants__ = ["min_val", "max_val", "inplace"]
    min_val: float
    max_val: float
    inplace: bool

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """Elementwise min(max(x, 0), 6)."""

    _hyperparameters = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


@hyperparameters
class PReLU(Module):
    """LeakyReLU with learned slopes."""

    __constants__ = ["num_parameters"]
    num_parameters: int = 1
    init: float = 0.25
    device: InitVar[Any] = None
    dtype: InitVar[Any] = None

    def __post_init__(self, device: Any, dtype: Any) -> None:
        self.weight = Parameter(ts.empty(self.num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all slopes to the initial value."""
        self.weight.detach().fill_(self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return constructor_text(self, "num_parameters")
