"""Convolutions and transposed convolutions over one to three dimensions."""

from __future__ import annotations

import math
import warnings
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn import init
from ts.nn.modules.module import Module
from ts.nn.modules.ntuple import to_ntuple
from ts.nn.parameter import Parameter

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """Base class of convolutions: hyperparameters, weights and their initialization."""

    __constants__ = [
        "stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels",
        "out_channels", "kernel_size",
    ]  # fmt: skip
    ndim: int
    transposed = False

    kernel_size: Any
    stride: Any
    dilation: Any
    output_padding: Any
    bias: Tensor | None
    weight: Tensor

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        n = self.ndim
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = to_ntuple(kernel_size, n)
        self.stride = to_ntuple(stride, n)
        self.padding: Any = padding if isinstance(padding, str) else to_ntuple(padding, n)
        self.dilation = to_ntuple(dilation, n)
        if isinstance(padding, str):
            if padding not in ("valid", "same"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(step != 1 for step in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDING_MODES:
            raise ValueError(
                f"padding_mode must be one of {set(_PADDING_MODES)}, but got padding_mode='{padding_mode}'"
            )
        self.output_padding = to_ntuple(0, n)
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._padding_amounts()
        channels = (
            (in_channels, out_channels // groups)
            if self.transposed
            else (out_channels, in_channels // groups)
        )
        self.weight = Parameter(ts.empty((*channels, *self.kernel_size), device=device, dtype=dtype))
        tensor = Parameter(ts.empty(out_channels, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", tensor)
        self.reset_parameters()

    def _padding_amounts(self) -> list[int]:
        """Return padding amounts for `F.pad`, last dimension first.

        They are used only if the padding mode is not "zeros".
        """
        amounts: list[int] = []
        if self.padding == "valid":
            return [0, 0] * self.ndim
        if self.padding == "same":
            for dilation, size in zip(reversed(self.dilation), reversed(self.kernel_size), strict=True):
                total = dilation * (size - 1)
                amounts += [total // 2, total - total // 2]
            return amounts
        for padding in reversed(self.padding):
            amounts += [padding, padding]
        return amounts

    def reset_parameters(self) -> None:
        """Reinitialize the parameters with random numbers."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight.shape[1:])
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        arguments = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        )
        if self.padding != (0,) * len(self.kernel_size):
            arguments += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.kernel_size):
            arguments += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.kernel_size):
            arguments += f", output_padding={self.output_padding}"
        if self.groups != 1:
            arguments += f", groups={self.groups}"
        if self.bias is None:
            arguments += ", bias=False"
        if self.padding_mode != "zeros":
            arguments += f", padding_mode={self.padding_mode}"
        return arguments


class Conv1d(_ConvNd):
    """Convolution over one dimension."""

    ndim = 1

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode != "zeros":
            padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            return F.conv1d(padded, weight, bias, self.stride, (0,), self.dilation, self.groups)
        return F.conv1d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)


class Conv2d(_ConvNd):
    """Convolution over two dimensions."""

    ndim = 2

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode != "zeros":
            padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            return F.conv2d(padded, weight, bias, self.stride, (0, 0), self.dilation, self.groups)
        return F.conv2d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)


class Conv3d(_ConvNd):
    """Convolution over three dimensions."""

    ndim = 3

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode != "zeros":
            padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            return F.conv3d(padded, weight, bias, self.stride, (0, 0, 0), self.dilation, self.groups)
        return F.conv3d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)


class _ConvTransposeNd(_ConvNd):
    """Base class of transposed convolutions, which computes the output padding for an output size."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode,
            device, dtype,
        )  # fmt: skip
        self.output_padding = to_ntuple(output_padding, self.ndim)

    def _output_padding(
        self,
        input: Tensor,
        output_size: list[int] | None,
        stride: list[int],
        padding: list[int],
        kernel_size: list[int],
        num_spatial_dims: int,
        dilation: list[int],
    ) -> list[int]:
        """Return the output padding with which the result has the size `output_size`.

        If `output_size` is None, return the attribute `output_padding` of the module.
        """
        if output_size is None:
            return self.output_padding
        first = 2 if input.dim() == num_spatial_dims + 2 else 1
        if len(output_size) == first + num_spatial_dims:
            output_size = output_size[first:]
        if len(output_size) != num_spatial_dims:
            raise ValueError(
                f"ConvTranspose{num_spatial_dims}D: for {input.dim()}D input, output_size must have "
                f"{num_spatial_dims} or {first + num_spatial_dims} elements (got {len(output_size)})"
            )
        added: list[int] = []
        for d in range(num_spatial_dims):
            smallest = (
                (input.size(d + first) - 1) * stride[d]
                - 2 * padding[d]
                + dilation[d] * (kernel_size[d] - 1)
                + 1
            )
            if output_size[d] < smallest or output_size[d] > smallest + stride[d] - 1:
                raise ValueError(
                    f"requested an output size of {output_size}, but dimension {d} must be between "
                    f"{smallest} and {smallest + stride[d] - 1} (for an input of {input.size()[first:]})"
                )
            added.append(output_size[d] - smallest)
        return added


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution over one dimension."""

    ndim = 1

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, 1, self.dilation
        )
        return F.conv_transpose1d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution over two dimensions."""

    ndim = 2

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, 2, self.dilation
        )
        return F.conv_transpose2d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution over three dimensions."""

    ndim = 3

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, 3, self.dilation
        )
        return F.conv_transpose3d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )


class _ConvTransposeMixin(_ConvTransposeNd):
    """Deprecated base class of transposed convolutions. The constructor warns."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            "`_ConvTransposeMixin` is a deprecated internal class. Please consider using public APIs.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(*args, **kwargs)
