"""Decompositions of factory functions to `full`, `arange.start_step`, `empty_permuted`, `rand` ..."""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.conversions import own_format
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer
from ts.export.decompositions.decomposition_table import decomposes

aten = ts.ops.aten


@decomposes("aten::zeros")
def zeros(size: list[Any], **options: Any) -> Tensor:
    """Create a tensor of zeros with the shape `size`."""
    return aten.full(size, 0, **_with_dtype(options))


@decomposes("aten::ones")
def ones(size: list[Any], **options: Any) -> Tensor:
    """Create a tensor of ones with the shape `size`."""
    return aten.full(size, 1, **_with_dtype(options))


def _with_dtype(options: dict[str, Any]) -> dict[str, Any]:
    """Return `options` with the default dtype if they contain no dtype."""
    return options | {"dtype": options.get("dtype") or ts.get_default_dtype()}


def _like(x: Tensor, options: dict[str, Any]) -> dict[str, Any]:
    """Return `options` with the dtype and device of `x` as defaults."""
    explicit = {k: v for k, v in options.items() if v is not None}
    return {"dtype": x.dtype, "device": x.device} | explicit


@decomposes("aten::zeros_like", "aten::zero")
def zeros_like(x: Tensor, **options: Any) -> Tensor:
    """Create a tensor of zeros with the shape, dtype and device of `x`."""
    return aten.full_like(x, 0, **options)


@decomposes("aten::ones_like")
def ones_like(x: Tensor, **options: Any) -> Tensor:
    """Create a tensor of ones with the shape, dtype and device of `x`."""
    return aten.full_like(x, 1, **options)


@decomposes("aten::fill.Scalar")
def fill(x: Tensor, value: Any) -> Tensor:
    """Return a tensor like `x` in which each element is the number `value`."""
    return aten.full_like(x, value)


@decomposes("aten::fill.Tensor")
def fill_tensor(x: Tensor, value: Tensor) -> Tensor:
    """Return a tensor like `x` in which each element is that of the 0-d tensor `value`."""
    return aten.copy(x, value)


@decomposes("aten::copy")
def copy(x: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Return `src` if a recorded operator computes it and it has the shape, dtype and device of `x`.

    Otherwise, keep the operator, which returns a copy of `src`.
    """
    same_layout = x.dtype is src.dtype and x.device == src.device and list(x.shape) == list(src.shape)
    return src if same_layout and is_computed(src) else NotImplemented


def is_computed(x: Tensor) -> bool:
    """Return True if `x` is the result of a recorded operator, and not an input of the graph."""
    recorder = current_tracer()
    return recorder is not None and recorder.node_of(x).op == "call_function"


@decomposes("aten::new_zeros")
def new_zeros(x: Tensor, size: list[Any], **options: Any) -> Tensor:
    """Create a tensor of zeros with the shape `size` and the dtype and device of `x`."""
    return aten.full(size, 0, **_like(x, options))


@decomposes("aten::new_ones")
def new_ones(x: Tensor, size: list[Any], **options: Any) -> Tensor:
    """Create a tensor of ones with the shape `size` and the dtype and device of `x`."""
    return aten.full(size, 1, **_like(x, options))


@decomposes("aten::new_full")
def new_full(x: Tensor, size: list[Any], fill_value: Any, **options: Any) -> Tensor:
    """Create a tensor of the number `fill_value` with the shape `size` and the dtype and device of `x`."""
    return aten.full(size, fill_value, **_like(x, options))


@decomposes("aten::new_empty")
def new_empty(x: Tensor, size: list[Any], **options: Any) -> Tensor:
    """Create an uninitialized tensor with the shape `size` and the dtype and device of `x`."""
    return aten.empty.memory_format(size, **_like(x, options))


@decomposes("aten::empty_like")
def empty_like(x: Tensor, *, memory_format: Any = None, **options: Any) -> Tensor:
    """Create an uninitialized tensor with the shape, dtype and device of `x`."""
    order = list(range(x.dim()))
    strides: Any = x.stride()
    if all(isinstance(s, int) for s in strides):
        order.sort(key=lambda d: -strides[d])
    return aten.empty_permuted(list(x.shape), order, **_like(x, options))


@decomposes("aten::arange")
def arange(end: Any, **options: Any) -> Tensor:
    """Create a 1-D tensor of the numbers from 0 to `end` (excluded) with step 1."""
    return aten.arange.start_step(0, end, **options)


@decomposes("aten::arange.start")
def arange_start(start: Any, end: Any, **options: Any) -> Tensor:
    """Create a 1-D tensor of the numbers from `start` to `end` (excluded) with step 1."""
    return aten.arange.start_step(start, end, **options)


@decomposes("aten::linspace")
def linspace(
    start: Any, end: Any, steps: Any, *, dtype: Any = None, device: Any = None, **options: Any
) -> Tensor:
    """Create a 1-D tensor of `steps` evenly spaced numbers from `start` to `end` (included).

    For accuracy, each number is computed from the nearer of `start` and `end`.
    """
    dtype = dtype or ts.get_default_dtype()
    options = {"dtype": dtype, "device": device}
    if steps == 0:
        return aten.full([0], 0, **options)
    if steps == 1:
        return aten.full([1], start, **options)
    indices = aten.arange(steps, device=device)
    step = (end - start) / (steps - 1)
    first = aten.lt.Scalar(indices, steps / 2)
    upwards = aten.add.Tensor(aten.mul.Tensor(aten._to_copy(indices, dtype=dtype), step), start)
    rest = aten._to_copy(aten.rsub.Scalar(indices, steps - 1), dtype=dtype)
    downwards = aten.rsub.Scalar(aten.mul.Tensor(rest, step), end)
    return aten.where.self(first, upwards, downwards)


@decomposes("aten::eye")
def eye(n: Any, **options: Any) -> Tensor:
    """Create an identity matrix with n rows and n columns."""
    return eye_m(n, n, **options)


@decomposes("aten::eye.m")
def eye_m(n: Any, m: Any, *, dtype: Any = None, device: Any = None, **options: Any) -> Tensor:
    """Create a matrix of n rows and m columns with ones on the main diagonal."""
    rows = aten.arange(n, dtype=ts.uint8, device=device)
    columns = aten.arange(m, dtype=ts.uint8, device=device)
    equal = aten.eq.Tensor(aten.unsqueeze(rows, -1), columns)
    return aten._to_copy(equal, dtype=dtype or ts.get_default_dtype())


@decomposes("aten::lift_fresh_copy")
def lift_fresh_copy(x: Tensor) -> Tensor:
    """Return a copy of `x`."""
    return aten.clone(x)


@decomposes("aten::detach_")
def detach_(x: Tensor) -> Tensor:
    """Return `x` unchanged: recorded tensors have no autograd history."""
    return x


@decomposes("aten::detach", "aten::lift_fresh")
def detach(x: Tensor) -> Tensor:
    """Return an alias of `x`: a tensor that shares the memory of `x`."""
    return aten.alias(x)


@decomposes("aten::bernoulli")
def bernoulli(x: Tensor, *, generator: Any = None) -> Tensor:
    """Draw random numbers 0 and 1. Each element of `x` is the probability of drawing a 1."""
    uniform = aten.rand(list(x.shape), dtype=ts.float32, device=x.device)
    return aten._to_copy(aten.lt.Tensor(uniform, x), dtype=x.dtype)


@decomposes(
    "aten::conj",
    "aten::resolve_conj",
    "aten::resolve_neg",
    "aten::real",
    "aten::pin_memory",
    implicit=True,
)
def identity(x: Tensor) -> Tensor:
    """Return `x` if it is real. For a complex tensor, keep the operator."""
    return NotImplemented if x.is_complex() else x


# ---- conversions of dtype and device


@decomposes("aten::to.dtype", implicit=True)
def to_dtype(
    x: Tensor, dtype: Any, non_blocking: bool = False, copy: bool = False, memory_format: Any = None
) -> Tensor:
    """Convert `x` to `dtype`, or return `x` itself if it has this dtype and `copy` is False."""
    return _convert(x, copy, dtype=dtype, non_blocking=non_blocking, memory_format=memory_format)


@decomposes("aten::to.device", implicit=True)
def to_device(
    x: Tensor,
    device: Any,
    dtype: Any,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Convert `x` to a device and dtype, or return `x` itself if nothing changes and `copy` is False."""
    options = {"non_blocking": non_blocking, "memory_format": memory_format}
    return _convert(x, copy, dtype=dtype, device=device, **options)


@decomposes("aten::to.dtype_layout", implicit=True)
def to_dtype_layout(x: Tensor, *, copy: bool = False, **options: Any) -> Tensor:
    """Convert `x` to a device and dtype, or return `x` itself if nothing changes and `copy` is False."""
    return _convert(x, copy, **options)


@decomposes("aten::to.other", implicit=True)
def to_other(
    x: Tensor, other: Tensor, non_blocking: bool = False, copy: bool = False, memory_format: Any = None
) -> Tensor:
    """Convert `x` to the dtype and device of `other`."""
    options = {"non_blocking": non_blocking, "memory_format": memory_format, "pin_memory": False}
    return _convert(x, copy, dtype=other.dtype, layout=other.layout, device=other.device, **options)


@decomposes("aten::type_as", implicit=True)
def type_as(x: Tensor, other: Tensor) -> Tensor:
    """Convert `x` to the dtype and device of `other`."""
    return _convert(x, False, dtype=other.dtype, layout=other.layout, device=other.device)


def _convert(x: Tensor, copy: bool, memory_format: Any = None, **options: Any) -> Tensor:
    """Return `aten._to_copy(x, ...)`, or `x` itself if the options change nothing and `copy` is False."""
    is_same = options.get("dtype") in (None, x.dtype) and options.get("device") in (None, x.device)
    keeps_strides = memory_format in (None, ts.preserve_format) or own_format(x) is memory_format
    if is_same and keeps_strides and not copy:
        return x
    return aten._to_copy(x, memory_format=memory_format, **options)
