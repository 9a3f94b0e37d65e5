"""Derivatives of layer, group and root-mean-square normalization.

The second derivative is the derivative of the backward formula. The backward formula therefore computes the
moments again from the input. It reads the saved `rstd` only to determine epsilon.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose, derive


def normalize(x: Tensor, dims: list[int], rstd: Tensor) -> tuple[Tensor, Tensor]:
    """Normalize x over `dims`. Return the result and the inverse standard deviation.

    The inverse standard deviation equals `rstd`. It is computed from x, so that autograd can differentiate
    it.
    """
    centred = x - x.mean(dims, True)
    variance = (centred * centred).mean(dims, True)
    inverse = (variance + (1 / (rstd * rstd) - variance).detach()).rsqrt()
    return centred * inverse, inverse


def normalize_backward(grad: Tensor, result: Tensor, inverse: Tensor, dims: list[int]) -> Tensor:
    """Return the gradient of the input of a normalization, given `grad` of the normalized result."""
    along = (grad * result).mean(dims, True)
    return (grad - grad.mean(dims, True) - result * along) * inverse


def sum_over_dims(x: Tensor, dims: list[int]) -> Tensor:
    """Return the sum of x over `dims`, or x itself if `dims` is empty."""
    return x if len(dims) == 0 else x.sum(dims)


# --------------------------------------------------------------------- normalization over the last dimensions


def _layer_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    count: int,
    rstd: Tensor,
    weight: Tensor | None,
    output_mask: list[bool],
) -> tuple[Tensor, Tensor, Tensor]:
    last = [d - count for d in range(count)]
    lead = list(range(input.dim() - count))
    result, inverse = normalize(input, last, rstd)
    none = input.new_empty([0])
    of_input, of_weight, of_bias = none, none, none
    if output_mask[0]:
        scaled = grad_out if weight is None else grad_out * weight
        of_input = normalize_backward(scaled, result, inverse, last)
    if output_mask[1]:
        of_weight = sum_over_dims(grad_out * result, lead)
    if output_mask[2]:
        of_bias = sum_over_dims(grad_out, lead)
    return of_input, of_weight, of_bias


def _rms_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    count: int,
    rstd: Tensor,
    weight: Tensor | None,
    output_mask: list[bool],
) -> tuple[Tensor, Tensor]:
    last = [d - count for d in range(count)]
    square = (input * input).mean(last, True)
    inverse = (square + (1 / (rstd * rstd) - square).detach()).rsqrt()
    result = input * inverse
    none = input.new_empty([0])
    of_input, of_weight = none, none
    if output_mask[0]:
        scaled = grad_out if weight is None else grad_out * weight.conj()
        turned = result.conj()
        of_input = (scaled - turned * (scaled * turned).mean(last, True)) * inverse.conj()
    if output_mask[1]:
        of_weight = sum_over_dims(grad_out * result.conj(), list(range(input.dim() - count)))
    return of_input, of_weight


compose("aten::layer_norm", "ts.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]")
derive(
    "aten::native_layer_norm",
    {
        "input, weight, bias": "ts.native_layer_norm_backward("
        "grad, input, normalized_shape, result1, result2, weight, None, output_mask)"
    },
    differentiable="result0",
)
compose(
    "aten::native_layer_norm_backward",
    "_layer_norm_backward(grad_out, input, len(normalized_shape), rstd, weight, output_mask)",
)
compose("aten::rms_norm", "ts._fused_rms_norm(input, normalized_shape, weight, eps)[0]")
derive(
    "aten::_fused_rms_norm",
    {
        "input, weight": "ts._fused_rms_norm_backward("
        "grad, input, normalized_shape, result1, weight, output_mask)"
    },
    differentiable="result0",
)
compose(
    "aten::_fused_rms_norm_backward",
    "_rms_norm_backward(grad_out, input, len(normalized_shape), rstd, weight, output_mask)",
)


# ---------------------------------------------------------------------- normalization over groups of channels


def _group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    n, c, area = input.size(0), input.size(1), 1
    for size in input.shape[2:]:
        area *= size
    return ts.native_group_norm(input.contiguous(), weight, bias, n, c, area, num_groups, eps)[0]


def _group_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    channels: list[int],
    group: int,
    output_mask: list[bool],
) -> tuple[Tensor, Tensor, Tensor]:
    n, c, area = channels
    of_group = [n, group, c // group * area]
    result, inverse = normalize(input.reshape(of_group), [2], rstd.unsqueeze(2))
    grad = grad_out.reshape(channels)
    none = input.new_empty([0])
    of_input, of_weight, of_bias = none, none, none
    if output_mask[0]:
        scaled = grad if weight is None else grad * weight.unsqueeze(1)
        of_input = normalize_backward(scaled.reshape(of_group), result, inverse, [2]).view(input.shape)
    if output_mask[1]:
        of_weight = (grad * result.view(channels)).sum([0, 2])
    if output_mask[2]:
        of_bias = grad.sum([0, 2])
    return of_input, of_weight, of_bias


def _of_group_norm(
    grad: Tensor | None,
    of_mean: Tensor | None,
    of_rstd: Tensor | None,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    channels: list[int],
    group: int,
    output_mask: list[bool],
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of input, weight and bias of a group normalization.

    `grad`, `of_mean` and `of_rstd` are the gradients of its three results. Each of them may be None.
    """
    n, c, area = channels
    if grad is None:
        grad = ts.zeros_like(input)
    of_input, of_weight, of_bias = ts.native_group_norm_backward(
        grad.contiguous(), input, mean, rstd, weight, n, c, area, group, output_mask
    )
    if output_mask[0] and (of_mean is not None or of_rstd is not None):
        grouped = input.reshape([n, group, c // group * area])
        share = ts.zeros_like(grouped)
        if of_mean is not None:
            share = share + of_mean.unsqueeze(2)
        if of_rstd is not None:
            deviation = grouped - grouped.mean([2], True)
            share = share - (of_rstd * rstd * rstd * rstd).unsqueeze(2) * deviation
        of_input = of_input + (share / (c // group * area)).view(input.shape)
    return of_input, of_weight, of_bias


compose("aten::group_norm", "_group_norm(input, num_groups, weight, bias, eps)")
derive(
    "aten::native_group_norm",
    {
        "input, weight, bias": "_of_group_norm(grad0, grad1, grad2, input, result1, result2, weight, "
        "[N, C, HxW], group, output_mask)"
    },
    absent=True,
)
compose(
    "aten::native_group_norm_backward",
    "_group_norm_backward(grad_out, input, rstd, weight, [N, C, HxW], group, output_mask)",
)
