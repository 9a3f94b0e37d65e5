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
    return [ts.ops.aten.slice(x, dim, start, end, 1) for start, end in zip(starts, ends)]


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
compose("aten::hsplit.int", "evenly(self, sections, 0 if self.dim() == 1 else 1)")
compose("aten::hsplit.array", "between(self, indices, 0 if self.dim() == 1 else 1)")
compose("aten::vsplit.int", "evenly(self, sections, 0)")
compose("aten::vsplit.array", "between(self, indices, 0)")
compose("aten::dsplit.int", "evenly(self, sections, 2)")
compose("aten::dsplit.array", "between(self, indices, 2)")
derive("aten::unbind.int", self="ts.stack(grads, dim)", result=LINEAR)
