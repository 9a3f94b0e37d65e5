"""Derivatives of splits: the gradient is the concatenation of the parts' gradients."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive


def evenly(x: Tensor, count: int, dim: int) -> list[Tensor]:
    """Split x into `count` sections whose sizes differ by at most one, longer sections first."""
    length, longer = x.size(dim) // count, x.size(dim) % count
    return between(x, [i * length + min(i, longer) for i in range(1, count)], dim)


def between(x: Tensor, split_indices: list[int], dim: int) -> list[Tensor]:
    """Split x along `dim` into the sections between `split_indices`.

    If an index is less than the previous index, the section that ends at the index is empty, and the next
    section overlaps with previous sections.
    """
    starts = [0] + split_indices
    ends = split_indices + [x.size(dim)]
    return [ts.slice(x, dim, start, end, 1) for start, end in zip(starts, ends)]


def check_rank(x: Tensor, name: str, rank: int) -> None:
    """Raise RuntimeError if `x` has fewer than `rank` dimensions."""
    if x.dim() < rank:
        if name == "hsplit":
            raise RuntimeError(
                "torch.hsplit requires a tensor with at least 1 dimension, but got a tensor with 0 "
                "dimensions!"
            )
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {rank} dimension, but got a tensor with "
            f"{x.dim()} dimensions!"
        )


def exactly(x: Tensor, count: int, name: str, rank: int) -> list[Tensor]:
    """Split x into `count` sections of equal size, as `hsplit`, `vsplit` and `dsplit` do.

    Raise RuntimeError if x has fewer than `rank` dimensions, or if `count` does not divide the size.
    """
    check_rank(x, name, rank)
    dim = split_dim(x, name)
    if count <= 0 or x.size(dim) % count != 0:
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
            f"{x.size(dim)} is not divisible by the split_size {count}!"
        )
    return evenly(x, count, dim)


def at_indices(x: Tensor, indices: list[int], name: str, rank: int) -> list[Tensor]:
    """Split x at `indices`, as `hsplit`, `vsplit` and `dsplit` do."""
    check_rank(x, name, rank)
    return between(x, indices, split_dim(x, name))


def split_dim(x: Tensor, name: str) -> int:
    """Return the dimension along which `hsplit`, `vsplit` or `dsplit` splits x."""
    if name == "hsplit":
        return 0 if x.dim() == 1 else 1
    return 0 if name == "vsplit" else 2


def by_tensor(x: Tensor, sections_or_indices: Tensor, dim: int) -> list[Tensor]:
    """Split x along `dim` by a tensor: a 0-d tensor is the number of sections, a 1-d tensor the indices."""
    if sections_or_indices.dim() == 0:
        return evenly(x, int(sections_or_indices), dim)
    split_indices: list[int] = sections_or_indices.tolist()
    return between(x, split_indices, dim)


derive("aten::split.Tensor", self="ts.cat(grads, dim)", result=LINEAR)
derive("aten::unsafe_split.Tensor", self="ts.cat(grads, dim)", result=LINEAR)
derive(
    "aten::split aten::split.sizes aten::split_with_sizes", self="ts.cat(grads, dim)",
    result=LINEAR, name="SplitWithSizesBackward0",
)  # fmt: skip
derive("aten::unsafe_split_with_sizes", self="ts.cat(grads, dim)", result=LINEAR)
derive("aten::chunk", self="ts.cat(grads, dim)", result=LINEAR, name="SplitBackward0")
derive("aten::unsafe_chunk", self="ts.cat(grads, dim)", result=LINEAR, name="UnsafeSplitBackward0")
compose("aten::tensor_split.sections", "evenly(self, sections, dim)")
compose("aten::tensor_split.indices", "between(self, indices, dim)")
compose("aten::tensor_split.tensor_indices_or_sections", "by_tensor(self, tensor_indices_or_sections, dim)")
for _name, _rank in (("hsplit", 1), ("vsplit", 2), ("dsplit", 3)):
    compose(f"aten::{_name}.int", f"exactly(self, sections, '{_name}', {_rank})")
    compose(f"aten::{_name}.array", f"at_indices(self, indices, '{_name}', {_rank})")
derive("aten::unbind.int", self="ts.stack(grads, dim)", result=LINEAR)
