"""Parameter initialization (weight initialization): functions that fill a tensor in place and return it.

Example:

    init.kaiming_uniform_(weight, a=math.sqrt(5))       # default of Linear and convolutions
    init.normal_(weight, 0.0, 0.02)

For equal seeds, the random numbers are equal to PyTorch's. Scripts can call `uniform_`, `normal_`,
`constant_`, `ones_`, `zeros_` and the Xavier functions.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any, Literal

import ts
from ts._core.tensor.tensor import Tensor
from ts.ops.generator import Generator

_Nonlinearity = Literal[
    "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "sigmoid", "tanh", "relu", "leaky_relu", "selu",
]  # fmt: skip

_LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")


def calculate_gain(nonlinearity: _Nonlinearity, param: float | None = None) -> float:
    """Return the factor that compensates the effect of a nonlinearity on the standard deviation."""
    if nonlinearity in (*_LINEAR, "sigmoid"):
        return 1.0
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, int | float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Return fan-in (number of inputs of each output) and fan-out (number of outputs of each input)."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    window = 1
    for size in tensor.shape[2:]:
        window *= size
    return tensor.shape[1] * window, tensor.shape[0] * window


_calculate_fan_in_and_fan_out = calculate_fan_in_and_fan_out


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """Return the fan-in or fan-out of a tensor. `mode` is "fan_in" or "fan_out"."""
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of {modes}")
    return calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill a tensor with uniform random numbers in [a, b)."""
    with ts.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill a tensor with normal random numbers."""
    with ts.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill a tensor with random numbers of a normal distribution truncated to [a, b]."""

    def below(x: float) -> float:
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    if tensor.is_meta:
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    with ts.no_grad():
        if below((b - mean) / std) - below((a - mean) / std) > 0.3:
            _redraw_outside(tensor, mean, std, a, b, generator)
        else:
            _accept_under_density(tensor, mean, std, a, b, generator)
    return tensor


def _redraw_outside(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> None:
    low, high = (tensor.new_tensor(bound, device="cpu").item() for bound in (a, b))
    result = tensor.normal_(mean, std, generator=generator)
    outside = (result < low) | (result > high)
    while outside.any():
        again = ts.empty_like(result).normal_(mean, std, generator=generator)
        result = ts.where(outside, again, result)
        outside = (result < low) | (result > high)
    if result is not tensor:
        tensor.copy_(result)


def _accept_under_density(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any
) -> None:
    """Fill a tensor with truncated normal numbers by rejection sampling.

    Draw uniform numbers x in [a, b], and accept x with the probability density(x) / maximum density. Draw
    rejected elements again.
    """
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    pending = None
    while pending is None or pending.any():
        drawn = ts.empty_like(tensor).uniform_(a, b, generator=generator)
        tensor.copy_(drawn if pending is None else ts.where(pending, drawn, tensor))
        density = drawn.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        rejected = ts.empty_like(tensor).uniform_(generator=generator).log_().gt(density)
        pending = rejected if pending is None else ts.where(pending, rejected, pending)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill a tensor with `val`."""
    with ts.no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill a tensor with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill a tensor with zeros."""
    with ts.no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity matrix."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with ts.no_grad():
        return tensor.copy_(ts.eye(*tensor.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that the convolution copies input channels (Dirac delta)."""
    dimensions = tensor.dim()
    if dimensions not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    channels = tensor.shape[0] // groups
    middle = [size // 2 for size in tensor.shape[2:]]
    zeros_(tensor)
    with ts.no_grad():
        for group in range(groups):
            for channel in range(min(channels, tensor.shape[1])):
                tensor[(group * channels + channel, channel, *middle)] = 1
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill a tensor by Xavier initialization (Glorot), uniform: variance gain² * 2 / (fan_in + fan_out)."""
    inputs, outputs = calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(inputs + outputs))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill a tensor by Xavier initialization (Glorot), normal: variance gain² * 2 / (fan_in + fan_out)."""
    inputs, outputs = calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(inputs + outputs)), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: _Nonlinearity = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill a tensor with uniform numbers (Kaiming initialization, He initialization).

    The variance of the numbers is gain² / fan, so that a layer preserves the variance of its activations.
    """
    if 0 in tensor.shape:
        return tensor
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: _Nonlinearity = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill a tensor with normal numbers (Kaiming initialization, He initialization).

    The variance of the numbers is gain² / fan, so that a layer preserves the variance of its activations.
    """
    if 0 in tensor.shape:
        return tensor
    return normal_(
        tensor,
        0.0,
        calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode)),
        generator,
    )


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fill a tensor with a matrix whose rows or columns are orthonormal (orthogonal initialization)."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    flat = ts.empty(rows, columns, dtype=tensor.dtype).normal_(0, 1)
    with ts.no_grad():
        q, r = ts.linalg.qr(flat.t() if rows < columns else flat)
        q = q * ts.diag(r, 0).sign()
        tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape)).mul_(gain)
    return tensor


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fill a matrix with normal numbers. In each column, the fraction `sparsity` of elements is zero."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    normal_(tensor, 0, std, generator)
    with ts.no_grad():
        for column in range(columns):
            tensor[ts.randperm(rows)[:zeros], column] = 0
    return tensor


def _make_deprecate(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a deprecated alias of an initializer, such as `uniform` for `uniform_`. It warns when called."""
    new = function.__name__
    old = new[:-1]

    @functools.wraps(function)
    def warn_deprecated(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    warn_deprecated.__name__ = old
    return warn_deprecated


# Private names of PyTorch that some programs use.
_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_
_no_grad_fill_, _no_grad_zero_ = constant_, zeros_

uniform = _make_deprecate(uniform_)
normal = _make_deprecate(normal_)
constant = _make_deprecate(constant_)
eye = _make_deprecate(eye_)
dirac = _make_deprecate(dirac_)
xavier_uniform = _make_deprecate(xavier_uniform_)
xavier_normal = _make_deprecate(xavier_normal_)
kaiming_uniform = _make_deprecate(kaiming_uniform_)
kaiming_normal = _make_deprecate(kaiming_normal_)
orthogonal = _make_deprecate(orthogonal_)
sparse = _make_deprecate(sparse_)
