"""Decompositions of activations to `where`, `exp`, `clamp`, `elu` ..."""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.export.decompositions.arithmetic import either
from ts.export.decompositions.decomposition_table import decomposes, register_composed

aten = ts.ops.aten

register_composed("aten::prelu aten::feature_dropout aten::alpha_dropout")


@decomposes("aten::silu")
def silu(x: Tensor) -> Tensor:
    """Return x * sigmoid(x)."""
    return aten.mul.Tensor(x, aten.sigmoid(x))


@decomposes("aten::softplus")
def softplus(x: Tensor, beta: Any = 1, threshold: Any = 20) -> Tensor:
    """Return log(1 + exp(beta * x)) / beta, but x where beta * x exceeds `threshold`."""
    scaled = x if beta == 1 else aten.mul.Tensor(x, beta)
    result = aten.log1p(aten.exp(scaled))
    result = result if beta == 1 else aten.div.Tensor(result, beta)
    return aten.where.self(aten.gt.Scalar(scaled, threshold), x, result)


@decomposes("aten::mish")
def mish(x: Tensor) -> Tensor:
    """Return x * tanh(softplus(x))."""
    return aten.mul.Tensor(x, aten.tanh(softplus(x)))


@decomposes("aten::selu", implicit=True)
def selu(x: Tensor) -> Tensor:
    """Return scale * elu(x, alpha), with the constants of self-normalizing networks."""
    return aten.elu(x, 1.6732632423543772, 1.0507009873554805)


@decomposes("aten::celu")
def celu(x: Tensor, alpha: Any = 1.0) -> Tensor:
    """Return x for x > 0, otherwise alpha * (exp(x / alpha) - 1)."""
    below = aten.expm1(x) if alpha == 1 else aten.mul.Tensor(aten.expm1(aten.div.Tensor(x, alpha)), alpha)
    return aten.where.self(aten.gt.Scalar(x, 0), x, below)


@decomposes("aten::relu6", implicit=True)
def relu6(x: Tensor) -> Tensor:
    """Return `x` clamped to [0, 6]."""
    return aten.hardtanh(x, 0, 6)


@decomposes("aten::_prelu_kernel")
def prelu(x: Tensor, weight: Tensor) -> Tensor:
    """Return x for x > 0, otherwise x * weight."""
    return aten.where.self(aten.gt.Scalar(x, 0), x, aten.mul.Tensor(weight, x))


def _shifted_relu6(x: Tensor) -> Tensor:
    return aten.clamp(aten.clamp(aten.add.Tensor(x, 3), 0), None, 6)


@decomposes("aten::hardswish")
def hardswish(x: Tensor) -> Tensor:
    """Return x * hardsigmoid(x)."""
    return aten.div.Tensor(aten.mul.Tensor(x, _shifted_relu6(x)), 6)


@decomposes("aten::hardsigmoid")
def hardsigmoid(x: Tensor) -> Tensor:
    """Return (x + 3) / 6 clamped to [0, 1]."""
    return aten.div.Tensor(_shifted_relu6(x), 6)


@decomposes("aten::hardshrink")
def hardshrink(x: Tensor, lambd: Any = 0.5) -> Tensor:
    """Return `x` with elements within [-lambd, lambd] replaced by 0."""
    return either(aten.le.Scalar(aten.abs(x), lambd), 0, x, x)


@decomposes("aten::softshrink")
def softshrink(x: Tensor, lambd: Any = 0.5) -> Tensor:
    """Move each element of `x` towards 0 by `lambd`. Elements within [-lambd, lambd] become 0."""
    exceeds = aten.gt.Scalar(aten.abs(x), lambd)
    shrunk = aten.sub.Tensor(x, aten.mul.Tensor(aten.sign(x), lambd))
    return aten.where.self(exceeds, shrunk, aten.mul.Tensor(x, 0))


@decomposes("aten::threshold")
def threshold(x: Tensor, threshold: Any, value: Any) -> Tensor:
    """Return `x` with elements that are at most `threshold` replaced by `value`."""
    return either(aten.le.Scalar(x, threshold), value, x, x)


@decomposes("aten::glu")
def glu(x: Tensor, dim: int = -1) -> Tensor:
    """Split `x` into two halves along `dim`, and return first * sigmoid(second)."""
    dim = dim % x.dim()
    half = x.shape[dim] // 2
    first, second = aten.slice.Tensor(x, dim, 0, half), aten.slice.Tensor(x, dim, half, half * 2)
    return aten.mul.Tensor(first, aten.sigmoid(second))


@decomposes("aten::log_sigmoid", implicit=True)
def log_sigmoid(x: Tensor) -> Tensor:
    """Return log(sigmoid(x))."""
    negative_part = aten.minimum(aten.full([], 0, dtype=x.dtype, device=x.device), x)
    return aten.sub.Tensor(negative_part, aten.log1p(aten.exp(aten.neg(aten.abs(x)))))


@decomposes("aten::softmax.int", implicit=True)
def softmax(x: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Compute softmax along `dim`, in `dtype` if given."""
    return aten._softmax(_cast(x, dtype), dim, False)


@decomposes("aten::log_softmax.int", implicit=True)
def log_softmax(x: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Compute the logarithm of softmax along `dim`, in `dtype` if given."""
    return aten._log_softmax(_cast(x, dtype), dim, False)


def _cast(x: Tensor, dtype: Any) -> Tensor:
    return x if dtype in (None, x.dtype) else aten._to_copy(x, dtype=dtype)


@decomposes("aten::_safe_softmax")
def safe_softmax(x: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Compute softmax along `dim`. If all elements of a slice are -∞, its result is 0."""
    probabilities = softmax(x, dim, dtype)
    masked = aten.all.dim(aten.eq.Scalar(x, float("-inf")), dim, True)
    return aten.where.self(masked, aten.zeros_like(probabilities), probabilities)


@decomposes("aten::dropout", implicit=True)
def dropout(x: Tensor, p: float, train: bool) -> Tensor:
    """Set elements to 0 with probability `p` and multiply the remaining elements by 1 / (1 - p).

    Without `train`, return a copy.
    """
    if not train or p == 0:
        return aten.clone(x)
    return aten.native_dropout(x, p, True)[0]
