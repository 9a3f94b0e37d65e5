"""Linear layers (fully connected layers, affine maps) and bilinear layers."""

from __future__ import annotations

import math
from dataclasses import InitVar
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn import init
from ts.nn.modules.hyperparameters import hyperparameters
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter


class Identity(Module):
    """Returns its input. The arguments of the constructor are ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


@hyperparameters
class Linear(Module):
    """Affine map x A^T + b of the last dimension."""

    in_features: int
    out_features: int
    bias: InitVar[bool] = True
    device: InitVar[Any] = None
    dtype: InitVar[Any] = None

    def __post_init__(self, bias: bool, device: Any, dtype: Any) -> None:
        self.weight: Tensor = Parameter(
            ts.empty((self.out_features, self.in_features), device=device, dtype=dtype)
        )
        tensor = Parameter(ts.empty(self.out_features, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", tensor)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reinitialize the parameters with random numbers."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """Linear layer. PyTorch uses a class of this name for the output projection of attention."""


@hyperparameters
class Bilinear(Module):
    """Bilinear map x1^T A x2 + b of the last dimensions."""

    in1_features: int
    in2_features: int
    out_features: int
    bias: InitVar[bool] = True
    device: InitVar[Any] = None
    dtype: InitVar[Any] = None

    def __post_init__(self, bias: bool, device: Any, dtype: Any) -> None:
        if self.in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {self.in1_features}")
        shape = (self.out_features, self.in1_features, self.in2_features)
        self.weight: Tensor = Parameter(ts.empty(shape, device=device, dtype=dtype))
        tensor = Parameter(ts.empty(self.out_features, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", tensor)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reinitialize the parameters with random numbers."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
