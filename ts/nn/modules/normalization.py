"""Layer normalization, RMS normalization, group normalization and local response normalization."""

from __future__ import annotations

import numbers
from dataclasses import KW_ONLY, InitVar
from typing import Any, ClassVar

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn import init
from ts.nn.modules._functions import CrossMapLRN2d as _cross_map_lrn2d
from ts.nn.modules.hyperparameters import hyperparameters
from ts.nn.modules.module import Module
from ts.nn.modules.ntuple import constructor_text
from ts.nn.parameter import Parameter


class _LocalResponseNorm(Module):
    size: int

    def extra_repr(self) -> str:
        return f"{self.size}, " + constructor_text(self, "alpha", "beta", "k")


@hyperparameters
class LocalResponseNorm(_LocalResponseNorm):
    """Divides x by (k + alpha * m)^beta, where m is the mean square of `size` neighbouring channels."""

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)


@hyperparameters
class CrossMapLRN2d(_LocalResponseNorm):
    """Local response normalization over neighbouring channels of images, as in Lua's Torch."""

    __constants__: ClassVar[list[str]] = []
    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1

    def forward(self, input: Tensor) -> Tensor:
        return _cross_map_lrn2d.apply(input, self.size, self.alpha, self.beta, self.k)


class _AffineNorm(Module):
    """Base class of normalizations with an optional scale `weight` and shift `bias`."""

    def _register_parameters(
        self, has_parameters: dict[str, bool], shape: tuple[int, ...], device: Any, dtype: Any
    ) -> None:
        for name, has_parameter in has_parameters.items():
            tensor = Parameter(ts.empty(shape, device=device, dtype=dtype)) if has_parameter else None
            self.register_parameter(name, tensor)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the parameters: scale 1 and shift 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self._parameters.get("bias") is not None:
            init.zeros_(self.bias)


def _shape(normalized_shape: Any) -> tuple[int, ...]:
    if isinstance(normalized_shape, numbers.Integral):
        return (normalized_shape,)  # type: ignore[return-value]
    return tuple(normalized_shape)


@hyperparameters
class LayerNorm(_AffineNorm):
    """Normalizes the last dimensions, of shape `normalized_shape`, to mean 0 and variance 1."""

    normalized_shape: Any
    eps: float = 1e-5
    elementwise_affine: bool = True
    bias: InitVar[bool] = True
    device: InitVar[Any] = None
    dtype: InitVar[Any] = None

    def __post_init__(self, bias: bool, device: Any, dtype: Any) -> None:
        self.normalized_shape = _shape(self.normalized_shape)
        has_parameters = {"weight": self.elementwise_affine, "bias": self.elementwise_affine and bias}
        self._register_parameters(has_parameters, self.normalized_shape, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        arguments = constructor_text(self, "eps", "elementwise_affine")
        return f"{self.normalized_shape}, {arguments}, bias={self.bias is not None}"


@hyperparameters
class GroupNorm(_AffineNorm):
    """Normalizes each group of channels to mean 0 and variance 1."""

    num_groups: int
    num_channels: int
    eps: float = 1e-5
    affine: bool = True
    device: InitVar[Any] = None
    dtype: InitVar[Any] = None
    _: KW_ONLY
    bias: InitVar[bool] = True

    def __post_init__(self, device: Any, dtype: Any, bias: bool) -> None:
        if self.num_channels % self.num_groups != 0:
            raise ValueError("num_channels must be divisible by num_groups")
        has_parameters = {"weight": self.affine, "bias": self.affine and bias}
        self._register_parameters(has_parameters, (self.num_channels,), device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        arguments = constructor_text(self, "eps", "affine")
        return f"{self.num_groups}, {self.num_channels}, {arguments}, bias={self.bias is not None}"


@hyperparameters
class RMSNorm(_AffineNorm):
    """Divides x by its root mean square over the last dimensions."""

    normalized_shape: Any
    eps: float | None = None
    elementwise_affine: bool = True
    device: InitVar[Any] = None
    dtype: InitVar[Any] = None

    def __post_init__(self, device: Any, dtype: Any) -> None:
        self.normalized_shape = _shape(self.normalized_shape)
        self._register_parameters({"weight": self.elementwise_affine}, self.normalized_shape, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, " + constructor_text(self, "eps", "elementwise_affine")
