"""Normalization by mean and variance, and by norms."""

from __future__ import annotations

import ts
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer


def _verify_batch_size(size: list[int]) -> None:
    values = size[0]
    for i in range(len(size) - 2):
        values *= size[i + 2]
    if values == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def _verify_spatial_size(size: list[int]) -> None:
    values = 1
    for i in range(2, len(size)):
        values *= size[i]
    if values == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {size}")


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel by the mean and variance of the batch, or by running statistics."""
    if training:
        _verify_batch_size(input.size())
    return ts.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each group of channels by its mean and variance."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    values = input.size(0) * input.size(1) // num_groups
    _verify_batch_size([values, num_groups] + list(input.size()[2:]))  # noqa: RUF005 -- scripts take no star of a list
    return ts.group_norm(input, num_groups, weight, bias, eps, True)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel of each sample by its mean and variance."""
    if use_input_stats:
        _verify_spatial_size(input.size())
    return ts.instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True
    )


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """Return x divided by max(p-norm of x along `dim`, eps)."""
    size = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    if out is None:
        result = input / size
    else:
        result = ts.div(input, size, out=out)
    return result


def _has_no_elements(input: Tensor) -> bool:
    """Return True if a tensor is empty. During tracing, return False, as the size may differ at run time."""
    if not ts.jit.is_scripting():  # a nested `if`, because scripts would compile both operands of `and`
        if current_tracer() is not None:
            return False
    return input.numel() == 0


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Return x / (k + alpha * m) ** beta, where m is the mean square of `size` neighboring channels (LRN)."""
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if _has_no_elements(input):
        return input
    square = input.mul(input).flatten(2).unsqueeze(1)
    padded = ts.constant_pad_nd(square, [0, 0, size // 2, (size - 1) // 2])
    mean = ts.avg_pool2d(padded, [size, 1], [1, 1]).reshape(input.size())
    return input / (mean * alpha + k).pow(beta)
