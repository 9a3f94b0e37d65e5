"""Derivatives of pooling.

In max pooling, the maximum of a window gets the gradient of the window. In average pooling, each element of a
window gets an equal part of the gradient. As in PyTorch, 1-d pooling is computed as 2-d pooling. Max pooling
is computed by the variant that returns indices.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive


def elements_at_indices(x: Tensor, indices: Tensor, n: int) -> Tensor:
    """Return the elements of `x` at `indices`, which max pooling has returned.

    They are flat indices into the last `n` dimensions.
    """
    return x.flatten(-n).gather(-1, indices.flatten(-n)).view_as(indices)


_WINDOWS = "kernel_size, stride, padding, dilation, ceil_mode"
_MEANS = "kernel_size, stride, padding, ceil_mode, count_include_pad"

for _n in (2, 3):
    compose(f"aten::max_pool{_n}d", f"ts.max_pool{_n}d_with_indices(self, {_WINDOWS})[0]")
    derive(
        f"aten::max_pool{_n}d_with_indices",
        self=f"ts.max_pool{_n}d_with_indices_backward(grad, self, {_WINDOWS}, result1)",
        result={"result0": f"elements_at_indices(self_t, result1, {_n})"},
        differentiable="result0",
    )
    derive(
        f"aten::max_pool{_n}d_with_indices_backward",
        grad_output=f"elements_at_indices(grad, indices, {_n})", self="ts.zeros_like(self)",
    )  # fmt: skip
    derive(
        f"aten::adaptive_max_pool{_n}d",
        self=f"ts.adaptive_max_pool{_n}d_backward(grad, self, result1)",
        result={"result0": f"elements_at_indices(self_t, result1, {_n})"},
        differentiable="result0",
    )
    derive(
        f"aten::adaptive_max_pool{_n}d_backward",
        grad_output=f"elements_at_indices(grad, indices, {_n})", self="ts.zeros_like(self)",
    )  # fmt: skip
    derive(
        f"aten::avg_pool{_n}d",
        self=f"ts.avg_pool{_n}d_backward(grad, self, {_MEANS}, divisor_override)",
        result=LINEAR,
    )
    derive(
        f"aten::avg_pool{_n}d_backward",
        grad_output=f"ts.avg_pool{_n}d(grad, {_MEANS}, divisor_override)",
        self="ts.zeros_like(self)",
        result=f"ts.avg_pool{_n}d_backward(grad_output_t, self, {_MEANS}, divisor_override)",
    )
    compose(f"aten::adaptive_avg_pool{_n}d", f"_adaptive_mean(self, output_size, {_n})")
    derive(
        f"aten::_adaptive_avg_pool{_n}d",
        self=f"ts._adaptive_avg_pool{_n}d_backward(grad, self)",
        result=LINEAR,
    )
    derive(
        f"aten::_adaptive_avg_pool{_n}d_backward",
        grad_output=f"ts._adaptive_avg_pool{_n}d(grad, grad_output.shape[-{_n}:])",
        self="ts.zeros_like(self)",
        result=f"ts._adaptive_avg_pool{_n}d_backward(grad_output_t, self)",
    )
derive(
    "aten::max_unpool2d", self="elements_at_indices(grad, indices, 2)",
    result="ts.max_unpool2d(self_t, indices, output_size)",
)  # fmt: skip
derive(
    "aten::max_unpool3d", self="elements_at_indices(grad, indices, 3)",
    result="ts.max_unpool3d(self_t, indices, output_size, stride, padding)",
)  # fmt: skip


def _adaptive_mean(self: Tensor, output_size: list[int], n: int) -> Tensor:
    """Apply adaptive average pooling over `n` dimensions. If all output sizes are 1, compute the mean."""
    dims = [-1 - d for d in range(n)]
    if output_size == [1] * n:
        return self.mean(dims, True)
    if n == 2:
        return ts._adaptive_avg_pool2d(self, output_size)
    return ts._adaptive_avg_pool3d(self, output_size)


# ------------------------------------------------------------------------------------ one-dimensional pooling


def _max_pool1d(
    self: Tensor,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
) -> tuple[Tensor, Tensor]:
    step = [1] + (stride if len(stride) > 0 else kernel_size)
    values, indices = ts.max_pool2d_with_indices(
        self.unsqueeze(-2), [1] + kernel_size, step, [0] + padding, [1] + dilation, ceil_mode
    )
    return values.squeeze(-2), indices.squeeze(-2)


def _avg_pool1d(
    self: Tensor,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    ceil_mode: bool,
    count_include_pad: bool,
) -> Tensor:
    step = [1] + (stride if len(stride) > 0 else kernel_size)
    return ts.avg_pool2d(
        self.unsqueeze(-2), [1] + kernel_size, step, [0] + padding, ceil_mode, count_include_pad
    ).squeeze(-2)


def _adaptive_max_pool1d(self: Tensor, output_size: list[int]) -> tuple[Tensor, Tensor]:
    values, indices = ts.adaptive_max_pool2d(self.unsqueeze(-2), [1] + output_size)
    return values.squeeze(-2), indices.squeeze(-2)


compose("aten::max_pool1d", f"_max_pool1d(self, {_WINDOWS})[0]")
compose("aten::max_pool1d_with_indices", f"_max_pool1d(self, {_WINDOWS})")
compose("aten::avg_pool1d", f"_avg_pool1d(self, {_MEANS})")
compose("aten::adaptive_max_pool1d", "_adaptive_max_pool1d(self, output_size)")
compose("aten::adaptive_avg_pool1d", "_adaptive_mean(self.unsqueeze(-2), [1] + output_size, 2).squeeze(-2)")
