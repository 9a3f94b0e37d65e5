"""Layer normalization, RMS normalization, group normalization and local response normalization."""

from __future__ import annotations

import numbers
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn import init
from ts.nn.modules._functions import CrossMapLRN2d as _cross_map_lrn2d
from ts.nn.modules.module import Module
from ts.nn.modules.ntuple import constructor_text
from ts.nn.parameter import Parameter


class LocalResponseNorm(Module):
    """Divides x by a power of the mean square of `size` neighbouring channels."""

    __constants__ = ["size", "alpha", "beta", "k"]

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, " + constructor_text(self, "alpha", "beta", "k")


class CrossMapLRN2d(Module):
    """Local response normalization over neighbouring channels of images, as in Lua's Torch."""

    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return _cross_map_lrn2d.apply(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, " + constructor_text(self, "alpha", "beta", "k")


class LayerNorm(Module):
    """Normalizes the last dimensions, of shape `normalized_shape`, to mean 0 and variance 1."""

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]
    normalized_shape: tuple[int, ...]
    eps: float
    elementwise_affine: bool

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        single = isinstance(normalized_shape, numbers.Integral)
        self.normalized_shape = (normalized_shape,) if single else tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, has_parameter in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            tensor = (
                Parameter(ts.empty(self.normalized_shape, device=device, dtype=dtype))
                if has_parameter
                else None
            )
            self.register_parameter(name, tensor)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the parameters: scale 1 and shift 0."""
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        arguments = constructor_text(self, "eps", "elementwise_affine")
        return f"{self.normalized_shape}, {arguments}, bias={self.bias is not None}"


class GroupNorm(Module):
    """Normalizes each group of channels to mean 0 and variance 1."""

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]
    num_groups: int
    num_channels: int
    eps: float
    affine: bool

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError("num_channels must be divisible by num_groups")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, has_parameter in (("weight", affine), ("bias", affine and bias)):
            tensor = Parameter(ts.empty(num_channels, device=device, dtype=dtype)) if has_parameter else None
            self.register_parameter(name, tensor)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the parameters: scale 1 and shift 0 for each channel."""
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        arguments = constructor_text(self, "eps", "affine")
        return f"{self.num_groups}, {self.num_channels}, {arguments}, bias={self.bias is not None}"


class RMSNorm(Module):
    """Divides x by its root mean square over the last dimensions."""

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]
    normalized_shape: tuple[int, ...]
    eps: float | None
    elementwise_affine: bool

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        single = isinstance(normalized_shape, numbers.Integral)
        self.normalized_shape = (normalized_shape,) if single else tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        shape = self.normalized_shape
        weight = Parameter(ts.empty(shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scale to 1."""
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, " + constructor_text(self, "eps", "elementwise_affine")
