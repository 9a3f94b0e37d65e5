"""Tensors with random elements for tests.

>>> make_tensor(2, 3, dtype=ts.float32, device="cpu").shape
torch.Size([2, 3])
"""

from __future__ import annotations

import math
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor

__all__ = ["make_tensor"]


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return a tensor with elements from the uniform distribution over [low, high).

    The default limits are [-9, 9) for floating-point and complex dtypes, and [0, 2) for bool. They are [-9,
    10) for signed and [0, 10) for unsigned integers. Limits are clamped to the range of the dtype.

    With `noncontiguous`, the result is a view of every second element of the last dimension of a larger
    tensor. `exclude_zero` replaces zeros by a small positive value. Raises ValueError for inconsistent
    arguments.
    """
    if noncontiguous and memory_format is not None:
        raise ValueError(
            f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous!r} and memory_format={memory_format!r}"
        )
    is_continuous = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not is_continuous:
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype}"
        )
    size = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    low, high = _limits(dtype, low, high)
    if dtype.is_complex:
        components = ts.empty(*size, 2, device=device, dtype=dtype.to_real()).uniform_(low, high)
        result = ts.view_as_complex(components)
    elif is_continuous:
        result = ts.empty(*size, device=device, dtype=dtype).uniform_(low, high)
    else:
        result = ts.randint(math.floor(low), math.ceil(high), size, device=device, dtype=dtype)
    if noncontiguous and result.numel() > 1:
        result = ts.repeat_interleave(result, 2, dim=-1)[..., ::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = ts.finfo(dtype).tiny if is_continuous else 1
    return result.requires_grad_(requires_grad)


def _limits(dtype: Any, low: float | None, high: float | None) -> tuple[float, float]:
    """Return the limits of random elements, clamped to the range of the dtype."""
    is_continuous = dtype.is_floating_point or dtype.is_complex
    lowest, highest, first, last = (
        (ts.finfo(dtype).min, ts.finfo(dtype).max, -9, 9)
        if is_continuous
        else (0, 2, 0, 2)
        if dtype == ts.bool
        else (ts.iinfo(dtype).min, ts.iinfo(dtype).max, -9 if dtype.is_signed else 0, 10)
    )
    low, high = first if low is None else low, last if high is None else high
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    return max(low, lowest), min(high, highest)
