"""Pooling of windows (max pooling, Lp pooling, adaptive pooling).

Each max pooling operation has one function with indices and one without. The flag `return_indices` selects
one of them (`dispatch_by_indices`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.frontend.compile_directives import (
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
    boolean_dispatch,
)


def dispatch_by_indices(
    with_indices: Callable[..., tuple[Tensor, Tensor]], without_indices: Callable[..., Tensor]
) -> Callable[..., Any]:
    """Return a function that calls one of two pooling functions, depending on the flag `return_indices`."""
    code: Any = without_indices.__code__  # type: ignore[attr-defined]
    index = code.co_varnames.index("return_indices")
    module, name = without_indices.__module__, without_indices.__name__.removeprefix("_")
    return boolean_dispatch("return_indices", index, False, with_indices, without_indices, module, name)


def _root(mean: Tensor, p: float, count: int) -> Tensor:
    """Return the p-norm of windows from the mean of their p-th powers."""
    return (mean.sign() * mean.abs().relu()).mul(count).pow(1.0 / p)


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: int, stride: int | None = None, ceil_mode: bool = False
) -> Tensor:
    """Return the p-norm of every window over one dimension."""
    powers = input.pow(norm_type)
    if stride is not None:
        mean = ts.avg_pool1d(powers, kernel_size, stride, 0, ceil_mode)
    else:
        mean = ts.avg_pool1d(powers, kernel_size, kernel_size, 0, ceil_mode)
    return _root(mean, norm_type, kernel_size)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: BroadcastingList2[int],
    stride: BroadcastingList2[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return the p-norm of every window over two dimensions."""
    powers = input.pow(norm_type)
    if stride is not None:
        mean = ts.nn.functional.avg_pool2d(powers, kernel_size, stride, 0, ceil_mode)
    else:
        mean = ts.nn.functional.avg_pool2d(powers, kernel_size, kernel_size, 0, ceil_mode)
    if isinstance(kernel_size, int):
        count = kernel_size * kernel_size
    else:
        count = kernel_size[0] * kernel_size[1]
    return _root(mean, norm_type, count)


def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: BroadcastingList3[int],
    stride: BroadcastingList3[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return the p-norm of every window over three dimensions."""
    powers = input.pow(norm_type)
    if stride is not None:
        mean = ts.nn.functional.avg_pool3d(powers, kernel_size, stride, 0, ceil_mode)
    else:
        mean = ts.nn.functional.avg_pool3d(powers, kernel_size, kernel_size, 0, ceil_mode)
    if isinstance(kernel_size, int):
        count = kernel_size * kernel_size * kernel_size
    else:
        count = kernel_size[0] * kernel_size[1] * kernel_size[2]
    return _root(mean, norm_type, count)


def _resolve_output_size(output_size: Any, input: Tensor, dims: int) -> Any:
    """Return the output size of adaptive pooling as a list of `dims` numbers.

    Replace None in `output_size` by the size of the input in this dimension. Repeat a single number.
    """
    if not isinstance(output_size, list | tuple):
        return [output_size] * dims
    if input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    input_sizes = input.shape[input.dim() - len(output_size) :]
    return [
        input_size if length is None else length
        for length, input_size in zip(output_size, input_sizes, strict=True)
    ]


def _max_pool1d(
    input: Tensor,
    kernel_size: BroadcastingList1[int],
    stride: BroadcastingList1[int] | None = None,
    padding: BroadcastingList1[int] = 0,
    dilation: BroadcastingList1[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    if stride is None:
        stride = ts.jit.annotate(list[int], [])
    return ts.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList1[int],
    stride: BroadcastingList1[int] | None = None,
    padding: BroadcastingList1[int] = 0,
    dilation: BroadcastingList1[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the maximum and the index of the maximum of each window."""
    if stride is None:
        stride = ts.jit.annotate(list[int], [])
    return ts.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


max_pool1d = dispatch_by_indices(max_pool1d_with_indices, _max_pool1d)


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: BroadcastingList1[int], return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the maxima and their indices for adaptive windows."""
    if not ts.jit.is_scripting():
        output_size = _resolve_output_size(output_size, input, 1)
    return ts.adaptive_max_pool1d(input, output_size)


def _adaptive_max_pool1d(
    input: Tensor, output_size: BroadcastingList1[int], return_indices: bool = False
) -> Tensor:
    return adaptive_max_pool1d_with_indices(input, output_size)[0]


adaptive_max_pool1d = dispatch_by_indices(adaptive_max_pool1d_with_indices, _adaptive_max_pool1d)


def adaptive_avg_pool1d(input: Tensor, output_size: BroadcastingList1[int]) -> Tensor:
    """Return the means of adaptive windows. There is one window for each output element."""
    if not ts.jit.is_scripting():
        output_size = _resolve_output_size(output_size, input, 1)
    return ts.adaptive_avg_pool1d(input, output_size)


def _max_pool2d(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    stride: BroadcastingList2[int] | None = None,
    padding: BroadcastingList2[int] = 0,
    dilation: BroadcastingList2[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    if stride is None:
        stride = ts.jit.annotate(list[int], [])
    return ts.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    stride: BroadcastingList2[int] | None = None,
    padding: BroadcastingList2[int] = 0,
    dilation: BroadcastingList2[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the maximum and the index of the maximum of each window."""
    if stride is None:
        stride = ts.jit.annotate(list[int], [])
    return ts.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


max_pool2d = dispatch_by_indices(max_pool2d_with_indices, _max_pool2d)


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: BroadcastingList2[int], return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the maxima and their indices for adaptive windows."""
    if not ts.jit.is_scripting():
        output_size = _resolve_output_size(output_size, input, 2)
    return ts.adaptive_max_pool2d(input, output_size)


def _adaptive_max_pool2d(
    input: Tensor, output_size: BroadcastingList2[int], return_indices: bool = False
) -> Tensor:
    return adaptive_max_pool2d_with_indices(input, output_size)[0]


adaptive_max_pool2d = dispatch_by_indices(adaptive_max_pool2d_with_indices, _adaptive_max_pool2d)


def adaptive_avg_pool2d(input: Tensor, output_size: BroadcastingList2[int]) -> Tensor:
    """Return the means of adaptive windows. There is one window for each output element."""
    if not ts.jit.is_scripting():
        output_size = _resolve_output_size(output_size, input, 2)
    return ts.adaptive_avg_pool2d(input, output_size)


def _max_pool3d(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    stride: BroadcastingList3[int] | None = None,
    padding: BroadcastingList3[int] = 0,
    dilation: BroadcastingList3[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    if stride is None:
        stride = ts.jit.annotate(list[int], [])
    return ts.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    stride: BroadcastingList3[int] | None = None,
    padding: BroadcastingList3[int] = 0,
    dilation: BroadcastingList3[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the maximum and the index of the maximum of each window."""
    if stride is None:
        stride = ts.jit.annotate(list[int], [])
    return ts.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


max_pool3d = dispatch_by_indices(max_pool3d_with_indices, _max_pool3d)


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: BroadcastingList3[int], return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the maxima and their indices for adaptive windows."""
    if not ts.jit.is_scripting():
        output_size = _resolve_output_size(output_size, input, 3)
    return ts.adaptive_max_pool3d(input, output_size)


def _adaptive_max_pool3d(
    input: Tensor, output_size: BroadcastingList3[int], return_indices: bool = False
) -> Tensor:
    return adaptive_max_pool3d_with_indices(input, output_size)[0]


adaptive_max_pool3d = dispatch_by_indices(adaptive_max_pool3d_with_indices, _adaptive_max_pool3d)


def adaptive_avg_pool3d(input: Tensor, output_size: BroadcastingList3[int]) -> Tensor:
    """Return the means of adaptive windows. There is one window for each output element."""
    if not ts.jit.is_scripting():
        output_size = _resolve_output_size(output_size, input, 3)
    return ts.adaptive_avg_pool3d(input, output_size)
