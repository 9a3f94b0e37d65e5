"""Creation of arrays from shapes, ranges and the shapes of other arrays.

Input: sizes, a ScalarType number or None (default dtype), layout, device and pin_memory. Output: a new array.
The dispatcher chooses the backend of the device, and passes its array namespace to the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts._core.tensor.size_guards import certain, check, evaluate_guard, hinted
from ts._core.tensor.sym_types import SymInt
from ts._core.thread.warnings import warn
from ts.ops import common, storage_ops
from ts.ops.out_variants import BY_COUNT, COPIED_OUT, COUNTED, OPTIONS, SILENTLY
from ts.ops.registry import op

Array = common.Array


@op(
    f"aten::zeros(SymInt[] size, *, {OPTIONS}) -> Tensor",
    out="out",
    out_resized=SILENTLY,
    sparse="conversions.zeros_of_layout",
)
@op(
    f"aten::_efficientzerotensor(SymInt[] size, *, {OPTIONS}) -> Tensor",
    **COPIED_OUT,
)
@op(
    f"aten::empty.memory_format(SymInt[] size, *, {OPTIONS}, MemoryFormat? memory_format=None) -> Tensor",
    out="out",
    out_resized=SILENTLY,
    sparse="conversions.zeros_of_layout",
)
def _zeros(xp: Any, size: Sequence[int], dtype: int | None = None, *options: Any) -> Array:
    if len(options) == 4 and options[3]:  # `empty` has a memory format as fourth option
        return storage_ops.empty_in_format(xp, common.check_sizes(size), common.dtype_from(dtype), options[3])
    return xp.zeros(common.check_sizes(size), dtype=common.dtype_from(dtype))


@op(
    f"aten::ones(SymInt[] size, *, {OPTIONS}) -> Tensor",
    out="out",
    out_resized=SILENTLY,
)
def _ones(xp: Any, size: Sequence[int], dtype: int | None = None, *_: Any) -> Array:
    return xp.ones(common.check_sizes(size), dtype=common.dtype_from(dtype))


@op(
    f"aten::full(SymInt[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor",
    out="out",
    out_resized=SILENTLY,
    since=5,
)
def _full(xp: Any, size: Sequence[int], fill_value: Any, dtype: int | None = None, *_: Any) -> Array:
    target = common.dtype_from(dtype, common.number_dtype(fill_value))
    return xp.full(common.check_sizes(size), common.cast_checked(xp, fill_value, target), dtype=target)


@op(
    f"aten::empty_strided(SymInt[] size, SymInt[] stride, *, {OPTIONS}) -> Tensor",
    **COPIED_OUT,
)
def _empty_strided(
    xp: Any, size: Sequence[int], stride: Sequence[int], dtype: int | None = None, *_: Any
) -> Array:
    target = common.dtype_from(dtype)
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})"
        )
    common.check_sizes(size)
    reach = max((n * abs(s) for n, s in zip(size, stride, strict=True)), default=0) * target.itemsize
    if any(s < 0 for s in stride) or reach >= 1 << 63:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}"
        )
    count = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if all(size) else 0
    flat = xp.zeros(count, dtype=target)
    return storage_ops.as_strided_kernel(flat, size, stride, 0)


@op(
    f"aten::empty_permuted(SymInt[] size, int[] physical_layout, *, {OPTIONS}) -> Tensor",
    **COPIED_OUT,
)
def _empty_permuted(
    xp: Any, size: Sequence[int], physical_layout: Sequence[int], dtype: int | None = None, *_: Any
) -> Array:
    if len(size) != len(physical_layout):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(size)} is not equal to len(physical_layout) = {len(physical_layout)}"
        )
    if len({common.wrap_dim(d, len(size)) for d in physical_layout}) != len(size):
        raise RuntimeError("Duplicate dim not allowed")
    inverse = sorted(range(len(physical_layout)), key=lambda i: physical_layout[i])
    return xp.zeros([size[i] for i in physical_layout], dtype=common.dtype_from(dtype)).transpose(inverse)


_LIKE = (
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor"
)


def _like(
    xp: Any,
    self: Array,
    dtype: int | None = None,
    layout: int | None = None,
    device: Any = None,
    pin_memory: bool | None = None,
    memory_format: int | None = None,
) -> Array:
    """Return an uninitialized array with the shape of `self`.

    By default, the array also has the dtype and the strides of `self`.
    """
    return storage_ops.empty_like(xp, self, common.dtype_from(dtype, self.dtype), memory_format)


@op(f"aten::zeros_like(Tensor self, *, {_LIKE}", **COPIED_OUT, where="f", sparse="conversions.zeros_like")
@op(f"aten::empty_like(Tensor self, *, {_LIKE}", **COPIED_OUT, where="f", sparse="conversions.zeros_like")
def _zeros_like(xp: Any, self: Array, *options: Any) -> Array:
    result = _like(xp, self, *options)
    result[...] = xp.zeros((), dtype=result.dtype)
    return result


@op(f"aten::ones_like(Tensor self, *, {_LIKE}", **COPIED_OUT, where="f")
def _ones_like(xp: Any, self: Array, *options: Any) -> Array:
    result = _like(xp, self, *options)
    result[...] = 1
    return result


@op(f"aten::full_like(Tensor self, Scalar fill_value, *, {_LIKE}", **COPIED_OUT, where="f")
def _full_like(xp: Any, self: Array, fill_value: Any, *options: Any) -> Array:
    result = _like(xp, self, *options)
    result[...] = common.cast_checked(xp, fill_value, result.dtype)
    return result


@op(
    f"aten::new_zeros(Tensor self, SymInt[] size, *, {OPTIONS}) -> Tensor",
    **COPIED_OUT,
    where="m",
    sparse="conversions.new_zeros",
)
@op(
    f"aten::new_empty(Tensor self, SymInt[] size, *, {OPTIONS}) -> Tensor",
    **COPIED_OUT,
    where="m",
    sparse="conversions.new_zeros",
)
def _new_zeros(xp: Any, self: Array, size: Sequence[int], dtype: int | None = None, *_: Any) -> Array:
    return xp.zeros(common.check_sizes(size), dtype=common.dtype_from(dtype, self.dtype))


@op(
    f"aten::new_ones(Tensor self, SymInt[] size, *, {OPTIONS}) -> Tensor",
    **COPIED_OUT,
    where="m",
)
def _new_ones(xp: Any, self: Array, size: Sequence[int], dtype: int | None = None, *_: Any) -> Array:
    return xp.ones(common.check_sizes(size), dtype=common.dtype_from(dtype, self.dtype))


@op(
    f"aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor",
    **COPIED_OUT,
    where="m",
)
def _new_full(
    xp: Any, self: Array, size: Sequence[int], fill_value: Any, dtype: int | None = None, *_: Any
) -> Array:
    target = common.dtype_from(dtype, self.dtype)
    return xp.full(common.check_sizes(size), common.cast_checked(xp, fill_value, target), dtype=target)


@op(
    f"aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, {OPTIONS}) -> Tensor",
    **COPIED_OUT,
    where="m",
)
def _new_empty_strided(
    xp: Any, self: Array, size: Sequence[int], stride: Sequence[int], dtype: int | None = None, *_: Any
) -> Array:
    return _empty_strided(xp, size, stride, common.CODE_OF[self.dtype] if dtype is None else dtype)


@op(
    "aten::_new_zeros_with_same_feature_meta(Tensor self, Tensor other, *, int self_num_batch_dims=0) -> "
    "Tensor",
    where="",
    **COPIED_OUT,
)
def _new_zeros_alike(xp: Any, self: Array, other: Array, self_num_batch_dims: int = 0) -> Array:
    """Return zeros whose shape consists of sizes of `self` and the shape of `other`.

    The first `self_num_batch_dims` sizes of `self` precede the shape of `other`.
    """
    batch = self.shape[:self_num_batch_dims]
    block = storage_ops.empty_like(xp, other, other.dtype, None)
    order = sorted(range(block.ndim), key=lambda d: -block.strides[d])
    inverse = [len(batch) + order.index(d) for d in range(block.ndim)]
    zeros = xp.zeros((*batch, *(block.shape[d] for d in order)), dtype=self.dtype)
    return zeros.transpose(*range(len(batch)), *inverse)


@op(
    f"aten::scalar_tensor(Scalar s, *, {OPTIONS}) -> Tensor",
    **COPIED_OUT,
)
def _scalar_tensor(xp: Any, s: Any, dtype: int | None = None, *_: Any) -> Array:
    return common.cast_checked(xp, s, common.dtype_from(dtype))


# --------------------------------------------------------------------------------- arange, linspace, logspace


def _steps(start: Any, end: Any, step: Any) -> Any:
    """Return the length of `range(start, end, step)`. The arguments may be symbolic."""
    count = (end - start + step - (1 if step > 0 else -1)) // step
    if not hinted(count) and certain(count >= 0):
        return count
    return count if evaluate_guard(count > 0) else 0


def arange_kernel(xp: Any, start: Any, end: Any, step: Any, dtype: int | None) -> Array:
    """Return the numbers start, start + step, ... before `end`.

    If `dtype` is None, the dtype is int64 for integer arguments, otherwise the default dtype.
    """
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (hinted(start) and hinted(end)) and not certain(start <= end if step > 0 else start >= end):
        check(start <= end if step > 0 else start >= end)
    if (step > 0 and start > end) or (step < 0 and start < end):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    is_integral = all(isinstance(x, int | SymInt) for x in (start, end, step))
    if not is_integral and not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    target = common.dtype_from(dtype, common.INT64 if is_integral else None)
    if target.kind in "iu":
        first, stride = (start, step) if is_integral else (int(start), int(step))
        if stride == 0 and target == common.INT64:  # PyTorch repeats `first` for the other integer dtypes
            raise ValueError("step must be nonzero")
        if is_integral or target == common.INT64:
            count = _steps(first, end if is_integral else int(end), stride)
        # compute the number of elements from the float arguments, not from the truncated `first` and `stride`
        else:
            count = max(math.ceil((end - start) / step), 0)
        return (first + xp.arange(count, dtype=common.INT64) * stride).astype(target)
    count = _steps(start, end, step) if is_integral else max(math.ceil((end - start) / step), 0)
    if count >= 1 << 60:
        raise RuntimeError("invalid size, possible overflow?")
    wide = common.DOUBLE
    return common.cast(xp, start + xp.arange(count, dtype=wide) * step, target)


@op(
    f"aten::arange(Scalar end, *, {OPTIONS}) -> Tensor",
    out="out",
    out_resized=COUNTED,
    order="- start start_step start_out",
    sizes_from_numbers=True,
)
def _arange(xp: Any, end: Any, dtype: int | None = None, *_: Any) -> Array:
    return arange_kernel(xp, 0, end, 1, dtype)


@op(
    f"aten::arange.start(Scalar start, Scalar end, *, {OPTIONS}) -> Tensor",
    sizes_from_numbers=True,
)
def _arange_start(xp: Any, start: Any, end: Any, dtype: int | None = None, *_: Any) -> Array:
    return arange_kernel(xp, start, end, 1, dtype)


@op(
    f"aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor",
    out="start_out",
    out_resized=COUNTED,
    sizes_from_numbers=True,
)
def _arange_step(xp: Any, start: Any, end: Any, step: Any = 1, dtype: int | None = None, *_: Any) -> Array:
    return arange_kernel(xp, start, end, step, dtype)


@op(
    f"aten::range.step(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor",
    out="out",
    out_resized=BY_COUNT,
    sizes_from_numbers=True,
)
def _range(xp: Any, start: Any, end: Any, step: Any = 1, dtype: int | None = None, *_: Any) -> Array:
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent "
        "with Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    if step == 0:
        raise RuntimeError("step must be nonzero")
    target = common.dtype_from(dtype)
    if target.kind in "bc":
        common.raise_unsupported_dtype("range_cpu", target)
    if target.kind in "iu" and int(step) == 0:
        raise ValueError("step must be nonzero")
    last = end + (step if (end - start) % step == 0 else 0)
    return arange_kernel(xp, start, last, step, common.CODE_OF[target])


@op(
    f"aten::range(Scalar start, Scalar end, *, {OPTIONS}) -> Tensor",
    out="out_",
    out_resized=BY_COUNT,
    sizes_from_numbers=True,
)
def _range_by_ones(xp: Any, start: Any, end: Any, dtype: int | None = None, *_: Any) -> Array:
    return _range(xp, start, end, 1, dtype)


@op("aten::_dim_arange(Tensor like, int dim) -> Tensor")
def _dim_arange(xp: Any, like: Array, dim: int) -> Array:
    return arange_kernel(xp, 0, like.shape[common.wrap_dim(dim, like.ndim)], 1, None)


def _number(xp: Any, x: Any) -> Any:
    return x if isinstance(x, (int, float, complex)) else common.number_in(xp, x)


def _line(
    xp: Any, start: Any, end: Any, steps: int, dtype: int | None, name: str = "linspace"
) -> tuple[Array, common.DType]:
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    for what, x in (("start", start), ("end", end)):
        if getattr(x, "ndim", 0):
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {what} with {x.ndim} "
                "dimension(s)."
            )
    endpoint_dtypes = [
        x.dtype if not isinstance(x, (int, float, complex)) else common.number_dtype(x) for x in (start, end)
    ]
    kinds = [common.CATEGORY_OF[d] for d in endpoint_dtypes]
    natural = (
        common.complex_dtype(common.default_dtype()) if common.COMPLEX in kinds else common.default_dtype()
    )
    target = common.dtype_from(dtype, natural)
    a, b = _number(xp, start), _number(xp, end)
    if steps:
        common.check_number(a, target)
    if steps > 1:
        common.check_number(b, target)
    if target.kind in "iu":
        a, b = int(a), int(b)
    wide = common.CDOUBLE if target.kind == "c" else common.DOUBLE
    if steps == 1:
        return xp.full(1, a, dtype=wide), target
    # Compute the first half from the start and the second half from the end, so that both ends are exact.
    at = xp.arange(steps)
    single = target.kind in "iu"
    step = (b - a) / (steps - 1) if steps > 1 else 0
    if single:
        step = float(xp.asarray(step, dtype=common.FLOAT))
    low, high = a + step * at, b - step * (steps - 1 - at)
    return xp.where(at < steps // 2, low, high).astype(wide), target


@op(
    f"aten::linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, {OPTIONS}) -> Tensor",
    out="Tensor_Tensor_out",
    out_resized=BY_COUNT,
    order="Tensor_Tensor Tensor_Scalar Scalar_Tensor - out",
    sizes_from_numbers=True,
)
@op(
    f"aten::linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, {OPTIONS}) -> Tensor",
    out="Tensor_Scalar_out",
    out_resized=BY_COUNT,
    sizes_from_numbers=True,
)
@op(
    f"aten::linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, {OPTIONS}) -> Tensor",
    out="Scalar_Tensor_out",
    out_resized=BY_COUNT,
    sizes_from_numbers=True,
)
@op(
    f"aten::linspace(Scalar start, Scalar end, int steps, *, {OPTIONS}) -> Tensor",
    out="out",
    out_resized=BY_COUNT,
    since=8,
    sizes_from_numbers=True,
)
def _linspace(xp: Any, start: Any, end: Any, steps: int, dtype: int | None = None, *_: Any) -> Array:
    line, target = _line(xp, start, end, steps, dtype)
    return common.cast(xp, line, target)


@op(
    f"aten::logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., *, {OPTIONS}) -> "
    "Tensor",
    out="Tensor_Tensor_out",
    out_resized=BY_COUNT,
    order="Tensor_Tensor Tensor_Scalar Scalar_Tensor - out",
    sizes_from_numbers=True,
)
@op(
    f"aten::logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., *, {OPTIONS}) -> "
    "Tensor",
    out="Tensor_Scalar_out",
    out_resized=BY_COUNT,
    sizes_from_numbers=True,
)
@op(
    f"aten::logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., *, {OPTIONS}) -> "
    "Tensor",
    out="Scalar_Tensor_out",
    out_resized=BY_COUNT,
    sizes_from_numbers=True,
)
@op(
    f"aten::logspace(Scalar start, Scalar end, int steps, float base=10., *, {OPTIONS}) -> Tensor",
    out="out",
    out_resized=BY_COUNT,
    since=9,
    sizes_from_numbers=True,
)
def _logspace(
    xp: Any, start: Any, end: Any, steps: int, base: float = 10.0, dtype: int | None = None, *_: Any
) -> Array:
    line, target = _line(xp, start, end, steps, dtype, "logspace")
    power = xp.power(xp.asarray(base, dtype=line.dtype), line)
    return common.cast(xp, power, target)


@op(
    f"aten::eye(SymInt n, *, {OPTIONS}) -> Tensor",
    out="out",
    out_resized=SILENTLY,
)
def _eye(xp: Any, n: int, dtype: int | None = None, *_: Any) -> Array:
    return xp.eye(*common.check_sizes([n]), dtype=common.dtype_from(dtype))


@op(
    f"aten::eye.m(SymInt n, SymInt m, *, {OPTIONS}) -> Tensor",
    out="m_out",
    out_resized=SILENTLY,
)
def _eye_m(xp: Any, n: int, m: int, dtype: int | None = None, *_: Any) -> Array:
    return xp.eye(*common.check_sizes([n, m]), dtype=common.dtype_from(dtype))


for _name in ("tril_indices", "triu_indices"):

    @op(
        f"aten::{_name}(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None) -> Tensor"
    )
    def _triangle_indices(
        xp: Any, row: int, col: int, offset: int = 0, dtype: int | None = 4, *_: Any, name: str = _name
    ) -> Array:
        common.check_storage(common.check_sizes([row, col]), common.INT64)
        indices = getattr(xp, name)(row, common.diagonal_within(offset, row, col), col)
        return xp.stack(indices).astype(common.dtype_from(dtype, common.INT64))


@op("aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", layout="contiguous")
def _vander(xp: Any, x: Array, N: int | None = None, increasing: bool = False) -> Array:
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    if N is not None and N < 0:
        raise RuntimeError("N must be non-negative.")
    return xp.vander(x, N, increasing).astype(common.accumulate_dtype(x.dtype), copy=False)


@op("aten::linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor", layout="contiguous")
def _linalg_vander(xp: Any, x: Array, N: int | None = None) -> Array:
    x = x if x.ndim else x[None]
    if x.dtype == common.BOOL or x.dtype in common.HALF_DTYPES:
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            f"{common.NAME_OF[x.dtype]}"
        )
    n = x.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    wide = common.accumulate_dtype(x.dtype)
    return xp.power(common.cast(xp, x, wide)[..., None], xp.arange(n).astype(wide))
