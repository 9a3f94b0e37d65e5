"""Normalizations and losses: the means are those of each element."""

from __future__ import annotations

from typing import Any

import ts
from ts._core.layers.batch import Call
from ts._core.tensor.tensor import Tensor
from ts.ops.batching.rows import batch
from ts.ops.batching.rules import one_by_one, padded, pointwise


def _layer_norm(call: Call) -> Any:
    """The last dimensions are normalized; weights of the batch multiply afterwards."""
    _, shape, weight, bias, eps = call.values
    x = call.expanded(0)
    if not call.is_whole("weight") and not call.is_whole("bias"):
        return call.run([x, shape, weight, bias, eps])
    found, mean, rstd = call.run([x, shape, None, None, eps])
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None:
            value = padded(value, found.dim()) if call.is_whole(name) else value
            found = found * value if name == "weight" else found + value
    return found, mean, rstd


def _batch_norm(call: Call) -> Any:
    """Channels of all elements are the channels; running means are each element's, or only read."""
    _, weight, bias, mean, var, training, momentum, eps = call.values
    x = call.expanded(0)
    if training and mean is not None and not (call.is_whole("running_mean") and call.is_whole("running_var")):
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which will be "
            "updated in "
            "place, were not batched.\nIf you are using a module and do not need eval mode, please set "
            "`track_running_stats` to be False.If you are using a prebuilt module and do not need eval mode, "
            "please see "
            "the functorch website for resources on how to patch your module to work with vmap"
        )
    joined = x.movedim(0, 1)
    joined = joined.reshape([joined.shape[0], -1, *joined.shape[3:]])
    flat = [None if value is None else call.expanded(i).reshape(-1) for i, value in ((3, mean), (4, var))]
    found, saved_mean, saved_rstd = call.run([joined, None, None, *flat, training, momentum, eps])
    found = found.unflatten(1, [call.size, -1]).movedim(1, 0)
    shape = [1] * (found.dim() - 3)
    if weight is not None:
        found = found * call.expanded(1).reshape([call.size, 1, -1, *shape])
    if bias is not None:
        found = found + call.expanded(2).reshape([call.size, 1, -1, *shape])
    return found, *(s if s.numel() == 0 else s.reshape(call.size, -1) for s in (saved_mean, saved_rstd))


def _loss(call: Call) -> Any:
    """A loss element by element, and its sum or mean for each element of the batch."""
    reduction = call["reduction"]
    values = list(call.values)
    tensors = [i for i, x in enumerate(values) if isinstance(x, Tensor)]
    rank = max(call.rank(i) for i in tensors)
    for i in tensors:
        if call.wholes[i]:
            values[i] = padded(values[i], rank + 1)
    values[call.at("reduction")] = 0
    found = call.run(values)
    if reduction == 0:
        return found
    flat = found.reshape(call.size, -1)
    return flat.sum(1) if reduction == 2 else flat.mean(1)


def _nll(call: Call) -> Any:
    """The negative elements at the targets, weighted."""
    x, target = call.expanded(0), call.expanded(1)
    weight, reduction, ignored = call.values[2:5]
    if call.is_whole("weight"):
        return one_by_one(call)
    single = call.rank(0) == 1
    if single:
        x, target = x.unsqueeze(1), target.unsqueeze(1)
    counts = target != ignored
    safe = target.where(counts, 0)
    picked = -x.gather(2, safe.unsqueeze(2)).squeeze(2)
    each = ts.ones_like(picked) if weight is None else weight[safe]
    each = each.where(counts, 0)
    losses = (picked * each).where(counts, 0)
    total = each.sum(1)
    if reduction == 0:
        return losses.squeeze(1) if single else losses, ts.zeros_like(total)
    found = losses.sum(1)
    return found / total if reduction == 1 else found, total


batch("native_layer_norm", _layer_norm)
batch("native_batch_norm _native_batch_norm_legit", _batch_norm)
batch(
    "mse_loss smooth_l1_loss huber_loss soft_margin_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits",
    _loss,
)
batch("nll_loss_forward", _nll)
batch("_prelu_kernel _prelu_kernel_backward", pointwise)
