"""Assertion operators of exported graphs, for tensor metadata and ranges of numbers.

An operator raises an exception if a condition of a tensor or number is false. Variants named `functional`
also receive a token tensor, and return a copy of the token. The next assertion receives this copy, so passes
cannot reorder the assertions.
"""

from __future__ import annotations

from typing import Any, Final

from ts import dtypes
from ts._core.tensor.tensor import Tensor
from ts.ops import common
from ts.ops.registry import op
from ts.ops.script_only_ops import truth
from ts.ops.shape_functions import like
from ts.ops.storage_ops import clone_kernel

Array = common.Array
_INT64_MIN: Final = -(1 << 63)


def _nothing(*_: Any) -> list[Any]:
    """Return an empty list. This is the shape rule of an operator without results."""
    return []


def _token_like(*args: Any) -> Any:
    """Return shape and dtype of the token, the operator's last argument."""
    return like(args[-1])


@op("aten::_assert_async(Tensor self) -> ()", side_effect=True, shape=_nothing)
@op("aten::_assert_async.msg(Tensor self, str assert_msg) -> ()", side_effect=True, shape=_nothing)
def _assert_async(
    xp: Any, self: Array, assert_msg: str = "Expected Tensor with single nonzero value, but got zero"
) -> None:
    if not truth(self):
        raise RuntimeError(assert_msg)


@op(
    "aten::_functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Tensor",
    side_effect=True,
    shape=_token_like,
)
def _functional_assert_async(xp: Any, self: Array, assert_msg: str, dep_token: Array) -> Array:
    _assert_async(xp, self, assert_msg)
    return clone_kernel(xp, dep_token)


@op(
    "aten::_functional_assert_scalar(Scalar self, str assert_msg, Tensor dep_token) -> Tensor",
    side_effect=True,
)
def _functional_assert_scalar(xp: Any, self: Any, assert_msg: str, dep_token: Array) -> Array:
    if not self:
        raise RuntimeError(assert_msg)
    return clone_kernel(xp, dep_token)


@op(
    "aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? "
    "dtype=None, *, Device? device=None, Layout? layout=None) -> ()",
    tensor_kernel=True,
    side_effect=True,
    inserted_by_export=True,
)
def _assert_tensor_metadata(
    a: Tensor,
    size: list[int] | None,
    stride: list[int] | None,
    dtype: int | None,
    device: Any,
    layout: int | None,
) -> None:
    if size is not None and list(size) != list(a.shape):
        raise RuntimeError(f"Tensor sizes mismatch! Expected: {list(size)}, Got: {list(a.shape)}")
    if stride is not None and list(stride) != list(a.stride()):
        raise RuntimeError(f"Tensor strides mismatch! Expected: {list(stride)}, Got: {list(a.stride())}")
    if dtype is not None and dtype != a.dtype.code:
        expected, actual = common.dtype_from(dtype), a.dtype.numpy_dtype
        template = "Tensor dtype mismatch! Expected: {want}, Got: {got_cpp}"
        raise RuntimeError(common.dtype_message(template, expected, actual))
    if device is not None and (device.type != a.device.type or device.index not in (None, a.device.index)):
        raise RuntimeError(f"Tensor device mismatch! Expected: {device}, Got: {a.device}")
    if layout is not None and layout != dtypes.strided.code:
        raise RuntimeError(f"Tensor layout mismatch! Expected: {layout}, Got: {dtypes.strided}")


def _constrain(size: Any, min_size: int | None, max_size: int | None) -> None:
    low = _INT64_MIN if min_size is None else min_size
    high = common.INT64_MAX if max_size is None else max_size
    if high < low:
        raise RuntimeError(f"Max must be greater than or equal to min. Got min={low} max={high}")
    if isinstance(size, int) and not low <= size <= high:
        raise RuntimeError(f"Invalid value range for {size} between [{low}, {high}].")


@op(
    "aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()",
    side_effect=True,
    constrains_size=True,
)
def _constrain_range(xp: Any, size: Any, min: int | None = None, max: int | None = None) -> None:
    _constrain(size, min, max)


@op(
    "aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()",
    side_effect=True,
    constrains_size=True,
)
def _constrain_size(xp: Any, size: Any, min: int | None = None, max: int | None = None) -> None:
    """Constrain a dynamic size to the range from `min` (default: 0) to `max`.

    Raise RuntimeError if `max` <= 2, as PyTorch does, because its compiler assumes sizes of at least 2.
    """
    if max is not None and max <= 2:
        raise RuntimeError(f"Max value to constrain_range_for_size must be greater than 2. got: {max}")
    _constrain(size, 0 if min is None else min, max)


@op(
    "aten::_functional_sym_constrain_range(Scalar size, int? min, int? max, Tensor dep_token) -> Tensor",
    side_effect=True,
)
def _functional_range(xp: Any, size: Any, min: int | None, max: int | None, dep_token: Array) -> Array:
    _constrain(size, min, max)
    return clone_kernel(xp, dep_token)


@op(
    "aten::_functional_sym_constrain_range_for_size(Scalar size, int? min, int? max, Tensor dep_token) -> "
    "Tensor",
    side_effect=True,
)
def _functional_size(xp: Any, size: Any, min: int | None, max: int | None, dep_token: Array) -> Array:
    _constrain_size(xp, size, min, max)
    return clone_kernel(xp, dep_token)


def _need_bools(self: Array) -> None:
    if self.dtype != common.BOOL:
        raise RuntimeError(f"Expected a tensor of bools, but got one of {common.NAME_OF[self.dtype]}")


@op("aten::_is_all_true(Tensor self) -> Tensor")
def _is_all_true(xp: Any, self: Array) -> Array:
    _need_bools(self)
    return xp.asarray(xp.all(self))


@op("aten::_is_any_true(Tensor self) -> Tensor")
def _is_any_true(xp: Any, self: Array) -> Array:
    _need_bools(self)
    return xp.asarray(xp.any(self))
