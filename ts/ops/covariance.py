"""Covariance and correlation matrices of observations.

Input: an array with variables in rows and observations in columns, and optional weights of observations.
Output: a matrix (variables, variables).
"""

from __future__ import annotations

from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common
from ts.ops.registry import op

Array = common.Array


@op(
    "aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
    autocast={"cpu": "lower"},
)
def _cov(
    xp: Any, self: Array, correction: int = 1, fweights: Array | None = None, aweights: Array | None = None
) -> Array:
    if self.ndim > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    if self.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = self.reshape(1, self.size) if self.ndim < 2 else self
    _check_weights("fweights", fweights, x.shape[1], integral=True)
    _check_weights("aweights", aweights, x.shape[1], integral=False)
    weights = [w for w in (fweights, aweights) if w is not None]
    # Cast integers to the dtype of the weights, or to the default dtype if there are no weights. Compute
    # 16-bit floats in 32 bits.
    weighted = x.dtype if aweights is None else common.promote_types(x.dtype, aweights.dtype)
    target = common.float_dtype(weighted)
    x = common.cast(xp, x, common.opmath(target))
    w = xp.ones(x.shape[1], dtype=common.real_dtype(x.dtype))
    for weight in weights:
        w = w * common.cast(xp, weight, w.dtype)
    total = xp.sum(w)
    mean = xp.sum(x * w, axis=1, keepdims=True) / total
    if aweights is None or not correction:
        factor = total - correction
    else:
        factor = total - correction * xp.sum(w * common.cast(xp, aweights, w.dtype)) / total
    centred = x - mean
    result = xp.matmul(centred * w, xp.conj(centred.T)) / xp.maximum(factor, 0)
    if size_guards.evaluate_guard(x.shape[0] == 1):
        result = result.reshape(())
    return common.cast(xp, xp.asarray(result), target)


def _check_weights(name: str, weights: Array | None, count: int, integral: bool) -> None:
    if weights is None:
        return
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.ndim} "
            "dimensions"
        )
    if (common.category(weights) == common.FLOATING) == integral:
        kind = "integral" if integral else "floating point"
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with "
            f"{common.NAME_OF[weights.dtype]} dtype"
        )
    if not size_guards.equal(weights.size, count):
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.size} != {count}"
        )
    if weights.size and weights.min() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")


@op(
    "aten::corrcoef(Tensor self) -> Tensor",
    dtype_errors={"b": "cov(): bool dtype is not supported for input"},
    autocast={"cpu": "lower"},
)
def _corrcoef(xp: Any, self: Array) -> Array:
    if self.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    dtype = common.float_dtype(self.dtype)
    c = _cov(xp, common.cast(xp, self, common.opmath(dtype)))
    if c.ndim == 0:
        return common.cast(xp, xp.asarray(c / c), dtype)
    spread = xp.sqrt(xp.diagonal(c).real)
    correlation = c / spread[:, None] / spread[None, :]
    if correlation.dtype.kind == "c":
        correlation = xp.clip(correlation.real, -1, 1) + 1j * xp.clip(correlation.imag, -1, 1)
    else:
        correlation = xp.clip(correlation, -1, 1)
    return common.cast(xp, correlation, dtype)
