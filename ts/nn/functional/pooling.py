"""Pooling by p-norms."""

from __future__ import annotations

import ts
from ts._core.tensor import Tensor
from ts.jit.annotations import BroadcastingList2, BroadcastingList3


def _root(mean: Tensor, p: float, count: int) -> Tensor:
    """The p-norm of windows from the mean of their p-th powers."""
    return (mean.sign() * mean.abs().relu()).mul(count).pow(1.0 / p)


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: int, stride: int | None = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of every window over one dimension."""
    powers = input.pow(norm_type)
    if stride is not None:
        mean = ts.avg_pool1d(powers, kernel_size, stride, 0, ceil_mode)
    else:
        mean = ts.avg_pool1d(powers, kernel_size, padding=0, ceil_mode=ceil_mode)
    return _root(mean, norm_type, kernel_size)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: BroadcastingList2[int],
    stride: BroadcastingList2[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The p-norm of every window over two dimensions."""
    powers = input.pow(norm_type)
    if stride is not None:
        mean = ts.nn.functional.avg_pool2d(powers, kernel_size, stride, 0, ceil_mode)
    else:
        mean = ts.nn.functional.avg_pool2d(powers, kernel_size, padding=0, ceil_mode=ceil_mode)
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
    """The p-norm of every window over three dimensions."""
    powers = input.pow(norm_type)
    if stride is not None:
        mean = ts.nn.functional.avg_pool3d(powers, kernel_size, stride, 0, ceil_mode)
    else:
        mean = ts.nn.functional.avg_pool3d(powers, kernel_size, padding=0, ceil_mode=ceil_mode)
    if isinstance(kernel_size, int):
        count = kernel_size * kernel_size * kernel_size
    else:
        count = kernel_size[0] * kernel_size[1] * kernel_size[2]
    return _root(mean, norm_type, count)
