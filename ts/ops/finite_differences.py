"""Finite differences (central differences) of samples for `torch.gradient`.

Input: samples, and their spacing (one number, or for each dimension one number or the coordinates). Output:
the derivative along each dimension. Inner derivatives are central differences. The first and the last
derivative are one-sided differences of first or second order.

For example, `gradient([1, 2, 4, 7])` returns [1.0, 1.5, 2.5, 3.0].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts.ops import common
from ts.ops.registry import op

Array = common.Array


def _steps(xp: Any, spacing: Any, count: int, dtype: common.DType) -> tuple[Array, Array]:
    """Return the distances of each inner sample to the previous sample, and to the next sample.

    They are two arrays, or two 0-dim arrays if all distances are equal.
    """
    if isinstance(spacing, (int, float, complex)):
        h = common.cast(xp, spacing, dtype)
        return h, h
    gaps = common.cast(xp, spacing[1:], dtype) - common.cast(xp, spacing[:-1], dtype)
    if len(gaps) != count - 1:
        raise RuntimeError(
            f"torch.gradient expected {count} coordinates for a dimension of that size, but got "
            f"{len(spacing)}"
        )
    return gaps[:-1], gaps[1:]


def _along(xp: Any, x: Array, spacing: Any, edge_order: int) -> Array:
    """Return the derivative along the last dimension."""
    before, after = _steps(xp, spacing, x.shape[-1], x.dtype)
    left, center, right = x[..., :-2], x[..., 1:-1], x[..., 2:]
    span = before + after
    if isinstance(spacing, (int, float, complex)):
        inside = (right - left) / span
        first, last = after, before
    else:
        inside = (
            right * (before / (after * span))
            + center * ((after - before) / (before * after))
            - left * (after / (before * span))
        )
        gaps = spacing[1:] - spacing[:-1]
        first, last = (common.cast(xp, g, x.dtype) for g in (gaps[0], gaps[-1]))
    start = (x[..., 1] - x[..., 0]) / first
    end = (x[..., -1] - x[..., -2]) / last
    # For order 2, use the derivatives of two parabolas, through the first three and through the last three
    # samples.
    if edge_order == 2:
        second, before_last = (first, last) if before.ndim == 0 else (after[0], before[-1])
        start = start - first * ((x[..., 2] - x[..., 1]) / second - start) / (first + second)
        end = end + last * (end - (x[..., -2] - x[..., -3]) / before_last) / (last + before_last)
    return xp.concatenate([start[..., None], inside, end[..., None]], axis=-1)


def _gradient(
    xp: Any, self: Array, spacings: Sequence[Any], axes: Sequence[int], edge_order: int
) -> list[Array]:
    if self.dtype == common.UINT8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if self.dtype == common.BOOL:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    dims = common.wrap_dims(axes, self.ndim) if len(axes) else ()
    if any((self.shape[d] if self.ndim else 0) < edge_order + 1 for d in dims):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    gradients = []
    for spacing, axis in zip(spacings, dims, strict=True):
        dtype = common.float_dtype(common.result_type(self, spacing))
        x = xp.moveaxis(common.cast(xp, self, common.opmath(dtype)), axis, -1)
        gradients.append(common.cast(xp, xp.moveaxis(_along(xp, x, spacing, edge_order), -1, axis), dtype))
    return gradients


def _axes(self: Array, dim: int | None) -> list[int]:
    return list(range(self.ndim)) if dim is None else [dim]


def _per_axis(self: Array, spacing: Sequence[Any], axes: Sequence[int], has_dim: bool) -> Sequence[Any]:
    """Return `spacing`. Raise RuntimeError unless it has one item for each axis."""
    if len(spacing) == len(axes):
        return spacing
    if has_dim:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
            f"arguments to have the same length, but got a spacing argument of length {len(spacing)} and a "
            f"dim argument of length {len(axes)}."
        )
    raise RuntimeError(
        "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
        f"'self.dim() = {self.ndim}', since dim argument was not given, but got a list of length "
        f"{len(spacing)}"
    )


@op(
    "aten::gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> "
    "Tensor[]",
    where="f",
    layout="contiguous",
)
def _scalar_int(
    xp: Any, self: Array, spacing: Any = None, dim: int | None = None, edge_order: int = 1
) -> list[Array]:
    axes = _axes(self, dim)
    return _gradient(xp, self, [1 if spacing is None else spacing] * len(axes), axes, edge_order)


@op(
    "aten::gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[]",
    where="f",
    layout="contiguous",
)
def _scalar_array(xp: Any, self: Array, spacing: Any, dim: Sequence[int], edge_order: int = 1) -> list[Array]:
    return _gradient(xp, self, [spacing] * len(dim), dim, edge_order)


@op(
    "aten::gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]",
    where="f",
    layout="contiguous",
)
def _array(xp: Any, self: Array, dim: Sequence[int], edge_order: int = 1) -> list[Array]:
    return _gradient(xp, self, [1] * len(dim), dim, edge_order)


@op(
    "aten::gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> "
    "Tensor[]",
    where="f",
    layout="contiguous",
)
def _scalars_int(
    xp: Any, self: Array, spacing: Sequence[Any], dim: int | None = None, edge_order: int = 1
) -> list[Array]:
    axes = _axes(self, dim)
    return _gradient(xp, self, _per_axis(self, spacing, axes, dim is not None), axes, edge_order)


@op(
    "aten::gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> "
    "Tensor[]",
    where="f",
    layout="contiguous",
)
def _scalars_array(
    xp: Any, self: Array, spacing: Sequence[Any], dim: Sequence[int], edge_order: int = 1
) -> list[Array]:
    return _gradient(xp, self, _per_axis(self, spacing, dim, True), dim, edge_order)


def _check_coordinates(spacing: Sequence[Array]) -> None:
    for coordinates in spacing:
        if coordinates.ndim != 1:
            raise RuntimeError(
                "torch.gradient expected each element of spacing to have one dimension, but got an element "
                f"with {coordinates.ndim} dimensions!"
            )


@op(
    "aten::gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> "
    "Tensor[]",
    where="f",
    layout="contiguous",
)
def _tensors_int(
    xp: Any, self: Array, spacing: Sequence[Array], dim: int | None = None, edge_order: int = 1
) -> list[Array]:
    axes = _axes(self, dim)
    _per_axis(self, spacing, axes, dim is not None)
    _check_coordinates(spacing)
    return _gradient(xp, self, spacing, axes, edge_order)


@op(
    "aten::gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[]",
    where="f",
    layout="contiguous",
)
def _tensors_array(
    xp: Any, self: Array, spacing: Sequence[Array], dim: Sequence[int], edge_order: int = 1
) -> list[Array]:
    _per_axis(self, spacing, dim, True)
    _check_coordinates(spacing)
    return _gradient(xp, self, spacing, dim, edge_order)
