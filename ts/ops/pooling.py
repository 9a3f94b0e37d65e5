"""Pooling (max pooling, average pooling, adaptive pooling) and its backward operators.

Input: an array (N, C, *spatial) or (C, *spatial). Output: an array with smaller spatial dimensions. Max
pooling can also return the indices of the maxima in the flattened plane.

A backend can pass a faster function `compute` to the kernels. The kernel of max pooling calls `compute(xp,
array, windows, with_indices)`. The kernel of average pooling calls `compute(xp, array, windows, divisor)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ts._core.tensor.size_guards import equal_shapes, is_symbol
from ts.ops import common
from ts.ops.out_variants import COPIED, EXPECTED_DTYPE_ERROR, SCALAR
from ts.ops.pooling_geometry import AVG, MAX, MAX_VALUES, Windows, adaptive_windows, sliding_windows
from ts.ops.registry import op
from ts.ops.shape_functions import ShapeAndDtype
from ts.ops.unfold import per_dim

Array = common.Array
Sizes = Sequence[int]
Compute = Callable[..., Any]


def _lowest(dtype: common.DType) -> Any:
    return -math.inf if common.CATEGORY_OF[dtype] == common.FLOATING else np.iinfo(dtype).min


def _window_elements(xp: Any, w: Windows, axis: int) -> tuple[Array, Array]:
    """Return the indices (windows, width) of the elements of each window along `axis`, and a mask.

    `width` is the number of elements of the largest window. The rows of smaller windows are padded. The mask
    is False for the padding.
    """
    begin, stop, dilation = w.begin[axis], w.stop[axis], w.dilation[axis]
    width = max(-(-int((stop - begin).max(initial=1)) // dilation), 1)
    index = begin[:, None] + np.arange(width) * dilation
    return xp.asarray(np.minimum(index, np.maximum(stop[:, None] - 1, 0))), xp.asarray(index < stop[:, None])


def largest(xp: Any, x: Array, w: Windows, with_indices: bool) -> Any:
    """Return the maximum of each window, and its index in the plane if `with_indices`.

    If a window contains NaN, the result is its last NaN.
    """
    n = len(w.output_size)
    flat_index: Any = 0
    counts: Any = True
    for axis in range(n):  # after the loop, `flat_index` and `counts` have the shape (*output_size, *widths)
        index, valid = _window_elements(xp, w, axis)
        shape = [1] * (2 * n)
        shape[axis], shape[n + axis] = index.shape
        flat_index = flat_index * x.shape[axis - n] + index.reshape(shape)
        counts = counts & valid.reshape(shape)
    flat_index = flat_index.reshape(*w.output_size, math.prod(flat_index.shape[n:]))
    flat = xp.take(x.reshape(*x.shape[:-n], math.prod(x.shape[-n:])), flat_index, axis=-1)
    flat = xp.where(counts.reshape(flat_index.shape), flat, xp.asarray(_lowest(x.dtype), dtype=x.dtype))
    best = xp.argmax(flat, axis=-1)
    if common.CATEGORY_OF[x.dtype] == common.FLOATING:
        nan = xp.isnan(flat)
        best = xp.where(nan.any(axis=-1), flat.shape[-1] - 1 - xp.argmax(nan[..., ::-1], axis=-1), best)
    best = best[..., None]
    values = xp.take_along_axis(flat, best, -1)[..., 0]
    if not with_indices:
        return values
    return values, xp.take_along_axis(xp.broadcast_to(flat_index, flat.shape), best, -1)[..., 0]


def mean(xp: Any, x: Array, w: Windows, divisor: Any) -> Array:
    """Return the sum of each window divided by `divisor`, a number or an array with one number per window."""
    n = len(w.output_size)
    total = common.cast(xp, x, common.opmath(x.dtype))
    for axis in range(n):
        index, valid = _window_elements(xp, w, axis)
        elements = xp.take(total, index, axis=total.ndim - n + axis)
        shape = (*index.shape, *(1,) * (n - 1 - axis))
        total = xp.sum(
            xp.where(valid.reshape(shape), elements, 0), axis=elements.ndim - n + axis, dtype=total.dtype
        )
    result = total / xp.asarray(divisor)
    return common.cast(xp, xp.trunc(result) if x.dtype.kind in "iu" else result, x.dtype)


def _shape(xp: Any, x: Array, w: Windows, with_indices_or_divisor: Any) -> Any:
    """Replace `largest` or `mean` in shape rules: return shapes and dtypes of the results."""
    shape = (*x.shape[: x.ndim - len(w.output_size)], *w.output_size)
    return [(shape, x.dtype), (shape, common.INT64)] if with_indices_or_divisor is True else (shape, x.dtype)


# ------------------------------------------------------------------------------------ fixed windows


def max_pool(
    xp: Any,
    self: Array,
    kernel_size: Sizes,
    stride: Sizes = (),
    padding: Sizes = (0,),
    dilation: Sizes = (1,),
    ceil_mode: bool = False,
    *,
    n: int,
    compute: Compute = largest,
) -> Any:
    """Return the maximum of each window, and its index in the flattened last `n` dimensions."""
    w = sliding_windows(MAX, self.shape, n, *map(tuple, (kernel_size, stride, padding, dilation)), ceil_mode)
    if self.dtype.kind in "bc":
        common.raise_unsupported_dtype(f"max_pool{n}d", self.dtype)
    return compute(xp, self, w, True)


def max_pool_values(
    xp: Any,
    self: Array,
    kernel_size: Sizes,
    stride: Sizes = (),
    padding: Sizes = (0,),
    dilation: Sizes = (1,),
    ceil_mode: bool = False,
    *,
    n: int,
    compute: Compute = largest,
) -> Any:
    """Return the largest element of each window."""
    kind = MAX_VALUES if n == 1 else MAX
    w = sliding_windows(kind, self.shape, n, *map(tuple, (kernel_size, stride, padding, dilation)), ceil_mode)
    if self.dtype.kind in "bc" or (n == 1 and self.dtype.kind in "iu"):
        common.raise_unsupported_dtype("max_pool1d_impl" if n == 1 else f"max_pool{n}d", self.dtype)
    return compute(xp, self, w, False)


def avg_pool(
    xp: Any,
    self: Array,
    kernel_size: Sizes,
    stride: Sizes = (),
    padding: Sizes = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    n: int,
    compute: Compute = mean,
) -> Any:
    """Return the mean of each window (avg_pool{n}d)."""
    w = sliding_windows(AVG, self.shape, n, *map(tuple, (kernel_size, stride, padding)), (1,), ceil_mode)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    if self.dtype.kind in "bc" or (self.dtype.kind in "iu" and self.dtype != common.INT64):
        common.raise_unsupported_dtype("avg_pool3d_out_frame" if n == 3 else "avg_pool2d", self.dtype)
    return compute(xp, self, w, _divisor(w, self.shape[self.ndim - n :], count_include_pad, divisor_override))


def _divisor(w: Windows, sizes: Sizes, count_include_pad: bool, divisor_override: int | None) -> Any:
    if divisor_override is not None:
        return divisor_override
    if any(map(is_symbol, sizes)):  # symbolic sizes: only the shape is computed
        return 1
    return w.counts_with_padding(sizes) if count_include_pad else w.counts


# ------------------------------------------------------------------------------------ adaptive pooling


def _adaptive_windows(kind: str, self: Array, output_size: Sizes, n: int) -> Windows:
    name = f"adaptive_{kind}_pool{n}d"
    if kind == AVG and n == 1:
        name = "adaptive_avg_pool2d"  # PyTorch's error for 1-d pooling contains this name
    if len(output_size) not in (1, n):
        if n == 1:
            raise RuntimeError(
                f"adaptive_{kind}_pool1d() argument 'output_size' should contain one int (got "
                f"{len(output_size)})"
            )
        internal = "(): internal error: output_size.size()" if kind == MAX else ": output_size"
        raise RuntimeError(f"{name}{internal} must be {n}")
    sizes = per_dim(output_size, n)
    shape = self.shape
    if len(shape) not in (n + 1, n + 2):
        if n == 1:
            raise RuntimeError(
                f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 'self' "
                f"(while checking arguments for adaptive_{kind}_pool1d)"
            )
        colon = ":" if kind == MAX else ""
        raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got{colon} {list(shape)}")
    if kind == AVG and min(sizes) < 0:
        size_list = ", ".join(map(str, (1, *sizes) if n == 1 else sizes))
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {{{size_list}}}"
        )
    checked_shape = (*shape[:-1], 1, shape[-1]) if name == "adaptive_avg_pool2d" and n == 1 else shape
    first = (
        len(checked_shape) - 2
        if name == "adaptive_avg_pool2d"
        else len(shape) - n - 1
        if len(shape) == n + 1
        else 1
    )
    for d in range(first, len(checked_shape)):
        if checked_shape[d] == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has "
                f"sizes {list(checked_shape)} with dimension {d} being empty"
            )
    if min(sizes) < 0:
        output_shape = [*shape[: len(shape) - n], *(1,) * (n == 1), *sizes]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {output_shape}")
    if common.CATEGORY_OF[self.dtype] != common.FLOATING:
        common.raise_unsupported_dtype(f"adaptive_{kind}_pool" + ("3d_cpu" if n == 3 else "2d"), self.dtype)
    return adaptive_windows(tuple(shape[len(shape) - n :]), sizes)


def adaptive_avg_pool(xp: Any, self: Array, output_size: Sizes, *, n: int, compute: Compute = mean) -> Any:
    """Return the means of `output_size` nearly equal sections of each dimension."""
    w = _adaptive_windows(AVG, self, output_size, n)
    return compute(xp, self, w, w.counts)


def adaptive_max_pool(xp: Any, self: Array, output_size: Sizes, *, n: int, compute: Compute = largest) -> Any:
    """Return the maxima of `output_size` nearly equal sections of each dimension, and their indices."""
    return compute(xp, self, _adaptive_windows(MAX, self, output_size, n), True)


# ------------------------------------------------------------------------------------ unpooling


def max_unpool(xp: Any, self: Array, indices: Array, output_size: Sizes, *_: Sizes, n: int) -> Array:
    """Return the max unpooling: zeros of size `output_size`, with the elements of `self` at `indices`."""
    if indices.dtype != common.INT64:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {common.NAME_OF[indices.dtype]}"
        )
    if not equal_shapes(indices.shape, self.shape):
        raise RuntimeError(
            f"Expected shape of indices to be: {list(self.shape)} but got: {list(indices.shape)}"
        )
    if self.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"Input to max_unpooling{n}d should be a {n + 1}d or {n + 2}d Tensor, but got a tensor with "
            f"{self.ndim} dimensions."
        )
    if common.CATEGORY_OF[self.dtype] != common.FLOATING:
        common.raise_unsupported_dtype(f"max_unpool{n}d", self.dtype)
    lead, sizes = self.shape[:-n], common.check_sizes(output_size)
    if len(sizes) != n:
        expected_elements = (
            "two elements (height, width)" if n == 2 else "three elements (depth, height, width)"
        )
        raise RuntimeError(
            f"There should be exactly {expected_elements} in output_size, but got {len(sizes)} elements."
        )
    plane = math.prod(sizes)
    flat = xp.zeros((*lead, plane), dtype=self.dtype)
    flat_indices = common.copy_indices(indices).reshape(*lead, -1)
    if common.is_any_true(xp, (flat_indices < 0) | (flat_indices >= plane)):
        wrong = int(flat_indices.reshape(-1)[int(xp.argmax((flat_indices < 0) | (flat_indices >= plane)))])
        volume = "x".join(map(str, sizes))
        raise RuntimeError(f"Found an invalid max index: {wrong} (output volumes are of size {volume})")
    xp.put_along_axis(flat, flat_indices, self.reshape(*lead, -1), -1)
    return flat.reshape(*lead, *sizes)


# ------------------------------------------------------------------------------------ gradients


def add_at_indices(xp: Any, values: Array, indices: Array, shape: Sizes, n: int) -> Array:
    """Return an array of `shape` with the sums of `values` at `indices` in each plane, and 0 elsewhere."""
    plane = math.prod(shape[len(shape) - n :])
    check_index_shape(values, indices, shape, n)
    flat_indices = common.copy_indices(indices).reshape(-1, math.prod(indices.shape[-n:]))
    if common.is_any_true(xp, (flat_indices < 0) | (flat_indices >= plane)):
        raise RuntimeError(f"Expected indices from 0 to {plane - 1} in a plane")
    rows = values.reshape(flat_indices.shape)
    flat_indices += xp.arange(len(flat_indices))[:, None] * plane
    wide = common.opmath(values.dtype)
    flat = xp.zeros(len(flat_indices) * plane, dtype=wide)
    xp.add.at(flat, flat_indices.reshape(-1), common.cast(xp, rows, wide).reshape(-1))
    return common.cast(xp, flat, values.dtype).reshape(shape)


def check_index_shape(values: Array, indices: Array, shape: Sizes, n: int) -> None:
    """Raise RuntimeError unless shapes of values and indices match `shape`."""
    if not equal_shapes(indices.shape, values.shape) or not equal_shapes(
        indices.shape[:-n], shape[: len(shape) - n]
    ):
        raise RuntimeError(
            f"Expected a gradient and indices of the same size for an input of size {list(shape)}, but got "
            f"{list(values.shape)} and {list(indices.shape)}"
        )


def max_pool_backward(
    xp: Any,
    grad_output: Array,
    self: Array,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
    indices: Array,
    *,
    n: int,
) -> Array:
    """Return the gradient of the input: each window adds its gradient at the index of its maximum."""
    arguments = kernel_size, stride, padding, dilation, ceil_mode, indices
    _max_gradient_shape(grad_output, self, *arguments, n=n)
    return add_at_indices(xp, grad_output, indices, self.shape, n)


def adaptive_max_pool_backward(xp: Any, grad_output: Array, self: Array, indices: Array, *, n: int) -> Array:
    """Return the gradient of the input: each section adds its gradient at the index of its maximum."""
    return add_at_indices(xp, grad_output, indices, self.shape, n)


def _check_gradient(grad: Array, shape: Sizes, output_size: Sizes) -> None:
    expected_shape = (*shape[: len(shape) - len(output_size)], *output_size)
    if not equal_shapes(grad.shape, expected_shape):
        raise RuntimeError(f"Expected a gradient of size {list(expected_shape)}, but got {list(grad.shape)}")


def distribute_means(xp: Any, grad: Array, self: Array, w: Windows, divisor: Any, compute: Compute) -> Array:
    """Return the gradient of the input: the gradient of each mean is divided among the window's elements."""
    n = len(w.output_size)
    _check_gradient(grad, self.shape, w.output_size)
    wide = common.opmath(grad.dtype)
    share = common.cast(xp, grad, wide) / common.cast(xp, xp.asarray(divisor), wide)
    if math.prod(w.output_size) == 1 and int(w.counts.item()) == math.prod(self.shape[self.ndim - n :]):
        # a single window contains all elements
        return xp.broadcast_to(common.cast(xp, share, grad.dtype), self.shape).copy()
    return common.cast(xp, compute(xp, share, w.inverse_windows(self.shape[self.ndim - n :]), 1), grad.dtype)


def avg_pool_backward(
    xp: Any,
    grad_output: Array,
    self: Array,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    *,
    n: int,
    compute: Compute = mean,
) -> Array:
    """Return the gradient of the input of `avg_pool{n}d`."""
    w = _avg_windows(self, kernel_size, stride, padding, ceil_mode, divisor_override, n)
    divisor = _divisor(w, self.shape[self.ndim - n :], count_include_pad, divisor_override)
    return distribute_means(xp, grad_output, self, w, divisor, compute)


def adaptive_avg_pool_backward(
    xp: Any, grad_output: Array, self: Array, *, n: int, compute: Compute = mean
) -> Array:
    """Return the gradient of the input of `adaptive_avg_pool{n}d`."""
    w = _adaptive_windows(AVG, self, grad_output.shape[grad_output.ndim - n :], n)
    return distribute_means(xp, grad_output, self, w, w.counts, compute)


# ------------------------------------------------------------------------------------ operator records


def _enter(
    signature: str,
    kernel: Callable[..., Any],
    n: int,
    out: str | None,
    returns: str = "Tensor",
    names: str = "out",
    **fields: Any,
) -> None:
    bound = partial(kernel, n=n)

    def pool_shape(*args: Any) -> Any:
        return bound(None, *args, compute=_shape)

    shape = None if kernel is max_unpool else pool_shape
    op(
        f"aten::{signature} -> {returns}", family="pooling", where="f", out=out or (), out_names=names,
        shape=shape, **fields,
    )(bound)  # fmt: skip


_BOTH = "(Tensor, Tensor)"
_ADAPTED = "expected dtype {want} for `output` but got dtype {got}"
for _n in (1, 2, 3):
    _k, _s = f"int[{_n}] kernel_size", f"int[{_n}] stride=[]"
    _p, _d = ("[0]", "[1]") if _n == 1 else ("0", "1")
    _window = f"(Tensor self, {_k}, {_s}, int[{_n}] padding={_p}"
    _max = f"{_window}, int[{_n}] dilation={_d}, bool ceil_mode=False)"
    _override = "" if _n == 1 else ", int? divisor_override=None"
    _whole = "SymInt" if _n > 1 else "int"
    _outs = "out,indices"
    _channels = "channels_1d" if _n == 1 else "channels"
    _casts = {"cpu": "float32"} if _n == 3 else {}
    _enter(
        f"max_pool{_n}d{_max}",
        max_pool_values,
        _n,
        None,
        layout="contiguous" if _n == 1 else "channels",
        autocast=_casts,
        graph_autodiff=_n == 2,
    )
    _enter(
        f"max_pool{_n}d_with_indices{_max}",
        max_pool,
        _n,
        None if _n == 1 else "out",
        _BOTH,
        _outs,
        layout=(_channels, _channels),
        out_dtype_error=EXPECTED_DTYPE_ERROR if _n < 3 else SCALAR,
        graph_autodiff=_n == 2,
    )
    _enter(
        f"avg_pool{_n}d{_window}, bool ceil_mode=False, bool count_include_pad=True{_override})",
        avg_pool,
        _n,
        "out",
        layout="contiguous" if _n == 3 else _channels,
        dtype_errors={"h": "avg_pool3d_out_frame"} if _n == 3 else None,
        autocast=_casts,
        graph_autodiff=_n == 2,
        **({"out_dtype_error": EXPECTED_DTYPE_ERROR} if _n > 1 else COPIED),
    )
    _enter(
        f"adaptive_avg_pool{_n}d(Tensor self, {_whole}[{_n}] output_size)",
        adaptive_avg_pool,
        _n,
        "out",
        layout="contiguous" if _n == 3 else _channels,
        autocast=_casts,
        **({} if _n == 3 else {"out_dtype_error": _ADAPTED} if _n == 2 else COPIED),
        graph_autodiff=True,
    )
    if _n > 1:
        _enter(
            f"_adaptive_avg_pool{_n}d(Tensor self, SymInt[{_n}] output_size)",
            adaptive_avg_pool,
            _n,
            "out",
            layout="contiguous" if _n == 3 else _channels,
            **COPIED,
        )
    _enter(
        f"adaptive_max_pool{_n}d(Tensor self, int[{_n}] output_size)",
        adaptive_max_pool,
        _n,
        None if _n == 1 else "out",
        _BOTH,
        _outs,
        layout=(_channels, _channels) if _n < 3 else (),
        out_dtype_error=EXPECTED_DTYPE_ERROR if _n < 3 else "",
        autocast=_casts,
    )
_enter(
    "max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size)",
    max_unpool,
    2,
    "out",
    layout="channels",
    out_dtype_error=SCALAR,
    autocast={"cpu": "float32"},
)
_enter(
    "max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding)",
    max_unpool,
    3,
    "out",
    layout="contiguous",
    out_dtype_error=SCALAR,
    autocast={"cpu": "float32"},
)


def like_input(grad_output: Array, self: Array, *_: Any) -> ShapeAndDtype:
    """Return shape and dtype of the input gradient."""
    return self.shape, grad_output.dtype


def _max_gradient_shape(
    grad_output: Array,
    self: Array,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
    indices: Array,
    *,
    n: int,
) -> ShapeAndDtype:
    w = sliding_windows(MAX, self.shape, n, *map(tuple, (kernel_size, stride, padding, dilation)), ceil_mode)
    _check_gradient(grad_output, self.shape, w.output_size)
    check_index_shape(grad_output, indices, self.shape, n)
    return like_input(grad_output, self)


def _avg_windows(
    self: Array,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    divisor_override: int | None,
    n: int,
) -> Windows:
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    return sliding_windows(AVG, self.shape, n, *map(tuple, (kernel_size, stride, padding)), (1,), ceil_mode)


def _avg_gradient_shape(
    grad_output: Array,
    self: Array,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    *,
    n: int,
) -> ShapeAndDtype:
    w = _avg_windows(self, kernel_size, stride, padding, ceil_mode, divisor_override, n)
    _check_gradient(grad_output, self.shape, w.output_size)
    return like_input(grad_output, self)


def _enter_gradient(
    signature: str,
    kernel: Callable[..., Any],
    n: int,
    out: bool,
    shape: Callable[..., ShapeAndDtype] = like_input,
    **fields: Any,
) -> None:
    def gradient_shape(*args: Any) -> ShapeAndDtype:
        return shape(*args, n=n)

    rule = shape if shape is like_input else gradient_shape
    layout = "channels_of_second" if n == 2 or kernel is max_pool_backward else "contiguous"
    name, gradient = signature.partition("(")[0].lstrip("_"), "grad_output"
    if signature.startswith(("max", "avg", "adaptive_max_pool3d")):
        gradient = "gradOutput"
    fields |= {"shape": rule, "layout": layout, "checked_dtype": "self grad_output"}
    if signature.endswith("indices)"):
        fields["checked_dtype"] += " indices:Long"
    fields.setdefault("dtype_errors", {"bic": name.replace("_with_indices", "")})
    fields.setdefault(
        "mixed_dtypes_error", f"expected dtype {{want_cpp}} for `{gradient}` but got dtype {{got_cpp}}"
    )
    op(f"aten::{signature} -> Tensor", family="pooling", where="", out="grad_input" if out else (), **fields)(
        partial(kernel, n=n)
    )


_NO_HALF_GRADIENTS: dict[str, Any] = {
    "dtype_errors": {"bihc": "avg_pool3d_backward_out_frame"},
    "mixed_dtypes_error": SCALAR,
}
_ADAPTIVE_GRADIENTS: dict[int, dict[str, Any]] = {
    2: {
        "mixed_dtypes_error": "adaptive_avg_pool2d_backward_out_cpu_template: Expected dtype {want_cpp} for "
        "`grad_output` but got dtype {got_cpp}"
    },
    3: {
        "dtype_errors": {"bic": "adaptive_avg_pool3d_backward_cpu"},
        "mixed_dtypes_error": SCALAR,
    },
}

for _n in (2, 3):
    _head = "(Tensor grad_output, Tensor self"
    _window = f"{_head}, int[{_n}] kernel_size, int[{_n}] stride, int[{_n}] padding"
    _enter_gradient(
        f"max_pool{_n}d_with_indices_backward{_window}, int[{_n}] dilation, bool ceil_mode, Tensor indices)",
        max_pool_backward,
        _n,
        True,
        _max_gradient_shape,
    )
    _enter_gradient(
        f"adaptive_max_pool{_n}d_backward{_head}, Tensor indices)", adaptive_max_pool_backward, _n, True
    )
    _enter_gradient(
        f"avg_pool{_n}d_backward{_window}, bool ceil_mode, bool count_include_pad, int? divisor_override)",
        avg_pool_backward,
        _n,
        True,
        _avg_gradient_shape,
        **({} if _n == 2 else _NO_HALF_GRADIENTS),
    )
    _enter_gradient(
        f"_adaptive_avg_pool{_n}d_backward{_head})",
        adaptive_avg_pool_backward,
        _n,
        False,
        **_ADAPTIVE_GRADIENTS[_n],
    )
