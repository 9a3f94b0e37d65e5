"""Convolutions with stride and dilation (dilated convolution) by one matrix product of windows and weight.

Input: an array (N, C, *spatial) or (C, *spatial), a weight and an optional bias. As in PyTorch, a convolution
is a cross-correlation. A transposed convolution adds weighted windows.

The function `described` checks the arguments and returns a cached Geometry. The function `compute` receives
the Geometry and the arrays. A faster backend passes its own `compute` to the kernels:

    overrides["aten::conv2d"] = partial(conv, compute=mine)      # mine(xp, geometry, input, weight, bias)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ts._core.tensor import size_guards
from ts._core.thread.warnings import warn
from ts.ops import common, conv_chunks, cost_model
from ts.ops.conv_dtypes import check_bias, check_operands
from ts.ops.out_variants import COPIED
from ts.ops.registry import op
from ts.ops.shape_functions import ShapeAndDtype
from ts.ops.unfold import col2im, im2col, pad_or_crop, per_dim, sliding_window_view

Array = common.Array
Sizes = Sequence[int]
Compute = Callable[..., Array]
Weigh = Callable[..., Array]


@dataclass(slots=True, eq=False)
class Geometry:
    """Validated parameters of a convolution for one combination of operand sizes."""

    batched: bool
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    # (number of elements at the start, number at the end) for each dimension. A convolution pads its input by
    # these numbers of elements, and a transposed convolution crops its output by them.
    pads: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    groups: int
    transposed: bool
    output_size: tuple[int, ...]  # spatial sizes of the output
    filters: int
    decomposition: Any = None  # cache of the CPU backend (`conv_decomposition`)
    back: Geometry | None = None  # convolution that computes the input's gradient, cached by `backwards`

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the output without the batch size."""
        return (self.filters, *self.output_size)


_geometries: dict[Any, Geometry] = {}
MAX_CACHED_GEOMETRIES = 1024
MAX_COLUMNS = 1 << 22  # maximum number of elements in the window matrix of one product in `weight_gradient`
MAX_PADDING = (1 << 62) - 1  # maximum padding, so that the padding of both sides fits in 64 bits


def _checked(name: str, x: Array, weight: Array, bias: Array | None, groups: int, transposed: bool) -> None:
    n = weight.ndim - 2
    if x.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: "
            f"{list(x.shape)}"
        )
    if not transposed:
        check_bias(x, bias)
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if size_guards.evaluate_guard(weight.shape[0] < groups):
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight "
            f"of size {list(weight.shape)} instead"
        )
    if size_guards.evaluate_guard(weight.shape[0] % groups != 0):
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got "
            f"weight of size [{list(weight.shape)}] instead"
        )
    channels = x.shape[-n - 1]
    expected = weight.shape[0] if transposed else weight.shape[1] * groups
    if not size_guards.equal(channels, expected):
        setting = "transposed=1" if transposed else f"groups={groups}"
        raise RuntimeError(
            f"Given {setting}, weight of size {list(weight.shape)}, expected input{list(x.shape)} to "
            f"have {expected} channels, but got {channels} channels instead"
        )
    outputs = weight.shape[1] * groups if transposed else weight.shape[0]
    if bias is not None and not size_guards.equal_shapes(bias.shape, (outputs,)):
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with {outputs} "
            f"elements, but got bias of size {list(bias.shape)} instead"
        )
    _check_extents(x.shape, weight.shape, groups, transposed)
    check_operands(x, weight, bias, groups)


def _check_extents(x: Sequence[int], weight: Sequence[int], groups: int, transposed: bool) -> None:
    """Raise RuntimeError for kernels without elements, and for transposed convolutions of empty planes."""
    outputs, kernel = weight[1], list(weight[2:])
    n, plane = len(kernel), list(x[len(x) - len(kernel) :])
    if n == 1:  # PyTorch computes convolutions of sequences as convolutions of images of height 1
        kernel, plane = [1, *kernel], [1, *plane]
    if transposed and size_guards.known_empty(plane):
        shape = [*x[: len(x) - n], *plane]
        raise RuntimeError(
            f"Only zero batch or zero channel inputs are supported, but got input shape: {shape}"
        )
    if transposed and size_guards.known_empty(weight[1:] if n == 3 else (outputs,)):
        shape = [weight[0] // groups, outputs, *kernel]
        raise RuntimeError(
            f"non-empty 2D or 4D weight tensor expected, but got: {shape}"
            if n < 3
            else "non-empty 5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x "
            f"kernel_width) tensor expected for weight, but got: {shape}"
        )
    if size_guards.known_empty(kernel):
        sizes = f" kernel_height: {kernel[0]} kernel_width: {kernel[1]}"
        if n == 3:
            sizes = f": {' x '.join(map(str, kernel))} (TxHxW)"
        raise RuntimeError(f"kernel size should be greater than zero, but got{sizes}")


def described(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sizes,
    padding: Sizes | str,
    dilation: Sizes,
    groups: int,
    transposed: bool = False,
    output_padding: Sizes = (0,),
) -> Geometry:
    """Return the geometry of a convolution, or raise RuntimeError for mismatched operands."""
    key = (
        input.shape, input.dtype, weight.shape, weight.dtype,
        None if bias is None else (bias.shape, bias.dtype),
        tuple(stride), padding if isinstance(padding, str) else tuple(padding), tuple(dilation), groups,
        transposed, tuple(output_padding),
    )  # fmt: skip
    moves = (*stride, *(() if isinstance(padding, str) else padding), *dilation, *output_padding, groups)
    if any(map(size_guards.is_symbol, (*input.shape, *weight.shape, *moves))):
        return _describe(input, weight, bias, stride, padding, dilation, groups, transposed, output_padding)
    geometry = _geometries.get(key)
    if geometry is None:
        geometry = _describe(
            input, weight, bias, stride, padding, dilation, groups, transposed, output_padding
        )
        if len(_geometries) >= MAX_CACHED_GEOMETRIES:
            _geometries.clear()
        _geometries[key] = geometry
    return geometry


def _describe(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sizes,
    padding: Sizes | str,
    dilation: Sizes,
    groups: int,
    transposed: bool,
    output_padding: Sizes,
) -> Geometry:
    n = weight.ndim - 2
    if n < 1:
        raise RuntimeError(f"weight should have at least three dimensions, but got {list(weight.shape)}")
    steps, gaps = _sizes("stride", stride, n), _sizes("dilation", dilation, n)
    kernel = tuple(weight.shape[2:])
    pads = _pads(padding, steps, gaps, kernel)
    _checked(f"conv{'_transpose' * transposed}{n}d", input, weight, bias, groups, transposed)
    if any(min(p) < 0 for p in pads):
        raise RuntimeError("negative padding is not supported")
    for i, (pad, _) in enumerate(pads):
        if pad > MAX_PADDING:
            raise RuntimeError(
                f"Given padding={pad} at dimension {i} , expected padding to be at most {MAX_PADDING}"
            )
    if any(s <= 0 for s in steps):
        raise RuntimeError("non-positive stride is not supported")
    if any(d <= 0 for d in gaps):
        raise RuntimeError(f"dilation should be greater than zero, but got {list(gaps)}")
    input_size = input.shape[-n:]
    if transposed:
        more = _sizes("output_padding", output_padding, n)
        if any(o < 0 for o in more):
            raise RuntimeError("negative output_padding is not supported")
        limits = [max(s, d) for s, d in zip(steps, gaps, strict=True)]
        if any(o >= limit for o, limit in zip(more, limits, strict=True)):
            raise RuntimeError(
                "output padding must be smaller than either stride or dilation, but got output_padding: "
                f"{list(more)}, stride: {list(steps)}, dilation: {list(gaps)}"
            )
        output_size = tuple(
            (m - 1) * s - a - b + d * (k - 1) + o + 1
            for m, s, (a, b), d, k, o in zip(input_size, steps, pads, gaps, kernel, more, strict=True)
        )
        if min(output_size) < 1:
            one = (1,) * (n == 1)  # PyTorch's error text for a 1-d convolution contains (1 x length)
            lengths, counts = (" x ".join(map(str, (*one, *v))) for v in (input_size, output_size))
            raise RuntimeError(
                f"Given input size per channel: ({lengths}). Calculated output size per channel: ({counts}). "
                "Output size is too small"
            )
    else:
        reach = [size + a + b for size, (a, b) in zip(input_size, pads, strict=True)]
        if any(
            size_guards.evaluate_guard(r < d * (k - 1) + 1)
            for r, k, d in zip(reach, kernel, gaps, strict=True)
        ):
            raise RuntimeError(
                f"Calculated padded input size per channel: ({' x '.join(map(str, reach))}). Kernel size: "
                f"({' x '.join(map(str, kernel))}). Kernel size can't be greater than actual input size"
            )
        output_size = tuple(
            (r - d * (k - 1) - 1) // s + 1 for r, k, s, d in zip(reach, kernel, steps, gaps, strict=True)
        )
    filters = weight.shape[1] * groups if transposed else weight.shape[0]
    return Geometry(
        input.ndim == n + 2, kernel, steps, tuple(pads), gaps, groups, transposed, output_size, filters
    )


def _sizes(name: str, values: Sizes, n: int) -> tuple[int, ...]:
    if len(values) not in (1, n):
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {n} values to match the convolution "
            f"dimensions, but got {name}={list(values)}"
        )
    return per_dim(values, n)


def check_padding_name(padding: str, stride: list[int]) -> None:
    """Raise RuntimeError unless `padding` is "valid", or "same" for a convolution of stride 1.

    The function is also compiled as a script.
    """
    if padding != "valid" and padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    for step in stride:
        if padding == "same" and step != 1:
            raise RuntimeError("padding='same' is not supported for strided convolutions")


def _pads(padding: Sizes | str, stride: Sizes, dilation: Sizes, kernel: Sizes) -> list[tuple[int, int]]:
    if not isinstance(padding, str):
        return [(p, p) for p in _sizes("padding", padding, len(kernel))]
    check_padding_name(padding, list(stride))
    if padding == "valid":
        return [(0, 0) for _ in kernel]
    totals = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    if any(t % 2 for t in totals):
        warn(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy "
            "of the input be created"
        )
    return [(t // 2, t - t // 2) for t in totals]


# ------------------------------------------------------------------------------------ computation


def product(xp: Any, g: Geometry, input: Array, weight: Array, bias: Array | None) -> Array:
    """Compute the convolution `g` by one matrix product of the weight and all windows of the input.

    On CUDA devices, there is one product for each chunk of images.
    """
    if xp.has_low_precision_products:
        return conv_chunks.compute(xp, g, input, weight, bias)
    x = input if g.batched else input[None]
    wide, groups = common.opmath(x.dtype), g.groups
    x, rows = common.cast(xp, x, wide), common.cast(xp, weight, wide)
    if g.transposed:
        input_size = x.shape[2:]
        rows = rows.reshape(groups, weight.shape[0] // groups, -1)
        flat = x.reshape(x.shape[0], groups, weight.shape[0] // groups, math.prod(input_size))
        cols = xp.matmul(rows.swapaxes(1, 2), flat).reshape(x.shape[0], g.filters, *g.kernel, *input_size)
        result = col2im(xp, cols, g.output_size, g.stride, [a for a, _ in g.pads], g.dilation)
    else:
        depth = weight.shape[1] * math.prod(g.kernel)
        cols = im2col(xp, x, g.kernel, g.stride, g.pads, g.dilation)
        cols = cols.reshape(x.shape[0], groups, depth, math.prod(g.output_size))
        result = xp.matmul(rows.reshape(groups, g.filters // groups, depth), cols)
        result = result.reshape(x.shape[0], *g.shape)
    if bias is not None:
        result = result + common.cast(xp, bias, wide).reshape(-1, *(1,) * len(g.kernel))
    result = common.cast(xp, result, input.dtype)
    return result if g.batched else result[0]


def backwards(g: Geometry, input: Array) -> Geometry:
    """Return the geometry of the convolution that computes the input's gradient (cached in `g.back`)."""
    if g.back is None:
        n = len(g.kernel)
        g.back = Geometry(
            g.batched, g.kernel, g.stride, g.pads, g.dilation, g.groups, not g.transposed,
            tuple(input.shape[-n:]), input.shape[-n - 1],
        )  # fmt: skip
    return g.back


def weight_gradient(xp: Any, g: Geometry, windowed: Array, other: Array) -> Array:
    """Return the gradient of the weight, with the shape (filters, channels per group, *kernel).

    `g` is the geometry of a convolution that is not transposed. `windowed` is the input of the convolution,
    and `other` the gradient of its result. For a transposed convolution, the caller exchanges `windowed` and
    `other`.
    """
    if xp.has_low_precision_products:
        return conv_chunks.weight_gradient(xp, g, windowed, other)
    images, lead, output_size = other.shape[0], other.shape[1], other.shape[2:]
    area, groups, n = math.prod(g.kernel), g.groups, len(g.kernel)
    dtype = common.opmath(windowed.dtype)
    total = xp.zeros((groups, lead // groups, windowed.shape[1] // groups * area), dtype=dtype)
    wide = pad_or_crop(xp, common.cast(xp, windowed, dtype), g.pads)
    view = sliding_window_view(xp, wide, g.kernel, g.stride, g.dilation)
    # Crop the view to the shape (images, channels, *output_size, *kernel).
    view = view[(slice(None), slice(None), *map(slice, output_size))]
    view = view.transpose(1, *range(2 + n, 2 + 2 * n), 0, *range(2, 2 + n))
    some = max(1, MAX_COLUMNS // max(1, math.prod(view.shape) // max(1, images)))
    for at in cost_model.steps(range(0, images, some)):
        cols = view[(slice(None),) * (1 + n) + (slice(at, at + some),)]
        rows = common.cast(xp, other[at : at + some], dtype).swapaxes(0, 1)
        cols = cols.reshape(groups, total.shape[2], -1)
        total += xp.matmul(rows.reshape(groups, lead // groups, cols.shape[2]), cols.swapaxes(1, 2))
    return common.cast(xp, total.reshape(lead, -1, *g.kernel), windowed.dtype)


def convolution_backward(
    xp: Any,
    grad_output: Array,
    input: Array,
    weight: Array,
    bias_sizes: Sizes | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
    output_mask: Sequence[bool],
    *,
    compute: Compute = product,
    weigh: Weigh = weight_gradient,
) -> list[Array]:
    """Return the gradients of input, weight and bias.

    A gradient is an empty array if its item in `output_mask` is False.
    """
    g = described(input, weight, None, stride, padding, dilation, groups, transposed, output_padding)
    expected_shape = (input.shape[0], *g.shape) if g.batched else g.shape
    if not size_guards.equal_shapes(grad_output.shape, expected_shape):
        raise RuntimeError(
            f"Expected a gradient of the output's size {list(expected_shape)}, but got "
            f"{list(grad_output.shape)}"
        )
    gradients = [xp.zeros(0, dtype=input.dtype)] * 3
    if output_mask[0]:
        gradients[0] = compute(xp, backwards(g, input), grad_output, weight, None)
    x, grad = (input, grad_output) if g.batched else (input[None], grad_output[None])
    if output_mask[1]:
        gradients[1] = weigh(xp, backwards(g, x), grad, x) if g.transposed else weigh(xp, g, x, grad)
    if output_mask[2]:
        flat_grad = grad.reshape(*grad.shape[:2], math.prod(grad.shape[2:]))
        rows = xp.sum(flat_grad, axis=2, dtype=common.opmath(grad.dtype))
        gradients[2] = common.cast(xp, xp.sum(rows, axis=0), grad.dtype)
    return gradients


def conv(
    xp: Any,
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Sizes = (1,),
    padding: Sizes | str = (0,),
    dilation: Sizes = (1,),
    groups: int = 1,
    *,
    compute: Compute = product,
) -> Array:
    """Check the arguments of conv1d, conv2d or conv3d, and call `compute`."""
    geometry = described(input, weight, bias, stride, padding, dilation, groups)
    return compute(xp, geometry, input, weight, bias)


def conv_transpose(
    xp: Any,
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Sizes = (1,),
    padding: Sizes = (0,),
    output_padding: Sizes = (0,),
    groups: int = 1,
    dilation: Sizes = (1,),
    *,
    compute: Compute = product,
) -> Array:
    """Check the arguments of conv_transpose1d, 2d or 3d, and call `compute`."""
    geometry = described(input, weight, bias, stride, padding, dilation, groups, True, output_padding)
    bias = None if bias is None else common.cast(xp, bias, input.dtype)
    return compute(xp, geometry, input, weight, bias)


def convolution(
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
    *,
    compute: Compute = product,
) -> Array:
    """Compute `aten::convolution`, which includes transposed and grouped convolutions, by `compute`."""
    geometry = described(input, weight, bias, stride, padding, dilation, groups, transposed, output_padding)
    bias = None if bias is None else common.cast(xp, bias, input.dtype)
    return compute(xp, geometry, input, weight, bias)


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
    *flags: bool,
    compute: Compute = product,
) -> Array:
    """Compute `aten::_convolution`, an operator that traces contain.

    `flags` are options of GPU libraries. They have no effect.
    """
    if input.ndim != weight.ndim:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight "
            f"{list(weight.shape)}, but got {input.ndim}-dimensional input of size {list(input.shape)} "
            "instead"
        )
    arguments = input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
    return convolution(xp, *arguments, compute=compute)


def depthwise(
    xp: Any,
    self: Array,
    weight: Array,
    kernel_size: Sizes,
    bias: Array | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    *,
    compute: Compute = product,
) -> Array:
    """Compute a convolution in which each input channel has separate filters."""
    if not size_guards.equal_shapes(weight.shape[2:], kernel_size):
        raise RuntimeError(
            f"Expected a kernel size of {list(weight.shape[2:])}, the weight's, but got {list(kernel_size)}"
        )
    geometry = described(self, weight, bias, stride, padding, dilation, self.shape[1 - weight.ndim])
    return compute(xp, geometry, self, weight, bias)


def _shape(xp: Any, g: Geometry, input: Array, *more: Array | None) -> tuple[tuple[int, ...], Any]:
    return ((input.shape[0], *g.shape) if g.batched else g.shape), input.dtype


def _shape_of(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a shape rule that calls `kernel` with `_shape` in place of a computation.

    `kernel` checks the arguments, and `_shape` returns the shape of the result.
    """

    def convolution_shape(*args: Any) -> Any:
        return kernel(None, *args, compute=_shape)

    return convolution_shape


# ------------------------------------------------------------------------------------ operator records

_GENERAL = (
    "(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool "
    "transposed, "
)
_ON_CUDA: Final = {"cuda": "lower"}
op(
    f"aten::convolution{_GENERAL}SymInt[] output_padding, SymInt groups) -> Tensor",
    out="out",
    layout="any_channels",
    dtype_errors={"bc": "slow_conv2d_cpu"},
    shape=_shape_of(convolution),
    autocast=_ON_CUDA,
    trace_function="ts.tracing.convolutions:record_general_convolution",
)(convolution)
_HOW = "bool benchmark, bool deterministic, bool cudnn_enabled"
_DEPTHWISE = (
    "(Tensor self, Tensor weight, SymInt[{n}] kernel_size, Tensor? bias, SymInt[{n}] stride, SymInt[{n}] "
    "padding, SymInt[{n}] dilation)"
)
# The order matters: for overloads with the same kernel, overload resolution tries the last one first.
for _text, _compute, _kinds, _casts in (
    (
        f"_convolution{_GENERAL}SymInt[] output_padding, SymInt groups, {_HOW}, bool allow_tf32)",
        _convolution,
        "bc",
        _ON_CUDA,
    ),
    (
        f"_convolution.deprecated{_GENERAL}int[] output_padding, SymInt groups, {_HOW})",
        _convolution,
        "bc",
        "lower",
    ),
    (f"convolution_overrideable{_GENERAL}SymInt[] output_padding, SymInt groups)", convolution, "bc", ""),
    (
        "_convolution_mode(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, str padding, SymInt[] "
        "dilation, SymInt groups)",
        conv,
        "bc",
        _ON_CUDA,
    ),
    (f"_conv_depthwise2d{_DEPTHWISE.format(n=2)}", depthwise, "b", ""),
    (f"conv_depthwise3d{_DEPTHWISE.format(n=3)}", depthwise, "b", ""),
):
    op(
        f"aten::{_text} -> Tensor",
        where="" if _text.startswith("_conv_") else "f",
        out=() if _text.startswith(("_convolution.", "_convolution_mode")) else "out",
        layout="any_channels",
        dtype_errors={_kinds: "slow_conv2d_cpu"},
        shape=_shape_of(_compute),
        order="out" if _compute is depthwise else "",
        autocast=_casts,
        **COPIED,
    )(_compute)


def _backward_shapes(
    grad_output: Array, input: Array, weight: Array, bias_sizes: Sizes | None, *arguments: Any
) -> list[ShapeAndDtype]:
    filters = grad_output.shape[1 - weight.ndim]
    return [(input.shape, input.dtype), (weight.shape, weight.dtype), ((filters,), weight.dtype)]


op(
    "aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, "
    "SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, "
    "SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    where="",
    layout=("any_channels", "any_channels", "contiguous"),
    shape=_backward_shapes,
    checked_dtype="input grad_output",
)(convolution_backward)
_PLAIN_NAMES = {1: "slow_conv2d_cpu", 2: "slow_conv2d_cpu", 3: "compute_columns3d"}
_TRANSPOSED_NAMES = {n: f"slow_conv_transpose{max(n, 2)}d_out_cpu" for n in (1, 2, 3)}
_TRANSPOSED_LAYOUTS: dict[int, str | tuple[str, ...]] = {1: (), 2: "any_channels", 3: "any_channels"}
_HEAD = "(Tensor input, Tensor weight, Tensor? bias=None, "
for _n in (1, 2, 3):
    _ones, _zeros = [1] * _n, [0] * _n
    _input = "" if _n == 1 else ".input"
    _stride, _dilation = f"SymInt[{_n}] stride={_ones}", f"SymInt[{_n}] dilation={_ones}"
    for _text, _kernel in (
        (f'conv{_n}d.padding{_HEAD}{_stride}, str padding="valid", {_dilation}, SymInt groups=1)', conv),
        (f"conv{_n}d{_HEAD}{_stride}, SymInt[{_n}] padding={_zeros}, {_dilation}, SymInt groups=1)", conv),
        (
            f"conv_transpose{_n}d{_input}{_HEAD}{_stride}, SymInt[{_n}] padding={_zeros}, SymInt[{_n}] "
            f"output_padding={_zeros}, SymInt groups=1, {_dilation})",
            conv_transpose,
        ),
    ):
        _plain = _kernel is conv
        _trace_function = "record_convolution" if _plain else "record_transposed_convolution"
        op(
            f"aten::{_text} -> Tensor",
            layout="any_channels" if _plain else _TRANSPOSED_LAYOUTS[_n],
            dtype_errors={"b": (_PLAIN_NAMES if _plain else _TRANSPOSED_NAMES)[_n]},
            shape=_shape_of(_kernel),
            autocast="lower",
            trace_function=f"ts.tracing.convolutions:{_trace_function}",
            spatial_dims=_n * _plain,
        )(_kernel)


@op(
    "aten::conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
    where="f",
    out="out",
    layout="contiguous",
    dtype_errors={"b": "addmm_impl_cpu_"},
    autocast="lower",
)
def _conv_tbc(xp: Any, self: Array, weight: Array, bias: Array, pad: int = 0) -> Array:
    """Return the convolution of (time, batch, channels) with (kernel, channels, filters)."""
    if self.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.ndim != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if not size_guards.equal(self.shape[2], weight.shape[1]):
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor.")
    if not size_guards.equal(weight.shape[2], bias.shape[0]):
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    channels_first = xp.ascontiguousarray(self.transpose(1, 2, 0))
    filters = xp.ascontiguousarray(weight.transpose(2, 1, 0))
    return conv(xp, channels_first, filters, bias, (1,), (pad,)).transpose(2, 0, 1)
