"""Copies, dtype conversions, and queries of dtype properties.

Input: an array and the target dtype. Output: a copy, or the array itself if nothing changes.
"""

from __future__ import annotations

from typing import Any

from ts import dtypes
from ts._core.tensor.size_guards import equal, equal_shapes, known_one
from ts.ops import common, result_strides
from ts.ops.registry import op, shared_fields

Array = common.Array


@op(
    "aten::type_as(Tensor self, Tensor other) -> Tensor", converts=True, gives_self=True, where="m",
    copies_sizes=True, graph_autodiff=True,
)  # fmt: skip
def _type_as(xp: Any, self: Array, other: Array) -> Array:
    converted = common.cast(xp, self, other.dtype)
    return (
        self
        if converted is self
        else result_strides.with_result_strides(xp, "like_first", converted, (self,))
    )


@op("aten::is_nonzero(Tensor self) -> bool")
def _is_nonzero(xp: Any, self: Array) -> bool:
    if self.size != 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    return bool(self)


@op("aten::is_floating_point(Tensor self) -> bool", reads_elements=False)
def _is_floating_point(xp: Any, self: Array) -> bool:
    return common.category(self) == common.FLOATING


@op("aten::is_complex(Tensor self) -> bool", reads_elements=False)
def _is_complex(xp: Any, self: Array) -> bool:
    return bool(self.dtype.kind == "c")


@op("aten::is_signed(Tensor self) -> bool", reads_elements=False)
def _is_signed(xp: Any, self: Array) -> bool:
    return dtypes.from_numpy_dtype(self.dtype).is_signed


@op(
    "aten::is_same_size(Tensor self, Tensor other) -> bool",
    reads_elements=False,
    sparse="conversions.is_same_size",
)
def _is_same_size(xp: Any, self: Array, other: Array) -> bool:
    return equal_shapes(self.shape, other.shape)


@op("aten::_grad_sum_to_size(Tensor(a) self, int[]? size) -> Tensor(a)", where="")
def _grad_sum_to_size(xp: Any, self: Array, size: list[int] | None) -> Array:
    return self if size is None else _sum_to_size(xp, self, size)


@op("aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor", gives_self=True, where="m")
def _sum_to_size(xp: Any, self: Array, size: list[int]) -> Array:
    extra = self.ndim - len(size)
    if extra < 0 or not all(
        known_one(n) or equal(n, m) for n, m in zip(size, self.shape[extra:], strict=True)
    ):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(self.shape)}}}.")
    axes = tuple(range(extra)) + tuple(
        extra + i for i, n in enumerate(size) if n == 1 and self.shape[extra + i] != 1
    )
    if not axes and self.ndim:
        return self
    result = xp.sum(self, axis=axes, keepdims=True, dtype=common.accumulate_dtype(self.dtype))
    return result.reshape(size)


@op("aten::result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType")
@op("aten::result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType")
@op("aten::result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType")
@op("aten::result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType")
@shared_fields(reads_elements=False)
def _result_type(xp: Any, tensor: Any, other: Any) -> int:
    return common.CODE_OF[common.result_type(tensor, other)]


@op("aten::can_cast(ScalarType from_, ScalarType to) -> bool")
def _can_cast(xp: Any, from_: int, to: int) -> bool:
    return common.can_cast(common.dtype_from(from_), common.dtype_from(to))


@op("aten::promote_types(ScalarType type1, ScalarType type2) -> ScalarType")
def _promote_types(xp: Any, type1: int, type2: int) -> int:
    return common.CODE_OF[common.promote_types(common.dtype_from(type1), common.dtype_from(type2))]
