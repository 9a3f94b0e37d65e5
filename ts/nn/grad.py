"""Gradients of convolutions with respect to input and weight.

The argument `grad` in the example is the gradient of the convolution's result:

    conv2d_input(x.shape, w, grad)         # gradient of the input, of shape x.shape
    conv2d_weight(x, w.shape, grad)        # gradient of the weight, of shape w.shape
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.ops import aten

Sizes = int | Sequence[int]


def _per_dim(value: Sizes, n: int) -> list[int]:
    return [value] * n if isinstance(value, int) else list(value)


def _gradient(
    n: int, input: Tensor, weight: Tensor, grad_output: Tensor, window: tuple[Sizes, Sizes, Sizes],
    groups: int, argument_index: int,
) -> Tensor:  # fmt: skip
    stride, padding, dilation = (_per_dim(value, n) for value in window)
    gradients: Any = aten.convolution_backward(
        grad_output, input, weight, None, stride, padding, dilation, False, [0] * n, groups,
        [argument_index == 0, argument_index == 1, False],
    )  # fmt: skip
    return gradients[argument_index]  # type: ignore[no-any-return]


def _input_gradient(
    n: int, size: Sequence[int], weight: Tensor, grad: Tensor, window: tuple[Sizes, Sizes, Sizes], groups: int
) -> Tensor:
    input = grad.new_empty([1]).expand(size)
    return _gradient(n, input, weight, grad, window, groups, 0)


def _weight_gradient(
    n: int, input: Tensor, size: Sequence[int], grad: Tensor, window: tuple[Sizes, Sizes, Sizes], groups: int
) -> Tensor:
    weight = grad.new_empty([1]).expand(size)
    return _gradient(n, input, weight, grad, window, groups, 1)


def conv1d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Sizes = 1, padding: Sizes = 0,
    dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Return the gradient of the input of `conv1d` from the gradient of its result."""
    return _input_gradient(1, input_size, weight, grad_output, (stride, padding, dilation), groups)


def conv1d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Sizes = 1, padding: Sizes = 0,
    dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Return the gradient of the weight of `conv1d` from the gradient of its result."""
    return _weight_gradient(1, input, weight_size, grad_output, (stride, padding, dilation), groups)


def conv2d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Sizes = 1, padding: Sizes = 0,
    dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Return the gradient of the input of `conv2d` from the gradient of its result."""
    return _input_gradient(2, input_size, weight, grad_output, (stride, padding, dilation), groups)


def conv2d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Sizes = 1, padding: Sizes = 0,
    dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Return the gradient of the weight of `conv2d` from the gradient of its result."""
    return _weight_gradient(2, input, weight_size, grad_output, (stride, padding, dilation), groups)


def conv3d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Sizes = 1, padding: Sizes = 0,
    dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Return the gradient of the input of `conv3d` from the gradient of its result."""
    return _input_gradient(3, input_size, weight, grad_output, (stride, padding, dilation), groups)


def conv3d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Sizes = 1, padding: Sizes = 0,
    dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Return the gradient of the weight of `conv3d` from the gradient of its result."""
    return _weight_gradient(3, input, weight_size, grad_output, (stride, padding, dilation), groups)
