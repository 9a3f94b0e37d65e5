"""Fractional max pooling: maxima of windows whose positions are random.

Each pooling operation has one function with indices and one without. The flag `return_indices` selects one of
them (`dispatch_by_indices`).
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.frontend.compile_directives import BroadcastingList2, BroadcastingList3
from ts.nn.functional.interpolation import scaled
from ts.nn.functional.pooling import dispatch_by_indices


def _fractional_size(
    input: Tensor, output_size: list[int] | None, output_ratio: list[float] | None, n: int
) -> list[int]:
    """Return `output_size`. If it is None, multiply the last `n` sizes of `input` by `output_ratio`."""
    if output_size is not None:
        return output_size
    if output_ratio is None:
        raise ValueError(
            f"fractional_max_pool{n}d requires specifying either an output_size or an output_ratio"
        )
    if len(output_ratio) > n:
        raise ValueError(
            f"fractional_max_pool{n}d requires output_ratio to either be a single Int or tuple of Ints."
        )
    return [scaled(input.size(d - n), output_ratio[d]) for d in range(n)]


def _draw_samples(input: Tensor, random_samples: Tensor | None, n: int) -> Tensor:
    """Return `random_samples`. If it is None, draw random numbers of shape (batch, channels, n)."""
    if random_samples is not None:
        return random_samples
    batch = 1
    if input.dim() > n + 1:
        batch = input.size(0)
    return ts.rand(batch, input.size(-n - 1), n, dtype=input.dtype, device=input.device)


def _repeat_number(value: Any, n: int) -> Any:
    """Return `[value] * n` for a number, and a list unchanged.

    Only Python calls this function, because scripts convert such arguments implicitly.
    """
    return [value] * n if isinstance(value, (int, float)) else value


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    output_size: BroadcastingList2[int] | None = None,
    output_ratio: BroadcastingList2[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the maxima of windows at random positions, and their indices."""
    if not ts.jit.is_scripting():
        kernel_size, output_size = _repeat_number(kernel_size, 2), _repeat_number(output_size, 2)
        output_ratio = _repeat_number(output_ratio, 2)
    size = _fractional_size(input, output_size, output_ratio, 2)
    return ts.fractional_max_pool2d(input, kernel_size, size, _draw_samples(input, _random_samples, 2))


def _fractional_max_pool2d(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    output_size: BroadcastingList2[int] | None = None,
    output_ratio: BroadcastingList2[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor:
    return fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )[0]


fractional_max_pool2d = dispatch_by_indices(fractional_max_pool2d_with_indices, _fractional_max_pool2d)


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    output_size: BroadcastingList3[int] | None = None,
    output_ratio: BroadcastingList3[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the maxima of windows at random positions, and their indices."""
    if not ts.jit.is_scripting():
        kernel_size, output_size = _repeat_number(kernel_size, 3), _repeat_number(output_size, 3)
        output_ratio = _repeat_number(output_ratio, 3)
    size = _fractional_size(input, output_size, output_ratio, 3)
    return ts.fractional_max_pool3d(input, kernel_size, size, _draw_samples(input, _random_samples, 3))


def _fractional_max_pool3d(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    output_size: BroadcastingList3[int] | None = None,
    output_ratio: BroadcastingList3[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor:
    return fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )[0]


fractional_max_pool3d = dispatch_by_indices(fractional_max_pool3d_with_indices, _fractional_max_pool3d)
