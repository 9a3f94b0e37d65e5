"""Rows of a table by index.

In: a table and indices; out: the rows, or ones at the indices.
"""

from __future__ import annotations

from typing import Any

from ts.ops import rules
from ts.ops.registry import op

Array = rules.Array


@op(
    "aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
    "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    where="f",
)
def _embedding(
    xp: Any,
    weight: Array,
    indices: Array,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    if indices.dtype not in (rules.INT64, rules.INT32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
            f"but got torch.{rules.NAME_OF[indices.dtype]}Tensor instead "
            "(while checking arguments for embedding)"
        )
    if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= weight.shape[0]):
        raise IndexError("index out of range in self")
    return weight[indices]


@op("aten::one_hot(Tensor self, int num_classes=-1) -> Tensor", where="f")
def _one_hot(xp: Any, self: Array, num_classes: int = -1) -> Array:
    if self.dtype != rules.INT64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    n = int(self.max()) + 1 if num_classes == -1 else num_classes
    if self.size and int(self.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    if self.size and int(self.max()) >= n:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return (self[..., None] == xp.arange(n)).astype(rules.INT64)
