"""Quantization modules in the state before quantization, computed in floating point.

`ts` cannot quantize models. As in PyTorch before `prepare`, the modules `QuantStub` and `DeQuantStub` return
their input. In this example, `FloatFunctional` computes an ordinary sum:

    skip_add = ts.nn.quantized.FloatFunctional()
    y = skip_add.add(x, shortcut)       # x + shortcut
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn.modules.linear import Identity
from ts.nn.modules.module import Module


class FloatFunctional(Module):
    """Arithmetic on float tensors. Each method passes its result to module `activation_post_process`."""

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Raise RuntimeError: programs must call the method of an operation."""
        raise RuntimeError(
            "FloatFunctional is not intended to use the 'forward'. Please use the underlying operation"
        )

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the sum of two tensors."""
        return self.activation_post_process(ts.add(x, y))

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """Return the sum of a tensor and a number."""
        return self.activation_post_process(ts.add(x, y))

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the elementwise product of two tensors."""
        return self.activation_post_process(ts.mul(x, y))

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """Return the product of a tensor and a number."""
        return self.activation_post_process(ts.mul(x, y))

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """Return the concatenation of tensors along a dimension."""
        return self.activation_post_process(ts.cat(x, dim=dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the ReLU of the sum of two tensors."""
        return self.activation_post_process(ts.nn.functional.relu(ts.add(x, y)))

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the matrix product of two tensors."""
        return self.activation_post_process(ts.matmul(x, y))


class FXFloatFunctional(Module):
    """`FloatFunctional` without `activation_post_process`, for graphs that `torch.fx` records."""

    def forward(self, x: Tensor) -> Tensor:
        """Raise RuntimeError: programs must call the method of an operation."""
        raise RuntimeError(
            "FloatFunctional is not intended to use the 'forward'. Please use the underlying operation"
        )

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the sum of two tensors."""
        return ts.add(x, y)

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """Return the sum of a tensor and a number."""
        return ts.add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the elementwise product of two tensors."""
        return ts.mul(x, y)

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """Return the product of a tensor and a number."""
        return ts.mul(x, y)

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """Return the concatenation of tensors along a dimension."""
        return ts.cat(x, dim=dim)

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the ReLU of the sum of two tensors."""
        return ts.nn.functional.relu(ts.add(x, y))

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the matrix product of two tensors."""
        return ts.matmul(x, y)


class _Stub(Module):
    """Module that returns its input. It stores a quantization configuration, but does not use it."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """Return the input."""
        return x


class QuantStub(_Stub):
    """Marks the input that PyTorch would quantize, and returns its input."""


class DeQuantStub(_Stub):
    """Module that returns its input. It marks a place where PyTorch would dequantize a tensor."""


class QuantWrapper(Module):
    """Calls a module between a `QuantStub` and a `DeQuantStub`."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        qconfig = getattr(module, "qconfig", None)
        self.add_module("quant", QuantStub(qconfig))
        self.add_module("dequant", DeQuantStub(qconfig))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X: Tensor) -> Tensor:
        """Return the result of `quant`, the module and `dequant` in sequence."""
        return self.dequant(self.module(self.quant(X)))


class DeQuantize(Module):
    """Returns its input as float32."""

    def forward(self, Xq: Tensor) -> Tensor:
        """Return the input as float32."""
        # Convert to float32, because `ts` runs programs from quantized archives in floating point.
        return Xq.to(ts.float32)

    @staticmethod
    def from_float(mod: Module, use_precomputed_fake_quant: bool = False) -> DeQuantize:
        """Return a new `DeQuantize`. The module `mod` is ignored."""
        return DeQuantize()
