"""Batching rules of indexing: the batch dimension gets an additional index."""

from __future__ import annotations

from typing import Any

import ts
from ts._core.dispatch_layers.batched_tensor import Call
from ts._core.tensor.tensor import Tensor
from ts.ops.index import check_mask
from ts.ops.vmap_rules.rule_registry import batch
from ts.ops.vmap_rules.rules import align_ranks, pad_rank, pointwise, run_in_loop
from ts.ops.vmap_rules.views import along_dims, shift_dim


def _indices(call: Call, i: int) -> tuple[list[Any], int | None, int]:
    """Return the index tensors in argument `i`, the first indexed dimension, and the rank of the indices.

    Masks are replaced by index tensors. The dimension is None if the indexed dimensions are not adjacent. The
    rank is that of the broadcast index tensors.
    """
    arguments = call.values[i]
    flags = call.batch_flags[i] if isinstance(call.batch_flags[i], list) else [False] * len(arguments)
    entries: list[tuple[int, Tensor, bool]] = []
    dim_count = 0
    for x, is_batched in zip(arguments, flags, strict=True):
        if x is not None and x.dtype in (ts.bool, ts.uint8):
            if is_batched:
                raise RuntimeError(
                    "vmap: It looks like you're attempting to use a Tensor as a mask, whose result has "
                    "another shape for each element. We don't support that; please try ts.where instead."
                )
            check_mask(call.values[0], x, dim_count + int(call.batch_flags[0]))
            for coordinates in x.nonzero().unbind(1):
                entries.append((dim_count, coordinates, False))
                dim_count += 1
            continue
        if x is not None:
            entries.append((dim_count, x, is_batched))
        dim_count += 1
    rank = max(x.dim() - int(w) for _, x, w in entries)
    batched_indices: list[Any] = [None] * dim_count
    for dim, x, is_batched in entries:
        batched_indices[dim] = pad_rank(x, rank + 1) if is_batched else x
    first, last = entries[0][0], entries[-1][0]
    is_adjacent = last - first + 1 == len(entries)
    return batched_indices, first if is_adjacent else None, rank


def _index(call: Call) -> Any:
    x = call.values[0]
    batched_indices, first, rank = _indices(call, 1)
    if not call.is_batched(1):
        elements = x[(slice(None), *(slice(None) if m is None else m for m in batched_indices))]
        return elements.movedim(rank, 0) if first is None else elements
    size = call.size
    numbers = ts.arange(size).reshape([size, *[1] * rank])
    x = call.expanded(0)
    elements = x[(numbers, *(slice(None) if m is None else m for m in batched_indices))]
    if not first:  # first is 0 or None: the result already begins with the dimensions of the indices
        return elements
    dims = list(range(elements.dim()))
    return elements.permute(
        [0, *dims[rank + 1 : rank + 1 + first], *dims[1 : rank + 1], *dims[rank + 1 + first :]]
    )


def _index_put(call: Call) -> Any:
    """Batch `index_put` by an additional index for the batch dimension.

    For the call, the indexed dimensions are moved to the front of the target and of the values.
    """
    batched_indices, first, rank = _indices(call, 1)
    indexed_dims = [k + 1 for k, m in enumerate(batched_indices) if m is not None]
    x = call.expanded(0)
    order = [0, *indexed_dims, *(k for k in range(1, x.dim()) if k not in indexed_dims)]
    dims = x.dim() - len(indexed_dims) + rank
    values = call.values[2] if call.batch_flags[2] else call.values[2].unsqueeze(0)
    values = pad_rank(values, dims)
    if first:  # move the dimensions of the indices before the other dimensions
        values = values.movedim([*range(1 + first, 1 + first + rank)], [*range(1, 1 + rank)])
    numbers = ts.arange(call.size).reshape([call.size, *[1] * rank])
    indices = [numbers, *(m for m in batched_indices if m is not None)]
    result = ts.index_put(x.permute(order), indices, values, call.values[3])
    return result.permute([order.index(k) for k in range(x.dim())])


def _index_select(call: Call) -> Any:
    x, dim, index = call.values
    d = shift_dim(dim, call.rank(0))
    if not call.batch_flags[2]:
        return x.index_select(d, index) if x.dim() > 1 else x.unsqueeze(1).index_select(1, index).squeeze(1)
    x = call.expanded(0)
    index = pad_rank(index if index.dim() > 1 else index.unsqueeze(1), 2)
    shape = list(x.shape)
    shape[d] = index.shape[1]
    spread = index.reshape([call.size, *(index.shape[1] if k == d else 1 for k in range(1, x.dim()))]).expand(
        shape
    )
    return x.gather(d, spread)


def _index_write(name: str) -> Any:
    """Return the batching rule of `index_add` and similar operators, whose indices may be batched."""

    def rule(call: Call) -> Any:
        if call.is_batched("index"):
            return _index_rows(call)
        values = [
            call.expanded(i) if isinstance(x, Tensor) and call.names[i] != "index" else x
            for i, x in enumerate(call.values)
        ]
        values[call.at("dim")] = shift_dim(call["dim"], call.rank(0))
        return call.run(values) if call.rank(0) else run_in_loop(call)

    return rule


def _index_rows(call: Call) -> Any:
    """Run an operator such as `index_add` with batched indices: merge batch and indexed dimensions."""
    if call.rank(0) == 0 or call.rank(call.at("index")) != 1:
        return run_in_loop(call)
    d = shift_dim(call["dim"], call.rank(0))
    values = list(call.values)
    for i, x in enumerate(values):
        if isinstance(x, Tensor) and call.names[i] != "index" and call.rank(i):
            rows = call.expanded(i).movedim(d, 1)
            values[i] = rows.reshape([rows.shape[0] * rows.shape[1], *rows.shape[2:]])
        elif isinstance(x, Tensor) and call.names[i] != "index" and call.batch_flags[i]:
            return run_in_loop(call)
    count = call.values[0].shape[d if call.batch_flags[0] else d - 1]
    index = call["index"]
    index = ts.where(index < 0, index + count, index) + ts.arange(call.size).unsqueeze(1) * count
    values[call.at("index")], values[call.at("dim")] = index.reshape(-1), 0
    result = call.run(values)
    return result.reshape([call.size, count, *result.shape[1:]]).movedim(1, d)


def _fill(call: Call) -> Any:
    """Apply the batching rule of `fill` and `copy`, whose results have the shape of the target."""
    x, value = call.expanded(0), call.values[1]
    if isinstance(value, Tensor):
        value = pad_rank(value, x.dim()) if call.batch_flags[1] else value
        return value.to(x.dtype).expand(x.shape).clone()
    return ts.full_like(x, value)


def _take(call: Call) -> Any:
    x, index = call.expanded(0).reshape(call.size, -1), call.expanded(1)
    return x.gather(1, index.reshape(call.size, -1)).reshape(index.shape)


def _embedding(call: Call) -> Any:
    weight, indices = call.values[0], call.values[1]
    if not call.batch_flags[0]:
        return call.run(call.values)
    indices = call.expanded(1)
    embedded = weight.gather(1, indices.reshape(call.size, -1, 1).expand(-1, -1, weight.shape[2]))
    return embedded.reshape([*indices.shape, weight.shape[2]])


def _embedding_backward(call: Call) -> Any:
    """Compute the table gradients of all batch elements by one call.

    In this call, the table has separate rows for each batch element.

    If `scale_grad_by_freq` is set, run the operator in a loop over the batch elements.
    """
    grad, indices, count = call.expanded(0), call.expanded(1), call["num_weights"]
    if call["scale_grad_by_freq"]:
        return run_in_loop(call)
    if call["padding_idx"] >= 0:
        grad = grad.masked_fill((indices == call["padding_idx"]).unsqueeze(-1), 0)
    width = grad.shape[-1]
    flat = indices.reshape(call.size, -1) + ts.arange(call.size).unsqueeze(1) * count
    table_grad = grad.new_zeros(call.size * count, width).index_add(
        0, flat.reshape(-1), grad.reshape(-1, width)
    )
    return table_grad.reshape(call.size, count, width)


def _one_hot(call: Call) -> Any:
    if call["num_classes"] < 0:
        raise RuntimeError(
            "vmap: one_hot needs the number of classes: without it the shape of the result depends on the "
            "elements."
        )
    return call.run(call.values)


def _searchsorted(call: Call) -> Any:
    if call.is_batched("sorted_sequence") or ("sorter" in call.names and call["sorter"] is not None):
        return run_in_loop(call)
    return call.run(call.values) if call["sorted_sequence"].dim() == 1 else run_in_loop(call)


batch("index.Tensor index.Tensor_hacked_twin _unsafe_index.Tensor _unsafe_index.Tensor_hacked_twin", _index)
batch("index_put index_put.hacked_twin _unsafe_index_put _unsafe_index_put.hacked_twin", _index_put)
batch("_index_put_impl", _index_put)
batch("index_select", _index_select)
batch("gather scatter.src scatter.value scatter_add scatter_reduce.two", along_dims("dim"))
batch("index_add index_copy index_fill.int_Scalar index_reduce", _index_write("source"))
batch("select_scatter slice_scatter", lambda call: _scatter_view(call))
batch("take", _take)
batch("embedding", _embedding)
batch("embedding_dense_backward", _embedding_backward)
batch("one_hot", _one_hot)
batch(
    "bucketize.Tensor",
    lambda call: call.run(call.values) if not call.is_batched("boundaries") else run_in_loop(call),
)
batch("searchsorted.Tensor", _searchsorted)
batch("masked_fill.Scalar where", pointwise)
batch("masked_fill.Tensor", lambda call: _masked_fill(call))
batch("fill.Tensor fill.Scalar copy", _fill)


def _masked_fill(call: Call) -> Any:
    """Apply the batching rule of `masked_fill`. The fill value may be batched."""
    if not call.is_batched("value"):
        return pointwise(call)
    x, mask, value = align_ranks(call, range(3))
    return ts.where(mask, value.to(x.dtype), x)


def _scatter_view(call: Call) -> Any:
    values = list(call.values)
    values[0], values[1] = call.expanded(0), call.expanded(1)
    values[call.at("dim")] = shift_dim(call["dim"], call.rank(0))
    return call.run(values)
