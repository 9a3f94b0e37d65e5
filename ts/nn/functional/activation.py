"""Activation functions with the option `inplace`, and softmax functions, whose dimension may be omitted."""

from __future__ import annotations

import warnings

import ts
from ts._core.tensor.tensor import Tensor


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return max(x, 0)."""
    if inplace:
        result = ts.relu_(input)
    else:
        result = ts.relu(input)
    return result


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return min(max(x, 0), 6)."""
    if inplace:
        result = ts.relu6_(input)
    else:
        result = ts.relu6(input)
    return result


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return the exponential linear unit."""
    if inplace:
        result = ts.elu_(input, alpha)
    else:
        result = ts.elu(input, alpha)
    return result


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the scaled exponential linear unit."""
    if inplace:
        result = ts.selu_(input)
    else:
        result = ts.selu(input)
    return result


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return the continuously differentiable exponential linear unit."""
    if inplace:
        result = ts.celu_(input, alpha)
    else:
        result = ts.celu(input, alpha)
    return result


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return x if x >= 0, else `negative_slope` * x."""
    if inplace:
        result = ts.leaky_relu_(input, negative_slope)
    else:
        result = ts.leaky_relu(input, negative_slope)
    return result


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x * sigmoid(x)."""
    if inplace:
        result = ts.silu_(input)
    else:
        result = ts.silu(input)
    return result


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x * tanh(softplus(x))."""
    if inplace:
        result = ts.mish_(input)
    else:
        result = ts.mish(input)
    return result


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x * hardsigmoid(x)."""
    if inplace:
        result = ts.hardswish_(input)
    else:
        result = ts.hardswish(input)
    return result


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the piecewise linear approximation of the sigmoid."""
    if inplace:
        result = ts.hardsigmoid_(input)
    else:
        result = ts.hardsigmoid(input)
    return result


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x clamped to [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if inplace:
        result = ts.hardtanh_(input, min_val, max_val)
    else:
        result = ts.hardtanh(input, min_val, max_val)
    return result


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return x where x exceeds the threshold, and `value` elsewhere."""
    if inplace:
        result = ts.threshold_(input, threshold, value)
    else:
        result = ts.threshold(input, threshold, value)
    return result


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Apply `elu` in place."""
    return elu(input, alpha, inplace=True)


def selu_(input: Tensor) -> Tensor:
    """Apply `selu` in place."""
    return selu(input, inplace=True)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Apply `celu` in place."""
    return celu(input, alpha, inplace=True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Apply `leaky_relu` in place."""
    return leaky_relu(input, negative_slope, inplace=True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Apply `hardtanh` in place."""
    return hardtanh(input, min_val, max_val, inplace=True)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """Apply `threshold` in place."""
    return ts.threshold_(input, threshold, value)


def relu_(input: Tensor) -> Tensor:
    """Apply `relu` in place."""
    return relu(input, inplace=True)


def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False) -> Tensor:
    """Apply `rrelu` in place."""
    return ts.rrelu_(input, lower, upper, training)


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Return LeakyReLU with a random slope for each negative element in training.

    The slopes are in [lower, upper]. Outside of training, the slope is (lower + upper) / 2.
    """
    if inplace:
        result = ts.rrelu_(input, lower, upper, training)
    else:
        result = ts.rrelu(input, lower, upper, training)
    return result


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent."""
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    """Return 1 / (1 + exp(-x))."""
    return input.sigmoid()


def softsign(input: Tensor) -> Tensor:
    """Return x / (1 + |x|)."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """Return x - tanh(x)."""
    return input - input.tanh()


def _softmax_dim(ndim: int) -> int:
    """Return the dimension that softmax functions use if `dim` is omitted, for a tensor of rank `ndim`."""
    if ndim == 0 or ndim == 1 or ndim == 3:
        dim = 0
    else:
        dim = 1
    return dim


def _warn_of_dim(name: str, level: int) -> None:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
        "argument.",
        stacklevel=level,
    )


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: int | None = None) -> Tensor:
    """Return exp(x), normalized to sum 1 along a dimension."""
    if dim is None:
        if not ts.jit.is_scripting():
            _warn_of_dim("softmax", _stacklevel)
        dim = _softmax_dim(input.dim())
    if dtype is None:
        result = input.softmax(dim)
    else:
        result = input.softmax(dim, dtype=dtype)
    return result


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: int | None = None) -> Tensor:
    """Return softmax(-x)."""
    if dim is None:
        if not ts.jit.is_scripting():
            _warn_of_dim("softmin", _stacklevel)
        dim = _softmax_dim(input.dim())
    if dtype is None:
        result = (-input).softmax(dim)
    else:
        result = (-input).softmax(dim, dtype=dtype)
    return result


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: int | None = None
) -> Tensor:
    """Return log(softmax(x))."""
    if dim is None:
        if not ts.jit.is_scripting():
            _warn_of_dim("log_softmax", _stacklevel)
        dim = _softmax_dim(input.dim())
    if dtype is None:
        result = input.log_softmax(dim)
    else:
        result = input.log_softmax(dim, dtype=dtype)
    return result


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Draw a sample of the Gumbel-softmax distribution. If `hard`, the sample is one-hot."""
    gumbels = ts.neg(ts.empty_like(logits).exponential_().log())
    soft = ((logits + gumbels) / tau).softmax(dim)
    if hard:
        index = soft.max(dim, keepdim=True)[1]
        one_hot = ts.zeros_like(logits).scatter_(dim, index, 1.0)
        result = one_hot - soft.detach() + soft
    else:
        result = soft
    return result
