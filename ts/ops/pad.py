"""Padding (constant padding, reflection padding, replication padding, circular padding).

A padding list contains the numbers of elements to add before and after each dimension. The last dimension is
first. Every mode except "constant" maps each index of the result to a source index. Backward adds the
gradient of each element to the gradient of its source element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ts._core.tensor import size_guards
from ts.ops import common
from ts.ops.out_variants import COPIED_OUT, EXPECTED_DTYPE_ERROR, SCALAR
from ts.ops.registry import op
from ts.ops.shape_functions import ShapeAndDtype
from ts.ops.unfold import check_nonempty_dims, pad_or_crop

Array = common.Array
Sizes = Sequence[int]

# Dict from mode to a function (xp, i, n), which returns the source index for index i of the padded dimension.
# n is the number of elements of the input along the dimension. Index i counts from the first of them.
# Therefore, it is negative in the padding before the input.
_SOURCE: dict[str, Callable[[Any, Array, int], Array]] = {
    "reflect": lambda xp, i, n: n - 1 - xp.abs(n - 1 - xp.abs(i)),
    "replicate": lambda xp, i, n: xp.clip(i, 0, n - 1),
    "circular": lambda xp, i, n: i % n,
}


def _pairs(pad: Sizes, x: Array) -> list[tuple[int, int]]:
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * x.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)} while the input has {x.ndim} dimensions."
        )
    return [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -2, -2)]


@op(
    "aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
    where="f",
    layout="channels",
    **COPIED_OUT,
)
def constant_pad(xp: Any, self: Array, pad: Sizes, value: Any = 0) -> Array:
    """Pad x with `value`."""
    pairs = _pairs(pad, self)
    for (a, b), n in zip(pairs, self.shape[self.ndim - len(pairs) :], strict=True):
        if n + a + b < 0:
            raise RuntimeError(
                f"The input size {n}, plus negative padding {a} and {b} resulted in a negative output size, "
                "which is invalid."
            )
    result = pad_or_crop(xp, self, pairs, common.cast_checked(xp, value, self.dtype))
    # `pad_or_crop` returns a view if no element is added, but the operator must return a new array.
    return result.copy() if all(a <= 0 and b <= 0 for a, b in pairs) else result


def _unsupported(x: Array, pad: Sizes) -> NotImplementedError:
    return NotImplementedError(
        f"Padding size {len(pad)} is not supported for {x.ndim}D input tensor.\nSupported combinations for "
        "non-constant padding:\n  - 2D or 3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D "
        "input: "
        "padding size = 4 (pads last 2 dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 "
        "dimensions)"
    )


def mode_pad(xp: Any, x: Array, pad: Sizes, mode: str) -> Array:
    """Pad x in `mode` "reflect", "replicate" or "circular"."""
    pairs = _pairs(pad, x)
    n = len(pairs)
    if x.ndim not in (n + 1, n + 2):
        raise _unsupported(x, pad)
    if mode != "circular":
        check_nonempty_dims(x, n)
    for axis, (a, b) in enumerate(pairs, x.ndim - n):
        size = x.shape[axis]
        if mode == "reflect" and max(a, b) >= size:
            raise RuntimeError(
                f"Argument #4: Padding size should be less than the corresponding input dimension, but got: "
                f"padding ({a}, {b}) at dimension {axis} of input {list(x.shape)}"
            )
        if mode == "circular" and max(a, b) > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if size + a + b < (0 if mode == "circular" else 1):
            raise RuntimeError(f"input (size {size}) is too small for padding ({a}, {b}) in dimension {axis}")
        # Negative amounts crop the input. Crop first, so that positive amounts repeat only the remaining
        # elements.
        if mode == "circular" and min(a, b) < 0:
            x = xp.take(x, xp.arange(max(-a, 0), size - max(-b, 0)), axis=axis)
            a, b, size = max(a, 0), max(b, 0), x.shape[axis]
        if a or b:
            x = xp.take(x, _SOURCE[mode](xp, xp.arange(-a, size + b), size), axis=axis)
    return x


@op(
    'aten::pad(Tensor self, SymInt[] pad, str mode="constant", float? value=None) -> Tensor',
    where="f",
    layout="channels",
)
def _pad(xp: Any, self: Array, pad: Sizes, mode: str = "constant", value: float | None = None) -> Array:
    if mode == "constant":
        return constant_pad(xp, self, pad, 0 if value is None else value)
    if mode not in _SOURCE:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value:
        raise RuntimeError(f"Padding mode '{mode}' doesn't take in value argument")
    if self.dtype == common.BOOL and mode != "circular":
        name = "reflection" if mode == "reflect" else "replication"
        common.raise_unsupported_dtype(f"{name}_pad{len(pad) // 2}d", self.dtype)
    return mode_pad(xp, self, pad, mode)


_BY_NUMBER = ("reflect", "replicate", "circular", "constant")


@op(
    "aten::_pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor",
    where="",
    layout="channels",
)
def _pad_enum(xp: Any, self: Array, pad: Sizes, mode: int, value: float | None = None) -> Array:
    """Pad with the mode given by PyTorch's enum number."""
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if not 0 <= mode < len(_BY_NUMBER):
        raise _unsupported(self, pad)
    name = _BY_NUMBER[mode]
    if name != "constant" and value:
        raise RuntimeError(f'Padding mode "{name}" doesn\'t take in value argument')
    return _pad(xp, self, pad, name, value)


def _unpad(xp: Any, grad: Array, self: Array, pad: Sizes, mode: str) -> Array:
    """Return the gradient of the input: for each element, the sum of the gradients of its copies."""
    _unpadded_shape(grad, self, pad)
    pairs = _pairs(pad, self)
    for axis, (a, b) in enumerate(pairs, self.ndim - len(pairs)):
        if a or b:
            grad = _unpad_axis(xp, grad, axis, a, self.shape[axis], mode)
    return xp.array(grad)


def _unpadded_shape(grad: Array, self: Array, pad: Sizes) -> ShapeAndDtype:
    """Return shape and dtype of the input gradient after checking the padded gradient's shape."""
    pairs = _pairs(pad, self)
    pairs = [(0, 0)] * (self.ndim - len(pairs)) + pairs
    for axis, (n, (a, b)) in enumerate(zip(self.shape, pairs, strict=True)):
        if grad.ndim != self.ndim or not size_guards.equal(grad.shape[axis], n + a + b):
            raise RuntimeError(
                f"grad_output of size {n + a + b} expected at dimension {axis}, got {list(grad.shape)}"
            )
    return self.shape, grad.dtype


def _unpad_axis(xp: Any, grad: Array, axis: int, before: int, n: int, mode: str) -> Array:
    grad_input = xp.zeros((*grad.shape[:axis], n, *grad.shape[axis + 1 :]), grad.dtype)
    front, count = (slice(None),) * axis, grad.shape[axis]
    start, end = min(max(before, 0), count), max(min(before + n, count), 0)
    if start < end:
        grad_input[(*front, slice(start - before, end - before))] = grad[(*front, slice(start, end))]
    for position in (*range(start), *range(max(start, end), count)):
        source = int(_SOURCE[mode](np, position - before, n))
        grad_input[(*front, source)] += grad[(*front, position)]
    return grad_input


def _mode_gradient(mode: str) -> Callable[..., Array]:
    return lambda xp, grad, self, padding: _unpad(xp, grad, self, padding, mode)


def _mode_kernel(mode: str) -> Callable[..., Array]:
    return lambda xp, self, padding: mode_pad(xp, self, padding, mode)


_OUT_DTYPE_ERRORS = {("reflection", 1): EXPECTED_DTYPE_ERROR, ("reflection", 2): SCALAR}
for _name, _mode in (("reflection", "reflect"), ("replication", "replicate")):
    for _n in (1, 2, 3):
        op(
            f"aten::{_name}_pad{_n}d(Tensor self, SymInt[{2 * _n}] padding) -> Tensor",
            where="f",
            out="out",
            layout="channels" if _n > 1 else (),
            dtype_errors={"b": f"{_name}_pad{_n}d"},
            out_dtype_error=_OUT_DTYPE_ERRORS.get((_name, _n), ""),
            autocast={} if (_name, _n) == ("reflection", 3) else {"cpu": "float32"},
        )(_mode_kernel(_mode))
        op(
            f"aten::{_name}_pad{_n}d_backward(Tensor grad_output, Tensor self, SymInt[{2 * _n}] padding)"
            " -> Tensor",
            where="",
            out="grad_input",
            shape=_unpadded_shape,
            dtype_errors={"bi": f"{_name}_pad{_n}d_backward"},
            checked_dtype="grad_output self",
        )(_mode_gradient(_mode))
op("aten::_pad_circular(Tensor self, SymInt[] pad) -> Tensor")(_mode_kernel("circular"))
