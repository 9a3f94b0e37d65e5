"""Window functions (Hann, Hamming, Blackman, Bartlett and Kaiser windows), such as `torch.hann_window`.

Input: a length and the parameters of the window. Output: the values of the window. Windows are periodic by
default. `ts.signal.windows` has more window functions, with other defaults.

For example, `hann_window(4)` returns [0.0, 0.5, 1.0, 0.5].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ts.ops import common
from ts.ops.out_variants import COPIED, OPTIONS
from ts.ops.registry import op

Array = common.Array
Values = Callable[..., Array]  # values(xp, positions in the window from 0 to 1, *parameters)
_OPTIONS = f"*, {OPTIONS}"


def _window(xp: Any, name: str, values: Values, length: int, periodic: bool, dtype: int | None) -> Array:
    target = common.dtype_from(dtype)
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    if common.CATEGORY_OF[target] < common.FLOATING:
        dtype_name = common.CPP_NAME_OF[target]
        raise RuntimeError(f"{name} expects floating point dtypes, got: TensorOptions(dtype={dtype_name}")
    if length <= 1:
        return xp.ones(length, dtype=target)
    if target.kind == "c":
        common.raise_unsupported_dtype("arange_cpu", target)
    last = length if periodic else length - 1
    return common.cast(xp, values(xp.arange(length, dtype=common.DOUBLE) / max(last, 1)), target)


def _cosines(xp: Any, positions: Array, *weights: float) -> Array:
    """Return a0 - a1 cos(2 pi t) + a2 cos(4 pi t) - ... for weights a and positions t."""
    terms = [(-1) ** i * a * xp.cos(2 * math.pi * i * positions) for i, a in enumerate(weights)]
    return sum(terms[1:], terms[0])


def _triangle(xp: Any, positions: Array) -> Array:
    return 1 - xp.abs(2 * positions - 1)


def _kaiser(xp: Any, positions: Array, beta: float) -> Array:
    return xp.i0(beta * xp.sqrt(xp.maximum(1 - (2 * positions - 1) ** 2, 0))) / xp.i0(xp.asarray(float(beta)))


# (name, function that computes the values, dict from overload name to the parameters after `periodic`,
# default values of these parameters)
_WINDOWS: tuple[tuple[str, Values, dict[str, str], tuple[float, ...]], ...] = (
    ("hann", lambda xp, at: _cosines(xp, at, 0.5, 0.5), {}, ()),
    ("bartlett", _triangle, {}, ()),
    ("blackman", lambda xp, at: _cosines(xp, at, 0.42, 0.5, 0.08), {}, ()),
    ("hamming", _cosines, {"periodic_alpha": "float alpha", "periodic_alpha_beta": "float alpha, float beta"},
     (0.54, 0.46)),
    ("kaiser", _kaiser, {"beta": "float beta"}, (12.0,)),
)  # fmt: skip


def _declare(name: str, values: Values, more: dict[str, str], defaults: tuple[float, ...]) -> None:
    """Declare the overloads of window `name`, which take the length, `periodic`, and parameters.

    Overloads exist with only the length, with `periodic`, and with the parameters of each row of `more`.
    """
    full = f"{name}_window"

    def kernel(count: int) -> Callable[..., Array]:
        """Return a window kernel with `count` arguments after the length."""

        def window(xp: Any, window_length: int, *args: Any) -> Array:
            periodic = args[0] if count else True
            parameters = (*args[1:count], *defaults[max(count - 1, 0) :])
            dtype = args[count] if len(args) > count else None
            return _window(
                xp, full, lambda positions: values(xp, positions, *parameters), window_length, periodic, dtype
            )

        return window

    op(f"aten::{full}(int window_length, {_OPTIONS}) -> Tensor", where="f", out="out", **COPIED)(kernel(0))
    overloads = {"periodic": ""} | {key: f"{arguments}, " for key, arguments in more.items()}
    for overload, arguments in overloads.items():
        schema = f"aten::{full}.{overload}(int window_length, bool periodic, {arguments}{_OPTIONS}) -> Tensor"
        op(schema, where="f", out=f"{overload}_out", **COPIED)(kernel(1 + arguments.count(",")))


for _row in _WINDOWS:
    _declare(*_row)
