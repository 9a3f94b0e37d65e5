"""Indexing operators that PyTorch's compiled graphs run without bounds checks.

`ts` checks the indices. Masked operators receive a mask of valid positions, and clip the indices to the sizes
of the array. For example, `_unsafe_masked_index(x, mask, [i], 9)` returns x[i] where the mask is True, and 9
elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts.ops import common
from ts.ops.index import index_array, index_put, index_put_in_place
from ts.ops.registry import op

Array = common.Array
Indices = Sequence[Array | None]
_PUT_PARAMETERS = "Tensor values, bool accumulate=False"


def _integers(name: str, indices: Indices) -> None:
    for i in indices:
        if i is not None and i.dtype not in (common.INT64, common.INT32):
            raise RuntimeError(f"{name} found unexpected index type {common.NAME_OF[i.dtype]}")


@op("aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor")
@op("aten::_unsafe_index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", where="")
def _unsafe_index(xp: Any, self: Array, indices: Indices) -> Array:
    _integers("_unsafe_index", indices)
    return index_array(xp, self, indices)


@op(
    f"aten::_unsafe_index_put(Tensor self, Tensor?[] indices, {_PUT_PARAMETERS}) -> Tensor",
    layout="like_first",
)
@op(
    f"aten::_unsafe_index_put.hacked_twin(Tensor self, Tensor[] indices, {_PUT_PARAMETERS}) -> Tensor",
    where="",
    layout="like_first",
)
@op(
    f"aten::_index_put_impl(Tensor self, Tensor?[] indices, {_PUT_PARAMETERS}, bool unsafe=False) -> Tensor",
    where="",
    layout="like_first",
)
def _unsafe_index_put(
    xp: Any, self: Array, indices: Indices, values: Array, accumulate: bool = False, unsafe: bool = False
) -> Array:
    return index_put(xp, self, indices, values, accumulate)


_WRITES: dict[str, Any] = {"variant": "inplace", "overlap": 1}


@op(
    f"aten::_index_put_impl_(Tensor(a!) self, Tensor?[] indices, {_PUT_PARAMETERS}, bool unsafe=False) -> "
    "Tensor(a!)",
    **_WRITES,
)
@op(
    f"aten::_index_put_impl_.hacked_twin(Tensor(a!) self, Tensor[] indices, {_PUT_PARAMETERS}, "
    "bool unsafe=False) -> Tensor(a!)",
    where="",
    **_WRITES,
)
def _index_put_impl(
    xp: Any, self: Array, indices: Indices, values: Array, accumulate: bool = False, unsafe: bool = False
) -> Array:
    return index_put_in_place(xp, self, indices, values, accumulate)


def _clipped(xp: Any, self: Array, indices: Indices) -> list[Array | None]:
    """Clip the indices of each dimension of size n into the valid range [-n, n - 1]."""
    return [
        None if i is None else xp.clip(i, -self.shape[d], self.shape[d] - 1) for d, i in enumerate(indices)
    ]


def _mask_over(mask: Array, shape: Sequence[int]) -> tuple[int, ...]:
    return common.broadcast_shapes(mask.shape, tuple(shape))


@op(
    "aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
    layout="contiguous",
)
def _masked_index(xp: Any, self: Array, mask: Array, indices: Indices, fill: Any) -> Array:
    """Return the indexed elements where `mask` is true, and `fill` where it is false."""
    value = common.cast_checked(xp, fill, self.dtype)
    if not self.size:
        index_shapes = [i.shape for i in indices if i is not None]
        return xp.full(common.broadcast_shapes(mask.shape, *index_shapes), value, dtype=self.dtype)
    elements = index_array(xp, self, _clipped(xp, self, indices))
    _mask_over(mask, elements.shape)
    return xp.where(mask != 0, elements, value)


@op(
    "aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) "
    "-> Tensor",
    layout="like_first",
)
def _masked_index_put(xp: Any, self: Array, mask: Array, indices: Indices, values: Array) -> Array:
    """Return a copy of `self` to whose indexed elements `values` are added where `mask` is true."""
    if not self.size:
        return self.copy()
    masked_values = xp.where(mask != 0, values, xp.zeros((), dtype=values.dtype))
    return index_put(xp, self, _clipped(xp, self, indices), masked_values, True)
