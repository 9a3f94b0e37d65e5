"""Derivatives of batch normalization."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose, constant, derive
from ts.ops.derivatives.normalization import normalize, normalize_backward, sum_over_dims


def _batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    """Compute batch normalization. For an empty input, the running statistics are not updated."""
    if input.numel() > 0:
        results = ts.native_batch_norm(
            input, weight, bias, running_mean, running_var, training, momentum, eps
        )
        return results[0]
    result = input.clone()
    if weight is not None:
        result = result * weight[0]
    return result if bias is None else result + bias[0]


def _instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    """Compute instance norm as the batch norm of a single image, whose channels are those of all images.

    Batch norm updates a copy of the running moments for each image. Their means become the new running
    moments.
    """
    n, c = input.size(0), input.size(1)
    folded_shape = [1, n * c] + list(input.shape[2:])
    scale = weight if weight is None else weight.repeat(n)
    shift = bias if bias is None else bias.repeat(n)
    mean = running_mean if running_mean is None else running_mean.repeat(n)
    var = running_var if running_var is None else running_var.repeat(n)
    folded = input.reshape(folded_shape)
    result = _batch_norm(folded, scale, shift, mean, var, use_input_stats, momentum, eps)
    if use_input_stats:
        if running_mean is not None and mean is not None:
            running_mean.detach().copy_(mean.view(n, c).mean(0))
        if running_var is not None and var is not None:
            running_var.detach().copy_(var.view(n, c).mean(0))
    return result.view(input.shape)


def _backward(
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_invstd: Tensor | None,
    train: bool,
    eps: float,
    output_mask: list[bool],
) -> tuple[Tensor, Tensor, Tensor]:
    dims = [0]
    per = [1, -1]
    for d in range(2, input.dim()):
        dims.append(d)
        per.append(1)
    if train:
        assert save_invstd is not None
        result, inverse = normalize(input, dims, save_invstd.view(per))
    else:
        assert running_mean is not None and running_var is not None
        inverse = (running_var.view(per) + eps).rsqrt()
        result = (input - running_mean.view(per)) * inverse
    none = input.new_empty([0])
    of_input, of_weight, of_bias = none, none, none
    if output_mask[0]:
        scaled = grad_out if weight is None else grad_out * weight.view(per)
        of_input = normalize_backward(scaled, result, inverse, dims) if train else scaled * inverse
    if output_mask[1]:
        of_weight = sum_over_dims(grad_out * result, dims)
    if output_mask[2]:
        of_bias = sum_over_dims(grad_out, dims)
    return of_input, of_weight, of_bias


def _by(running_mean: str, running_var: str, training: str) -> dict[str, str]:
    return {
        "input, weight, bias": f"ts.native_batch_norm_backward(grad, input, weight, {running_mean}, "
        f"{running_var}, result1, result2, {training}, eps, output_mask)"
    }


compose(
    "aten::batch_norm",
    "_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)",
)
compose(
    "aten::instance_norm",
    "_instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)",
)
derive(
    "aten::native_batch_norm aten::_native_batch_norm_legit aten::_native_batch_norm_legit_functional "
    "aten::_batch_norm_impl_index",
    _by("running_mean", "running_var", "training"),
    differentiable="result0",
)
derive("aten::_native_batch_norm_legit.no_stats", _by("None", "None", "training"), differentiable="result0")
derive(
    "aten::_native_batch_norm_legit_no_training aten::_batch_norm_no_update",
    _by("running_mean", "running_var", "False"),
    differentiable="result0",
)
derive(
    "aten::_batch_norm_with_update aten::_batch_norm_with_update_functional",
    _by("running_mean", "running_var", "True"),
    differentiable="result0",
)
compose(
    "aten::native_batch_norm_backward",
    "_backward(grad_out, input, weight, running_mean, running_var, save_invstd, train, eps, output_mask)",
)
compose(
    "aten::batch_norm_backward",
    "_backward(grad_out, input, weight, running_mean, running_var, save_var, update, eps, output_mask)",
)
constant(
    "aten::batch_norm_update_stats aten::batch_norm_stats aten::batch_norm_elemt "
    "aten::batch_norm_gather_stats aten::batch_norm_gather_stats_with_counts",
    "a step of a normalisation over several devices, which is differentiated as a whole",
)
