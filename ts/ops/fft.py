"""Fast Fourier transforms (discrete Fourier transforms) of `ts.fft`.

Input: an array, lengths, dimensions, and a normalization ("forward", "backward", "ortho" or None). Output:
the transform. The kernels call `xp.transforms`, which has the interface of scipy.fft.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ts._core.tensor import size_guards
from ts._core.thread import deadline
from ts.ops import common, cost_model
from ts.ops.out_variants import COPIED_OUT, COUNTED, OPTIONS, CategoryErrorMessage
from ts.ops.registry import op, shared_fields

Array = common.Array
_NO_HALF = {"h": "Unsupported dtype {dtype}"}
Ints = Sequence[int] | None

_SMALL_TRANSFORM_LENGTH = 50
# (limit, t) pairs: if n has a large prime factor, a transform of length n takes t * n * log2(n) nanoseconds,
# with t from the first pair with n < limit
_LEVELS = ((1 << 16, 0.6), (1 << 19, 1.5), (math.inf, 3.5))


def _prepared(xp: Any, name: str, x: Array, dims: Sequence[int], lengths: Ints) -> Array:
    if "rfft" in name and "i" not in name[:1] and x.dtype.kind == "c":
        real = "real-valued" if name == "rfftn" else "real"
        raise RuntimeError(f"{name} expects a {real} input tensor, but got {common.NAME_OF[x.dtype]}")
    for n in lengths or ():
        if n is not None and n < 1 and n != -1:
            raise RuntimeError(f"Invalid number of data points ({n}) specified")
    for i, axis in enumerate(dims):
        if not x.shape[axis] and (lengths is None or lengths[i] in (None, -1)):
            raise RuntimeError("Invalid number of data points (0) specified")
    of_half = (
        name in ("irfft", "irfftn", "hfft", "hfftn") and dims and (not lengths or lengths[-1] in (None, -1))
    )
    if of_half and size_guards.evaluate_guard(x.shape[dims[-1]] == 1):
        raise RuntimeError("Invalid number of data points (0) specified")
    x = common.cast(xp, x, common.float_dtype(x.dtype))
    if name in ("fft", "ifft", "fftn", "ifftn", "irfft", "irfftn", "hfft", "hfftn"):
        x = common.cast(xp, x, common.complex_dtype(x.dtype))
    return x


def _reserve(x: Array, axes: Sequence[int], lengths: Ints) -> None:
    """Charge `ts.limits` for the additional time and memory of transforms.

    Transforms whose length has a large prime factor need them.
    """
    if not deadline.is_limited():
        return
    for axis, n in zip(axes, lengths or [x.shape[a] for a in axes], strict=False):
        factor = _largest_factor(n)
        if factor * factor > n > _SMALL_TRANSFORM_LENGTH:
            level = next(level for length_limit, level in _LEVELS if n < length_limit)
            deadline.charge(level * x.size / max(x.shape[axis], 1) * n * math.log2(n))
            deadline.reserve(8 * n * x.dtype.itemsize)


def _largest_factor(n: int) -> int:
    largest = 1
    for factor in itertools.chain((2,), range(3, math.isqrt(n) + 1, 2)):
        while n % factor == 0:
            n, largest = n // factor, factor
        if factor * factor > n:
            break
    return max(n, largest)


def _check_normalization(norm: str | None) -> None:
    if norm not in (None, "forward", "backward", "ortho"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')


def _one(xp: Any, name: str, self: Array, n: int | None, dim: int, norm: str | None) -> Array:
    if self.ndim == 0:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    axis = common.wrap_dim(dim, self.ndim)
    x = _prepared(xp, name, self, (axis,), None if n is None else (n,))
    _reserve(x, (axis,), None if n is None else (n,))
    _check_normalization(norm)
    return getattr(xp.transforms, name)(x, n, axis, norm)


def _transform_axes(xp: Any, name: str, self: Array, s: Ints, dim: Ints, norm: str | None) -> Array:
    if dim is None:
        axes = tuple(range(self.ndim - len(s), self.ndim)) if s is not None else tuple(range(self.ndim))
    else:
        if len(dim) and not self.ndim:
            raise IndexError(f"Dimension specified as {dim[0]} but tensor has no dimensions")
        axes = tuple(common.wrap_dim(d, self.ndim) for d in dim)
        if len(set(axes)) < len(axes):
            raise RuntimeError("FFT dims must be unique")
    if s is not None and len(s) > self.ndim:
        raise RuntimeError(
            f"Got shape with {len(s)} values but input tensor only has {self.ndim} dimensions."
        )
    if s is not None and dim is not None and len(s) != len(axes):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    lengths = None if s is None else [self.shape[a] if n == -1 else n for n, a in zip(s, axes, strict=True)]
    x = _prepared(xp, name, self, axes, lengths)
    _check_normalization(norm)
    if not axes:
        if name not in ("fftn", "ifftn"):
            raise RuntimeError(f"{name} must transform at least one axis")
        return x
    _reserve(x, axes, lengths)
    return getattr(xp.transforms, name)(x, lengths, axes, norm)


def _output_category(name: str) -> CategoryErrorMessage:
    """Return the text of the error for an `out=` tensor of the wrong category, floating-point or complex."""
    category = "floating point" if name.startswith(("irfft", "hfft")) else "complex"
    return CategoryErrorMessage(f"{name} expects a {category} output tensor, but got {{got}}")


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _real_only = {"c": "ihfft expects a real input tensor, but got {dtype}"} if _name == "ihfft" else {}

    @op(
        f"aten::fft_{_name}(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
        out="out",
        dtype_errors={**_NO_HALF, **_real_only},
        out_cast_error=_output_category(_name),
        autocast={"cpu": "float32"},
    )
    def _transform(
        xp: Any, self: Array, n: int | None = None, dim: int = -1, norm: str | None = None, name: str = _name
    ) -> Array:
        return _one(xp, name, self, n, dim, norm)

    _real_only = {"c": "Only supports floating-point dtypes, but found: {dtype}"} if _name == "ihfft" else {}

    @op(
        f"aten::fft_{_name}n(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
        out="out",
        layout="like_first" if _name in ("fft", "ifft") else (),
    )
    @op(
        f"aten::fft_{_name}2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
        out="out",
    )
    @shared_fields(
        dtype_errors={**_NO_HALF, **_real_only},
        out_cast_error=_output_category("fftn" if _name == "ifft" else f"{_name}n"),
        autocast={} if "hfft" in _name else {"cpu": "float32"},
    )
    def _transform_n(
        xp: Any,
        self: Array,
        s: Ints = None,
        dim: Ints = None,
        norm: str | None = None,
        name: str = f"{_name}n",
    ) -> Array:
        return _transform_axes(xp, name, self, s, dim, norm)


for _name in ("fftshift", "ifftshift"):

    @op(
        f"aten::fft_{_name}(Tensor self, int[1]? dim=None) -> Tensor",
        layout="contiguous",
        work=cost_model.of(cost_model.moved_bytes, 0.03),
    )
    def _shift(xp: Any, self: Array, dim: Ints = None, name: str = _name) -> Array:
        if self.ndim == 0 and not dim:
            raise RuntimeError("`shifts` required")
        return getattr(xp.fft, name)(self, None if dim is None else tuple(dim))


# ------------------------------------------------------------------------------------- internal FFT operators

_COMPLEX_ONLY = {"bihf": "Only supports complex dtypes, but found: {dtype}"}
_REAL_ONLY = {
    "bic": "Only supports floating-point dtypes, but found: {dtype}",
    "h": "MKL FFT doesn't support tensors of type: {dtype}",
}


def _scaled(xp: Any, self: Array, result: Array, lengths: Sequence[int], normalization: int) -> Array:
    """Divide the result of a transform of n = prod(lengths) points by a factor.

    The factor is 1 for `normalization` 0, sqrt(n) for 1, and n for 2.
    """
    count = math.prod(lengths)
    if normalization not in (0, 1, 2):
        raise RuntimeError(f"Unsupported normalization type {normalization}")
    factor = (1.0, math.sqrt(count), float(count))[normalization]
    return (
        result if normalization == 0 or not count else result / common.real_dtype(result.dtype).type(factor)
    )


@op(
    "aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
    dtype_errors=_COMPLEX_ONLY,
    **COPIED_OUT,
)
def _complex_to_complex(xp: Any, self: Array, dim: Sequence[int], normalization: int, forward: bool) -> Array:
    axes = common.wrap_dims(dim, self.ndim) if dim else ()
    if not axes:
        return self.copy()
    name, norm = ("fftn", "backward") if forward else ("ifftn", "forward")
    result = getattr(xp.transforms, name)(self, None, axes, norm)
    return _scaled(xp, self, result, [self.shape[a] for a in axes], normalization)


@op(
    "aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
    dtype_errors=_REAL_ONLY,
    **COPIED_OUT,
)
def _real_to_complex(xp: Any, self: Array, dim: Sequence[int], normalization: int, onesided: bool) -> Array:
    """Return the FFT of real numbers.

    If `onesided`, return only the nonredundant half of the last dimension.
    """
    axes = common.wrap_dims(dim, self.ndim)
    name = "rfftn" if onesided else "fftn"
    x = self if onesided else common.cast(xp, self, common.complex_dtype(self.dtype))
    result = getattr(xp.transforms, name)(x, None, axes, "backward")
    return _scaled(xp, self, result, [self.shape[a] for a in axes], normalization)


@op(
    "aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
    dtype_errors=_COMPLEX_ONLY,
    **COPIED_OUT,
)
def _complex_to_real(
    xp: Any, self: Array, dim: Sequence[int], normalization: int, last_dim_size: int
) -> Array:
    axes = common.wrap_dims(dim, self.ndim)
    lengths = [*(self.shape[a] for a in axes[:-1]), last_dim_size]
    result = xp.transforms.irfftn(self, lengths, axes, "forward")
    return _scaled(xp, self, result, lengths, normalization)


# ------------------------------------------------------------------------------------- frequencies and shifts


def _frequencies(xp: Any, name: str, indices: Array, n: int, d: float, dtype: int | None) -> Array:
    target = common.dtype_from(dtype)
    if common.CATEGORY_OF[target] < common.FLOATING:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if target.kind == "c":
        common.raise_unsupported_dtype("arange_cpu", target)
    return common.cast(xp, indices / xp.asarray(n * d), target)


@op(f"aten::fft_fftfreq(int n, float d=1., *, {OPTIONS}) -> Tensor", out="out", out_resized=COUNTED)
def _fftfreq(xp: Any, n: int, d: float = 1, dtype: int | None = None, *_: Any) -> Array:
    indices = xp.arange(common.check_sizes([n])[0])
    return _frequencies(xp, "fftfreq", xp.where(indices < (n + 1) // 2, indices, indices - n), n, d, dtype)


@op(f"aten::fft_rfftfreq(int n, float d=1., *, {OPTIONS}) -> Tensor", out="out", out_resized=COUNTED)
def _rfftfreq(xp: Any, n: int, d: float = 1, dtype: int | None = None, *_: Any) -> Array:
    return _frequencies(xp, "rfftfreq", xp.arange(n // 2 + 1), n, d, dtype)
