"""Convolutions and their gradients, pooling and matrix products, as single eager operators."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import Case

TITLE = "Layers, one thread"

CONVOLUTIONS: dict[str, tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "3 x 3, 64 channels, 56 x 56": ("conv2d", (1, 64, 56, 56), (64, 64, 3, 3), {"padding": 1}),
    "3 x 3, 256 channels, 14 x 14": ("conv2d", (1, 256, 14, 14), (256, 256, 3, 3), {"padding": 1}),
    "1 x 1, 256 to 64 channels, 56 x 56": ("conv2d", (1, 256, 56, 56), (64, 256, 1, 1), {}),
    "7 x 7 stride 2, 3 to 64 channels, 224 x 224": (
        "conv2d",
        (1, 3, 224, 224),
        (64, 3, 7, 7),
        {"padding": 3, "stride": 2},
    ),
    "depthwise 3 x 3, 128 channels, 56 x 56": (
        "conv2d",
        (1, 128, 56, 56),
        (128, 1, 3, 3),
        {"padding": 1, "groups": 128},
    ),
    "conv1d, 64 to 128 channels, 8 x 512": ("conv1d", (8, 64, 512), (128, 64, 5), {"padding": 2}),
    "conv3d, 16 to 32 channels, 16 x 32 x 32": (
        "conv3d",
        (1, 16, 16, 32, 32),
        (32, 16, 3, 3, 3),
        {"padding": 1},
    ),
    "transposed 4 x 4 stride 2, 64 to 32 channels, 28 x 28": (
        "conv_transpose2d",
        (1, 64, 28, 28),
        (64, 32, 4, 4),
        {"padding": 1, "stride": 2},
    ),
}

# Convolution gradients: shape of the input, shape of the weight, stride, padding, groups.
GRADIENT_CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], int, int, int]] = {
    "gradients: 64 of 8 x 8, 3 x 3, 16 to 32 channels": ((64, 16, 8, 8), (32, 16, 3, 3), 1, 1, 1),
    "gradients: 4 of 56 x 56, 3 x 3, 64 channels": ((4, 64, 56, 56), (64, 64, 3, 3), 1, 1, 1),
    "gradients: 4 of 14 x 14, 3 x 3, 256 channels": ((4, 256, 14, 14), (256, 256, 3, 3), 1, 1, 1),
    "gradients: 64 of 8 x 8, depthwise 3 x 3, 16 channels": ((64, 16, 8, 8), (16, 1, 3, 3), 1, 1, 16),
    "gradients: 4 of 28 x 28, depthwise 3 x 3, 128 channels": ((4, 128, 28, 28), (128, 1, 3, 3), 1, 1, 128),
    "gradients: 4 of 28 x 28, depthwise 3 x 3, stride 2": ((4, 128, 28, 28), (128, 1, 3, 3), 2, 1, 128),
}

OTHERS: dict[str, tuple[tuple[tuple[int, ...], ...], Callable[..., Any]]] = {
    "linear, 64 x 256 to 1024": (
        ((64, 256), (1024, 256), (1024,)),
        lambda lib, x, w, b: lib.nn.functional.linear(x, w, b),
    ),
    "linear, 8 x 64 x 256 to 1024": (
        ((8, 64, 256), (1024, 256), (1024,)),
        lambda lib, x, w, b: lib.nn.functional.linear(x, w, b),
    ),
    "bmm, 16 x 64 x 64": (((16, 64, 64), (16, 64, 64)), lambda lib, x, y: lib.bmm(x, y)),
    "max_pool2d 3 stride 2, 64 x 112 x 112": (
        ((1, 64, 112, 112),),
        lambda lib, x: lib.nn.functional.max_pool2d(x, 3, 2, 1),
    ),
    "max_pool2d with indices": (
        ((1, 64, 112, 112),),
        lambda lib, x: lib.nn.functional.max_pool2d(x, 3, 2, 1, return_indices=True),
    ),
    "avg_pool2d 3 stride 2, 64 x 112 x 112": (
        ((1, 64, 112, 112),),
        lambda lib, x: lib.nn.functional.avg_pool2d(x, 3, 2, 1),
    ),
    "adaptive_avg_pool2d to 1, 512 x 7 x 7": (
        ((1, 512, 7, 7),),
        lambda lib, x: lib.nn.functional.adaptive_avg_pool2d(x, 1),
    ),
}


def convolution(name: str, options: dict[str, Any], lib: Any, x: Any, weight: Any, bias: Any) -> Any:
    """Call a convolution function of a library."""
    return getattr(lib, name)(x, weight, bias, **options)


def convolution_gradients(numbers: tuple[int, ...], lib: Any, x: Any, weight: Any, grad: Any) -> Any:
    """Return all gradients of a convolution, given the gradient of its result."""
    stride, padding, groups = numbers
    how = [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups
    return lib.ops.aten.convolution_backward(grad, x, weight, [weight.shape[0]], *how, [True] * 3)


def case(name: str, shapes: tuple[tuple[int, ...], ...], run: Callable[..., Any]) -> Case:
    """Return a case with equal operands for each library."""
    operands = [ts.randn(*shape) for shape in shapes]
    contestants: dict[str, Any] = {"ts": partial(run, ts, *operands)}
    if peer_runtimes.has_torch():
        import torch

        torch.set_num_threads(1)
        theirs = [torch.from_numpy(x.numpy()) for x in operands]
        contestants["PyTorch"] = partial(run, torch, *theirs)
    return Case(name, contestants)


def cases() -> list[Case]:
    """Return the cases: convolutions, pooling and matrix products."""
    ts.set_num_threads(1)
    result = []
    for name, (function, x, weight, options) in CONVOLUTIONS.items():
        filters = weight[1] if "transpose" in function else weight[0]
        result.append(case(name, (x, weight, (filters,)), partial(convolution, function, options)))
    for name, (x, weight, *numbers) in GRADIENT_CASES.items():
        stride, padding, _ = numbers
        sides = [(side + 2 * padding - k) // stride + 1 for side, k in zip(x[2:], weight[2:], strict=True)]
        shapes = x, weight, (x[0], weight[0], *sides)
        result.append(case(name, shapes, partial(convolution_gradients, tuple(numbers))))
    return result + [case(name, shapes, run) for name, (shapes, run) in OTHERS.items()]
