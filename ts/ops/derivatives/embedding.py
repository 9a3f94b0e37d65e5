"""Derivatives of embedding tables.

The gradient of a table row is the sum of the gradients of all lookups of the row.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import LINEAR, compose, constant, derive
from ts.ops.embedding import padding_row


def _read(table: Tensor, indices: Tensor, padding_idx: int) -> Tensor:
    """Return the rows of a table at `indices`, and zeros for the padding index."""
    rows = ts.embedding(table, indices)
    return rows if padding_idx < 0 else rows.masked_fill((indices == padding_idx).unsqueeze(-1), 0)


def _embedding_gradient(
    grad: Tensor, indices: Tensor, rows: int, padding_idx: int, scale_grad_by_freq: bool, sparse: bool
) -> Tensor:
    """Return the gradient of an embedding table.

    A sparse gradient stores one row for each index in `indices`.
    """
    if sparse:
        return ts.embedding_sparse_backward(grad, indices, rows, padding_idx, scale_grad_by_freq)
    return ts.embedding_dense_backward(grad, indices, rows, padding_idx, scale_grad_by_freq)


derive(
    "aten::embedding",
    weight="_embedding_gradient(grad, indices, weight.size(0), padding_idx, scale_grad_by_freq, sparse)",
    result="ts.embedding(weight_t, indices)",
)
derive("aten::embedding_dense_backward", grad_output="_read(grad, indices, padding_idx)", result=LINEAR)
constant(
    "aten::embedding_renorm aten::_saturate_weight_to_fp16 aten::_rowwise_prune",
    "the renormalization of embedding weights is not differentiable",
)


# ---------------------------------------------------------------------------------------- embedding bags


def _bags(
    indices: Tensor, offsets: Tensor, include_last_offset: bool, padding_idx: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the bag number of each index, a mask of valid indices, and the number of valid indices per bag.

    An index that equals `padding_idx` is invalid. With `include_last_offset`, the last offset is the end of
    the last bag. Indices from this position on are also invalid.
    """
    count = indices.numel()
    at = ts.arange(count, device=indices.device)
    starts = offsets.to(ts.int64)
    is_valid = ts.ones_like(at, dtype=ts.bool)
    if include_last_offset:
        is_valid = at < starts[-1]
        starts = starts[:-1]
    if padding_idx >= 0:
        is_valid = is_valid & (indices.reshape(-1) != padding_idx)
    bag = ts.searchsorted(starts, at, right=True) - 1
    sizes = ts.zeros_like(starts).scatter_add(0, bag.masked_fill(~is_valid, 0), is_valid.to(ts.int64))
    return bag, is_valid, sizes


def _sparse_bag_table_gradient(
    grad: Tensor,
    count: int,
    indices: Tensor,
    bag: Tensor,
    is_valid: Tensor,
    sizes: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Tensor | None,
) -> Tensor:
    """Return the gradient of the weight of `embedding_bag` as a sparse tensor.

    It has one row for each valid index (see `_bags`).
    """
    if mode == 2:
        raise RuntimeError("embedding_bag: max mode does not support sparse gradients")
    if scale_grad_by_freq:
        raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
    if mode == 1:
        grad = grad / sizes.clamp(min=1).unsqueeze(1)
    rows = grad.index_select(0, bag)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1).unsqueeze(1)
    return ts._rows_as_sparse(indices.reshape(-1)[is_valid], rows[is_valid], count)


def _of_table(
    grad: Tensor,
    count: int,
    indices: Tensor,
    offsets: Tensor,
    best: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int,
    sparse: bool,
) -> Tensor:
    bag, is_valid, sizes = _bags(indices, offsets, include_last_offset, padding_idx)
    if sparse:
        return _sparse_bag_table_gradient(
            grad, count, indices, bag, is_valid, sizes, scale_grad_by_freq, mode, per_sample_weights
        )
    table = grad.new_zeros([count, grad.size(1)])
    if mode == 2:
        filled = grad.masked_fill((sizes == 0).unsqueeze(1), 0)
        return table.scatter_add(0, best.to(ts.int64), filled)
    if mode == 1:
        grad = grad / sizes.clamp(min=1).unsqueeze(1)
    index = indices.reshape(-1)
    rows = grad.index_select(0, bag)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1).unsqueeze(1)
    if scale_grad_by_freq:
        often = ts.bincount(index, minlength=count).index_select(0, index)
        rows = rows / often.unsqueeze(1)
    return table.index_add(0, index, rows.masked_fill(~is_valid.unsqueeze(1), 0))


def _of_weights(
    grad: Tensor,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    include_last_offset: bool,
    padding_idx: int,
) -> Tensor:
    bag, is_valid, _ = _bags(indices, offsets, include_last_offset, padding_idx)
    products = grad.index_select(0, bag) * weight.index_select(0, indices.reshape(-1))
    return products.sum(1).masked_fill(~is_valid, 0).view(indices.shape)


derive(
    "aten::_embedding_bag aten::_embedding_bag_forward_only",
    weight="_of_table(grad, weight.size(0), indices, offsets, result3, scale_grad_by_freq, mode, "
    "per_sample_weights, include_last_offset, padding_idx, sparse)",
    per_sample_weights="_of_weights(grad, weight, indices, offsets, include_last_offset, padding_idx)",
    differentiable="result0",
)


def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Compute an embedding bag. If no gradient is required, use the operator without backward."""
    if weight.requires_grad or (per_sample_weights is not None and per_sample_weights.requires_grad):
        return ts._embedding_bag(
            weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
            include_last_offset, padding_idx,
        )  # fmt: skip
    return ts._embedding_bag_forward_only(
        weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
        padding_idx,
    )  # fmt: skip


_BAG = (
    "_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, "
    "include_last_offset, {})"
)
compose("aten::embedding_bag", _BAG.format("-1"))
compose(
    "aten::embedding_bag.padding_idx",
    _BAG.format("padding_row(weight.size(0), padding_idx)"),
)
