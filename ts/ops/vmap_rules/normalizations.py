"""Batching rules of normalizations and losses."""

from __future__ import annotations

from typing import Any

import ts
from ts._core.dispatch_layers.batched_tensor import Call
from ts._core.tensor.tensor import Tensor
from ts.ops.vmap_rules.rule_registry import batch
from ts.ops.vmap_rules.rules import pad_rank, pointwise, run_in_loop


def _layer_norm(call: Call) -> Any:
    """Apply the batching rule of layer norm. If weight or bias is batched, apply both afterwards."""
    _, shape, weight, bias, eps = call.values
    x = call.expanded(0)
    if not call.is_batched("weight") and not call.is_batched("bias"):
        return call.run([x, shape, weight, bias, eps])
    output, mean, rstd = call.run([x, shape, None, None, eps])
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None:
            value = pad_rank(value, output.dim()) if call.is_batched(name) else value
            output = output * value if name == "weight" else output + value
    return output, mean, rstd


def _batch_norm(call: Call) -> Any:
    """Apply the batching rule of batch norm: the batch is merged with the channels."""
    _, weight, bias, mean, var, training, momentum, eps = call.values
    x = call.expanded(0)
    if (
        training
        and mean is not None
        and not (call.is_batched("running_mean") and call.is_batched("running_var"))
    ):
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
    output, saved_mean, saved_rstd = call.run([joined, None, None, *flat, training, momentum, eps])
    output = output.unflatten(1, [call.size, -1]).movedim(1, 0)
    shape = [1] * (output.dim() - 3)
    if weight is not None:
        output = output * call.expanded(1).reshape([call.size, 1, -1, *shape])
    if bias is not None:
        output = output + call.expanded(2).reshape([call.size, 1, -1, *shape])
    return output, *(s if s.numel() == 0 else s.reshape(call.size, -1) for s in (saved_mean, saved_rstd))


def _loss(call: Call) -> Any:
    """Apply the batching rule of losses: compute without reduction, then reduce each batch element."""
    reduction = call["reduction"]
    values = list(call.values)
    tensors = [i for i, x in enumerate(values) if isinstance(x, Tensor)]
    rank = max(call.rank(i) for i in tensors)
    for i in tensors:
        if call.batch_flags[i]:
            values[i] = pad_rank(values[i], rank + 1)
    values[call.at("reduction")] = 0
    losses = call.run(values)
    if reduction == 0:
        return losses
    flat = losses.reshape(call.size, -1)
    return flat.sum(1) if reduction == 2 else flat.mean(1)


def _targets(call: Call) -> tuple[Any, Any, Any]:
    """Return target classes (batch, examples, ...), their weights, and a mask.

    The mask is False for targets that equal `ignore_index`.
    """
    target = call.expanded(call.at("target"))
    if call.rank(call.at("self")) == 1:
        target = target.unsqueeze(1)
    counts = target != call["ignore_index"]
    safe = target.where(counts, 0)
    x, weight = call["self"], call["weight"]
    if weight is None:
        each = ts.ones(safe.shape, dtype=x.dtype, device=x.device)
    elif call.is_batched("weight"):
        each = weight.gather(1, safe.reshape(call.size, -1)).reshape(safe.shape)
    else:
        each = weight[safe]
    return safe, each.where(counts, 0), counts


def _nll(call: Call) -> Any:
    """Batch the negative log-likelihood loss: the negative, weighted scores of the target classes."""
    x, reduction = call.expanded(0), call["reduction"]
    safe, each, counts = _targets(call)
    single = call.rank(0) == 1
    target_scores = -(x.unsqueeze(1) if single else x).gather(2, safe.unsqueeze(2)).squeeze(2)
    losses = (target_scores * each).where(counts, 0)
    total = each.reshape(call.size, -1).sum(1)
    if reduction == 0:
        return losses.squeeze(1) if single else losses, ts.zeros_like(total)
    loss = losses.reshape(call.size, -1).sum(1)
    return loss / total if reduction == 1 else loss, total


def _nll_backward(call: Call) -> Any:
    """Apply the batching rule of NLL loss backward: scatter each loss gradient to the target class."""
    grad, x, total = (call.expanded(call.at(name)) for name in ("grad_output", "self", "total_weight"))
    safe, each, counts = _targets(call)
    single = call.rank(call.at("self")) == 1
    reduction = call["reduction"]
    if reduction == 0:
        grad = grad.reshape(safe.shape)
    else:
        grad = (grad / total if reduction == 1 else grad).reshape([call.size, *[1] * (safe.dim() - 1)])
    target_grads = (-each * grad).where(counts, 0)
    zeros = ts.zeros_like(x.unsqueeze(1) if single else x)
    grad_input = zeros.scatter(2, safe.unsqueeze(2), target_grads.to(x.dtype).unsqueeze(2))
    return grad_input.squeeze(1) if single else grad_input


def _rms_norm(call: Call) -> Any:
    """Apply the batching rule of RMS norm, like `_layer_norm`."""
    x, weight = call.expanded(0), call["weight"]
    if not call.is_batched("weight"):
        return call.run([x, *call.values[1:]])
    output, rstd = call.run([x, call["normalized_shape"], None, call["eps"]])
    return output * pad_rank(weight, output.dim()), rstd


def _group_norm(call: Call) -> Any:
    """Apply the batching rule of group norm: the batch is merged with the examples."""
    _, weight, bias, examples, channels, *rest = call.values
    x = call.expanded(0)
    joined = x.reshape([call.size * examples, *x.shape[2:]])
    is_affine_batched = call.is_batched("weight") or call.is_batched("bias")
    affine_args = [None, None] if is_affine_batched else [weight, bias]
    output, mean, rstd = call.run([joined, *affine_args, call.size * examples, channels, *rest])
    output, mean, rstd = (y.reshape([call.size, examples, *y.shape[1:]]) for y in (output, mean, rstd))
    if is_affine_batched:
        shape = [call.size, 1, channels, *[1] * (output.dim() - 3)]
        if weight is not None:
            output = output * call.expanded(1).reshape(shape)
        if bias is not None:
            output = output + call.expanded(2).reshape(shape)
    return output, mean, rstd


def _by_examples(call: Call) -> Any:
    """Apply the batching rule of losses over (examples, classes): the batch is merged with the examples."""
    if "weight" in call.names and call.is_batched("weight"):
        return run_in_loop(call)
    x, target, reduction = call.expanded(0), call.expanded(1), call["reduction"]
    values = [x, target, *call.values[2:]]
    if call.rank(0) == 2:
        values[:2] = x.reshape(-1, x.shape[2]), target.reshape([-1, *target.shape[2:]])
    values[call.at("reduction")] = 0
    result = call.run(values)
    loss, more = (result[0], result[1:]) if isinstance(result, tuple) else (result, None)
    loss = loss.reshape(call.size, -1)
    if reduction:
        loss = loss.mean(1) if reduction == 1 else loss.sum(1)
    elif call.rank(0) == 1:
        loss = loss.squeeze(1)
    return loss if more is None else (loss, *(y.reshape(target.shape) for y in more))


batch("native_layer_norm", _layer_norm)
batch("native_group_norm", _group_norm)
batch("multi_margin_loss multilabel_margin_loss_forward", _by_examples)
batch("native_batch_norm _native_batch_norm_legit", _batch_norm)
batch(
    "mse_loss smooth_l1_loss huber_loss soft_margin_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits",
    _loss,
)
batch("nll_loss_forward nll_loss2d_forward", _nll)
batch("nll_loss_backward nll_loss2d_backward", _nll_backward)
batch("_fused_rms_norm", _rms_norm)
batch("gelu mish softplus log_sigmoid log_sigmoid_forward softshrink hardshrink threshold", pointwise)
batch("_prelu_kernel _prelu_kernel_backward", pointwise)
