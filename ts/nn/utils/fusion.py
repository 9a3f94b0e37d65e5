"""Batch norm folding (conv-bn fusion) into the preceding layer, for inference.

`fuse_conv_bn_eval(conv.eval(), norm.eval())` returns one convolution that computes `norm(conv(x))`.
"""

from __future__ import annotations

import copy
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn.parameter import Parameter


def _factors(mean: Tensor, variance: Tensor, eps: float, weight: Any, bias: Any) -> tuple[Tensor, Tensor]:
    """Return the factors a and b for which the normalization by running statistics computes a * x + b."""
    scale = ts.rsqrt(variance + eps) * (1 if weight is None else weight)
    return scale, (0 if bias is None else bias) - mean * scale


def _fold_affine(
    weight: Tensor, bias: Tensor | None, scale: Tensor, shift: Tensor, output_dim: int
) -> tuple[Parameter, Parameter]:
    shape = [1] * weight.dim()
    shape[output_dim] = -1
    dtype = weight.dtype if bias is None else bias.dtype
    shifted_bias = shift if bias is None else bias * scale + shift
    requires_grad = bool(weight.requires_grad)
    return (
        Parameter((weight * scale.reshape(shape)).detach().to(weight.dtype), requires_grad),
        Parameter(
            shifted_bias.detach().to(dtype), requires_grad if bias is None else bool(bias.requires_grad)
        ),
    )


def fuse_conv_bn_weights(
    conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float,
    bn_w: Tensor | None, bn_b: Tensor | None, transpose: bool = False,
) -> tuple[Parameter, Parameter]:  # fmt: skip
    """Return the weight and bias of a convolution fused with the following batch normalization."""
    scale, shift = _factors(bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    return _fold_affine(conv_w, conv_b, scale, shift, 1 if transpose else 0)


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:  # fmt: skip
    """Return the weight and bias of a linear layer fused with the following batch normalization."""
    scale, shift = _factors(bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    return _fold_affine(linear_w, linear_b, scale, shift, 0)


def _check_evaluated(*modules: Any) -> None:
    if any(module.training for module in modules):
        raise AssertionError("Fusion only for eval!")
    if modules[-1].running_mean is None or modules[-1].running_var is None:
        raise AssertionError("bn running_mean and running_var must not be None")


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """Return a convolution that computes `bn(conv(x))`."""
    _check_evaluated(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """Return a linear layer that computes `bn(linear(x))`."""
    _check_evaluated(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, "
            f"got linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused
