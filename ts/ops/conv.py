"""Convolutions: windows times weight, as one batched matrix product.

In: input (N, C, *spatial) or without N, weight, bias and per-dimension stride, padding, dilation; out:
the convolution (a cross-correlation, as in PyTorch) or, transposed, the sum of weighted windows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts.ops import rules
from ts.ops.registry import Record, add, op
from ts.ops.window import columns, folded, per_dim

Array = rules.Array
Sizes = Sequence[int]


def _checked(name: str, x: Array, weight: Array, bias: Array | None, groups: int, transposed: bool) -> None:
    n = weight.ndim - 2
    if x.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: "
            f"{list(x.shape)}"
        )
    if x.dtype != weight.dtype:
        raise RuntimeError(
            f"Input type ({_type_name(x)}) and weight type ({_type_name(weight)}) should be the same"
        )
    if bias is not None and bias.dtype != x.dtype:
        raise RuntimeError(
            f"Input type ({_type_name(x)}) and bias type ({_type_name(bias)}) should be the same"
        )
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    channels = x.shape[-n - 1]
    wanted = weight.shape[0] if transposed else weight.shape[1] * groups
    if channels != wanted or weight.shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(x.shape)} to "
            f"have {wanted} channels, but got {channels} channels instead"
        )
    outputs = weight.shape[1] * groups if transposed else weight.shape[0]
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with {outputs} "
            f"elements, but got bias of size {list(bias.shape)} instead"
        )


def _type_name(x: Array) -> str:
    return f"torch.{rules.NAME_OF[x.dtype]}Tensor"


def convolve(
    xp: Any,
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sizes,
    pads: Sequence[tuple[int, int]],
    dilation: Sizes,
    groups: int,
) -> Array:
    """The convolution with (before, after) padding in each dimension."""
    n = weight.ndim - 2
    _checked(f"conv{n}d", input, weight, bias, groups, False)
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(min(p) < 0 for p in pads):
        raise RuntimeError("negative padding is not supported")
    if any(d <= 0 for d in dilation):
        raise RuntimeError("dilation should be greater than zero")
    x = input if input.ndim == n + 2 else input[None]
    kernel = weight.shape[2:]
    reach = [size + a + b for size, (a, b) in zip(x.shape[2:], pads, strict=True)]
    if any(r < d * (k - 1) + 1 for r, k, d in zip(reach, kernel, dilation, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, reach))}). Kernel size: "
            f"({' x '.join(map(str, kernel))}). Kernel size can't be greater than actual input size"
        )
    wide = rules.opmath(x.dtype)
    cols = columns(xp, rules.cast(xp, x, wide), kernel, stride, pads, dilation)
    places = cols.shape[2 + n :]
    depth = weight.shape[1] * math.prod(kernel)
    cols = cols.reshape(x.shape[0], groups, depth, math.prod(places))
    rows = rules.cast(xp, weight, wide).reshape(groups, weight.shape[0] // groups, depth)
    result = xp.matmul(rows, cols).reshape(x.shape[0], weight.shape[0], *places)
    return _finished(xp, result, bias, input, n)


def _finished(xp: Any, result: Array, bias: Array | None, input: Array, n: int) -> Array:
    if bias is not None:
        result = result + bias.reshape(-1, *(1,) * n)
    result = rules.cast(xp, result, input.dtype)
    return result if input.ndim == n + 2 else result[0]


def convolve_transposed(
    xp: Any,
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sizes,
    padding: Sizes,
    output_padding: Sizes,
    groups: int,
    dilation: Sizes,
) -> Array:
    """The transposed convolution: every input element adds its multiple of the weight to the output."""
    n = weight.ndim - 2
    _checked(f"conv_transpose{n}d", input, weight, bias, groups, True)
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    x = input if input.ndim == n + 2 else input[None]
    kernel, places = weight.shape[2:], x.shape[2:]
    limits = [max(s, d) for s, d in zip(stride, dilation, strict=True)]
    if any(o >= limit for o, limit in zip(output_padding, limits, strict=True)):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got output_padding: "
            f"{list(output_padding)}, stride: {list(stride)}, dilation: {list(dilation)}"
        )
    wide = rules.opmath(x.dtype)
    rows = rules.cast(xp, weight, wide).reshape(groups, weight.shape[0] // groups, -1)
    flat = rules.cast(xp, x, wide).reshape(x.shape[0], groups, weight.shape[0] // groups, math.prod(places))
    cols = xp.matmul(rows.swapaxes(1, 2), flat)
    cols = cols.reshape(x.shape[0], groups * weight.shape[1], *kernel, *places)
    size = [
        (m - 1) * s - 2 * p + d * (k - 1) + o + 1
        for m, s, p, d, k, o in zip(places, stride, padding, dilation, kernel, output_padding, strict=True)
    ]
    return _finished(xp, folded(xp, cols, size, stride, padding, dilation), bias, input, n)


@op(
    "aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
    "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
    out="out",
    where="f",
)
def _convolution(
    xp: Any,
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Array:
    n = weight.ndim - 2
    stride, padding, dilation, output_padding = (
        per_dim(v, n) for v in (stride, padding, dilation, output_padding)
    )
    if transposed:
        return convolve_transposed(xp, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return convolve(xp, input, weight, bias, stride, [(p, p) for p in padding], dilation, groups)


def _conv(
    xp: Any,
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Sizes = (1,),
    padding: Sizes | str = (0,),
    dilation: Sizes = (1,),
    groups: int = 1,
) -> Array:
    n = weight.ndim - 2
    if weight.ndim < 3:
        raise RuntimeError(f"weight should have at least three dimensions, but got {list(weight.shape)}")
    stride, dilation = per_dim(stride, n), per_dim(dilation, n)
    if not isinstance(padding, str):
        pads = [(p, p) for p in per_dim(padding, n)]
    elif padding == "valid":
        pads = [(0, 0)] * n
    elif padding == "same":
        if any(s != 1 for s in stride):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        totals = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True)]
        pads = [(t // 2, t - t // 2) for t in totals]
    else:
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    return convolve(xp, input, weight, bias, stride, pads, dilation, groups)


def _conv_transpose(
    xp: Any,
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Sizes = (1,),
    padding: Sizes = (0,),
    output_padding: Sizes = (0,),
    groups: int = 1,
    dilation: Sizes = (1,),
) -> Array:
    return _convolution(xp, input, weight, bias, stride, padding, dilation, True, output_padding, groups)


_HEAD = "(Tensor input, Tensor weight, Tensor? bias=None, "
for _n in (1, 2, 3):
    _ones, _zeros = [1] * _n, [0] * _n
    _input = "" if _n == 1 else ".input"
    _stride, _dilation = f"SymInt[{_n}] stride={_ones}", f"SymInt[{_n}] dilation={_ones}"
    for _text, _kernel in (
        (f"conv{_n}d{_HEAD}{_stride}, SymInt[{_n}] padding={_zeros}, {_dilation}, SymInt groups=1)", _conv),
        (f'conv{_n}d.padding{_HEAD}{_stride}, str padding="valid", {_dilation}, SymInt groups=1)', _conv),
        (
            f"conv_transpose{_n}d{_input}{_HEAD}{_stride}, SymInt[{_n}] padding={_zeros}, SymInt[{_n}] "
            f"output_padding={_zeros}, SymInt groups=1, {_dilation})",
            _conv_transpose,
        ),
    ):
        add(Record(f"aten::{_text} -> Tensor", _kernel, "conv", where="f"))
