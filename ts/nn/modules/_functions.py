"""Differentiable functions of layers: `torch.nn.modules._functions`.

Example: `CrossMapLRN2d.apply(x, 5)` normalizes x over windows of five channels.
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.autograd.function import Function, once_differentiable


class CrossMapLRN2d(Function):
    """Local response normalization over channels, as in Lua's Torch: `x * scale ** -beta`.

    `scale[c]` is `k + alpha / size` times the sum of squares of channels `c - r` to `c + r`. Here, `r` is
    `(size - 1) // 2`. As in PyTorch, each sum also contains the square of channel 0. The gradient is not
    exact: it omits channel 0 and uses windows of `size` channels.
    """

    @staticmethod
    def forward(
        ctx: Any, input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1
    ) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach = (size - 1) // 2
        square = input.pow(2)
        total = _sum_of_channels(square, reach, reach)
        total[:, reach + 1 :] += square[:, :1]
        scale = total.mul_(alpha / size).add_(k)
        output = input * scale.pow(-beta)
        ctx.size, ctx.alpha, ctx.beta = size, alpha, beta
        ctx.save_for_backward(input, output, scale)
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        input, output, scale = ctx.saved_tensors
        ratio = _sum_of_channels(grad_output * output / scale, (ctx.size + 1) // 2, ctx.size // 2 - 1)
        factor = 2 * ctx.alpha * ctx.beta / ctx.size
        return grad_output * scale.pow(-ctx.beta) - factor * input * ratio, None, None, None, None


def _sum_of_channels(images: Tensor, before: int, after: int) -> Tensor:
    """Return sums over channels of images (N, C, H, W), with the same shape.

    Channel `c` of the result is the sum of the channels `c - before` to `c + after`.
    """
    padded = ts.constant_pad_nd(images.flatten(2).unsqueeze(1), [0, 0, before, after])
    window = before + after + 1
    return ts.avg_pool2d(padded, [window, 1], [1, 1]).mul_(window).reshape(images.size())
