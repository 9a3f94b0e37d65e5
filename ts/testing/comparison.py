"""Approximate comparison of tensors by relative tolerance and absolute tolerance: `assert_close`.

The default tolerances depend on the dtype. Containers are compared item by item:

    assert_close(actual, expected)
    assert_close({"a": [x]}, {"a": [y]}, rtol=0, atol=1e-3)

The function raises AssertionError with the differences and their positions.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import ts
from ts._core.tensor.tensor import Tensor

_TOLERANCES: Final = {  # dtype -> (relative, absolute) tolerance. Other dtypes are compared exactly
    "torch.float16": (1e-3, 1e-5),
    "torch.bfloat16": (1.6e-2, 1e-5),
    "torch.float32": (1.3e-6, 1e-5),
    "torch.float64": (1e-7, 1e-7),
    "torch.complex64": (1.3e-6, 1e-5),
    "torch.complex128": (1e-7, 1e-7),
}
_DTYPE_OF_NUMBER: Final = {float: "torch.float64", complex: "torch.complex128"}


@dataclass(frozen=True)
class _Comparison:
    """Options of `assert_close` for comparisons of tensors."""

    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool
    msg: str | Callable[[str], str] | None

    def fail(self, message: str, path: tuple[Any, ...]) -> None:
        if path:
            message += f"\n\nThe failure occurred for item {''.join(f'[{key!r}]' for key in path)}"
        if self.msg is not None:
            message = self.msg(message) if callable(self.msg) else self.msg
        raise AssertionError(message)

    def tolerances(self, *dtypes: str) -> tuple[float, float]:
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        tolerances = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        return max(rtol for rtol, _ in tolerances), max(atol for _, atol in tolerances)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise AssertionError unless `actual` and `expected` are equal within a tolerance."""
    if (rtol is None) != (atol is None):
        raise ValueError(
            "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
            f"{'rtol' if rtol is None else 'atol'}."
        )
    comparison = _Comparison(
        rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride, msg
    )
    if not allow_subclasses and type(actual) is not type(expected):
        _raise_type_error(actual, expected)
    _compare(comparison, actual, expected, ())


def _raise_type_error(actual: Any, expected: Any) -> None:
    raise TypeError(
        f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
    )


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _compare(c: _Comparison, actual: Any, expected: Any, path: tuple[Any, ...]) -> None:
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            c.fail(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", path)
        for i, pair in enumerate(zip(actual, expected, strict=True)):
            _compare(c, *pair, (*path, i))
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if set(actual) != set(expected):
            c.fail(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(set(expected) - set(actual))}\n"
                f"Additional keys in the actual mapping: {sorted(set(actual) - set(expected))}",
                path,
            )
        for key in expected:
            _compare(c, actual[key], expected[key], (*path, key))
    elif actual is None or expected is None:
        if actual is not expected:
            c.fail(f"None mismatch: {actual} is not {expected}", path)
    elif isinstance(actual, bool | np.bool_) and isinstance(expected, bool | np.bool_):
        if actual != expected:
            c.fail(f"Booleans mismatch: {actual} is not {expected}", path)
    elif isinstance(actual, int | float | complex) and isinstance(expected, int | float | complex):
        if c.check_dtype and type(actual) is not type(expected):
            c.fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.", path)
        names = (_DTYPE_OF_NUMBER.get(type(scalar), "") for scalar in (actual, expected))
        _compare_numbers(c, actual, expected, c.tolerances(*names), path)
    elif isinstance(actual, Tensor) and isinstance(expected, Tensor):
        _compare_tensors(c, actual, expected, path)
    elif isinstance(actual, np.ndarray) and isinstance(expected, np.ndarray):
        _compare_tensors(c, ts.as_tensor(actual), ts.as_tensor(expected), path)
    else:
        _raise_type_error(actual, expected)


def _compare_numbers(
    c: _Comparison, actual: Any, expected: Any, tolerances: tuple[float, float], path: tuple[Any, ...]
) -> None:
    rtol, atol = tolerances
    difference = abs(actual - expected)
    close = actual == expected or (cmath.isfinite(difference) and difference <= atol + rtol * abs(expected))
    if close or (c.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
        return
    relative = difference / abs(expected) if expected != 0 else cmath.inf
    exact = rtol == atol == 0
    message = f"Scalars are not {'equal' if exact else 'close'}!\n\nExpected {expected} but got {actual}.\n"
    message += f"Absolute difference: {difference}{_format_tolerance(atol, exact)}\n"
    c.fail(message + f"Relative difference: {relative}{_format_tolerance(rtol, exact)}", path)


def _format_tolerance(tolerance: float, exact: bool) -> str:
    return "" if exact else f" (up to {tolerance} allowed)"


def _compare_tensors(c: _Comparison, actual: Tensor, expected: Tensor, path: tuple[Any, ...]) -> None:
    for name, is_checked in (
        ("shape", True),
        ("layout", c.check_layout),
        ("device", c.check_device),
        ("dtype", c.check_dtype),
        ("stride()", c.check_stride),
    ):
        values = [x.stride() if name == "stride()" else getattr(x, name) for x in (actual, expected)]
        if is_checked and values[0] != values[1]:
            c.fail(f"The values for attribute '{name}' do not match: {values[0]} != {values[1]}.", path)
    if actual.is_meta or expected.is_meta:
        return
    tolerances = c.tolerances(str(actual.dtype), str(expected.dtype))
    x, y = (t.detach().cpu() for t in (actual, expected))
    if x.dim() == 0:
        scalar, other = x.item(), y.item()
        if isinstance(scalar, bool) and isinstance(other, bool):
            scalar, other = int(scalar), int(other)
        _compare_numbers(c, scalar, other, tolerances, path)
        return
    common = ts.promote_types(x.dtype, y.dtype)
    if not (common.is_floating_point or common.is_complex):
        common = ts.int64
    # 8-bit floats have no arithmetic operators, so they are compared as float32
    elif common.is_floating_point and common.itemsize == 1:
        common = ts.float32
    x, y = x.to(common), y.to(common)
    rtol, atol = tolerances
    close = ts.isclose(x, y, rtol=rtol, atol=atol, equal_nan=c.equal_nan)
    if bool(close.all()):
        return
    exact = rtol == atol == 0
    mismatch_count = close.numel() - int(close.sum())
    absolute = (x - y).abs().masked_fill(close, 0)
    relative = (absolute / y.abs()).masked_fill(close, 0)
    message = f"Tensor-likes are not {'equal' if exact else 'close'}!\n\n"
    message += (
        f"Mismatched elements: {mismatch_count} / {close.numel()} ({mismatch_count / close.numel():.1%})\n"
    )
    lines = []
    for kind, differences, tolerance in (("absolute", absolute, atol), ("relative", relative, rtol)):
        flat_index = int(differences.argmax())
        index = tuple(int(i) for i in np.unravel_index(flat_index, tuple(differences.shape)))
        largest = differences.flatten()[flat_index].item()
        lines.append(
            f"Greatest {kind} difference: {largest} at index {index}{_format_tolerance(tolerance, exact)}"
        )
    c.fail(message + "\n".join(lines), path)


_ALLCLOSE_TOLERANCES: Final = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Raise AssertionError unless tensors are equal within a tolerance.

    This function is deprecated in favor of `assert_close`.
    """
    actual = actual if isinstance(actual, Tensor) else ts.tensor(actual)
    expected = expected if isinstance(expected, Tensor) else ts.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        names = [str(x.dtype).removeprefix("torch.") for x in (actual, expected)]
        pairs = [_ALLCLOSE_TOLERANCES.get(name, (0.0, 0.0)) for name in names]
        rtol, atol = (max(values) for values in zip(*pairs, strict=True))
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False,
        check_stride=False, msg=msg or None,
    )  # fmt: skip
