"""Scans along one dimension (prefix sums, products, extremes), differences and numerical integration.

Input: an array and a dimension. Output: an array. Scans keep the shape. A difference of order n is shorter by
n elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.ops import common, cost_model
from ts.ops.out_variants import COPIED_OUT, write
from ts.ops.registry import op
from ts.ops.shape_functions import ShapeAndDtype, like

Array = common.Array


def _scan(xp: Any, name: str, self: Array, dim: int, dtype: int | None) -> Array:
    axis = common.wrap_dim(dim, self.ndim)
    target = common.dtype_from(dtype, common.accumulate_dtype(self.dtype))
    x = common.cast(xp, self, common.DOUBLE if target == common.FLOAT else common.opmath(target))
    if self.ndim == 0:
        return common.cast(xp, x, target).copy()
    return common.cast(xp, getattr(xp, name)(x, axis=axis), target)


@op(
    "aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    inplace=True,
    out="out",
    layout="contiguous",
    computes_in_out=True,
    autocast={"cuda": "float32"},
    copies_sizes=True,
)
def _cumsum(xp: Any, self: Array, dim: int, dtype: int | None = None) -> Array:
    return _scan(xp, "cumsum", self, dim, dtype)


@op(
    "aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    inplace=True,
    out="out",
    layout="contiguous",
    computes_in_out=True,
    autocast={"cuda": "float32"},
)
def _cumprod(xp: Any, self: Array, dim: int, dtype: int | None = None) -> Array:
    return _scan(xp, "cumprod", self, dim, dtype)


def _scanned_shape(self: Array, dim: int) -> ShapeAndDtype:
    """Return shape and dtype of `self` after checking `dim`."""
    common.wrap_dim(dim, self.ndim)
    return like(self)


@op(
    "aten::logcumsumexp(Tensor self, int dim) -> Tensor",
    out="out",
    layout="contiguous",
    dtype_errors={"bi": "logcumsumexp_out_cpu"},
    out_dtype_error="expected scalar_type {want} but found {got}",
    shape=_scanned_shape,
)
def _logcumsumexp(xp: Any, self: Array, dim: int) -> Array:
    axis = common.wrap_dim(dim, self.ndim)
    if self.ndim == 0:
        return self.copy()
    if self.dtype.kind == "c":
        # this loop adds complex numbers without reducing the imaginary part modulo 2 pi
        terms = xp.moveaxis(self, axis, 0)
        result = terms.copy()
        for i in cost_model.steps(range(1, len(terms))):
            a, b = result[i - 1], terms[i]
            larger = a.real >= b.real
            high, low = xp.where(larger, a, b), xp.where(larger, b, a)
            result[i] = high + xp.log1p(xp.exp(low - high))
        return xp.moveaxis(result, 0, axis)
    return xp.logaddexp.accumulate(self, axis=axis)


@op(
    "aten::_logcumsumexp(Tensor self, int dim) -> Tensor",
    layout="contiguous",
    shape=_scanned_shape,
    **COPIED_OUT,
)
def _logcumsumexp_kernel(xp: Any, self: Array, dim: int) -> Array:
    if common.CATEGORY_OF[self.dtype] < common.FLOATING:
        common.raise_unsupported_dtype("logcumsumexp_out_cpu", self.dtype)
    return _logcumsumexp(xp, self, dim)


def _cumulative_extreme(xp: Any, self: Array, dim: int, largest: bool) -> tuple[Array, Array]:
    axis = common.wrap_dim(dim, self.ndim)
    if self.ndim == 0:
        return self.copy(), xp.zeros((), dtype=common.INT64)
    values = (xp.maximum if largest else xp.minimum).accumulate(self, axis=axis)
    # the index is the position of the last element that equals the extremum so far, where NaN equals NaN
    hit = (self == values) | ((self != self) & (values != values))
    positions = xp.arange(self.shape[axis]).reshape([-1 if d == axis else 1 for d in range(self.ndim)])
    return values, xp.maximum.accumulate(xp.where(hit, positions, 0), axis=axis)


for _name in ("cummax", "cummin"):

    @op(
        f"aten::{_name}(Tensor self, int dim) -> (Tensor values, Tensor indices)",
        out="out",
        layout=("contiguous", "contiguous"),
        dtype_errors={"c": f"{_name}_cpu"},
        out_dtype_error="expected scalar_type {want} but found {got}",
    )
    def _extreme(xp: Any, self: Array, dim: int, largest: bool = _name == "cummax") -> tuple[Array, Array]:
        return _cumulative_extreme(xp, self, dim, largest)


def _extremes_into(name: str, largest: bool) -> Callable[..., None]:
    """Return a kernel that writes cumulative extremes into `values`, and their indices into `indices`."""

    def kernel(xp: Any, self: Array, values: Array, indices: Array, dim: int) -> None:
        if self.dtype.kind == "c":
            common.raise_unsupported_dtype(name, self.dtype)
        for target, result in zip(
            (values, indices), _cumulative_extreme(xp, self, dim, largest), strict=True
        ):
            write(xp, target, result)

    return kernel


for _name, _largest in (("cummax", True), ("cummin", False)):
    op(
        f"aten::_{_name}_helper(Tensor self, Tensor(a!) values, Tensor(b!) indices, int dim) -> ()",
        side_effect=True,
    )(_extremes_into(f"{_name}_cpu", _largest))


@op(
    "aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
    out="out",
)
def _diff(
    xp: Any, self: Array, n: int = 1, dim: int = -1, prepend: Array | None = None, append: Array | None = None
) -> Array:
    if self.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    axis = common.wrap_dim(dim, self.ndim)
    if n == 0:
        return self.copy()
    arrays = [x for x in (prepend, self, append) if x is not None]
    x = xp.concatenate(arrays, axis=axis) if len(arrays) > 1 else self
    if n >= x.shape[axis]:
        return x[(slice(None),) * axis + (slice(0, 0),)].copy()
    return xp.diff(x, n=n, axis=axis)


def _pairs(xp: Any, y: Array, dim: int, dx: Any, x: Array | None) -> tuple[Array, int]:
    axis = common.wrap_dim(dim, y.ndim)
    y = common.cast(xp, y, common.float_dtype(y.dtype)) if x is None and isinstance(dx, float) else y
    ahead, behind = _neighbor_slices(y, axis)
    if x is None:
        return common.cast(xp, (ahead + behind) * dx / 2.0, common.float_dtype(y.dtype)), axis
    if x.ndim == 1:
        x = x.reshape([-1 if d == axis else 1 for d in range(y.ndim)])
        step_axis = axis
    else:
        step_axis = axis - y.ndim + x.ndim
    right, left = _neighbor_slices(x, step_axis)
    product = (ahead + behind) * (right - left) / 2.0
    return common.cast(xp, product, common.float_dtype(common.promote_types(x.dtype, y.dtype))), axis


def _neighbor_slices(x: Array, axis: int) -> tuple[Array, Array]:
    front = (slice(None),) * axis
    return x[(*front, slice(1, None))], x[(*front, slice(None, -1))]


def _declare_trapezoids(name: str, alias: str, reduction: str) -> None:
    """Declare integration by the trapezoidal rule, for sample points `x` and for a distance `dx`.

    `alias` is a second name of the operators, or "". `reduction` combines the areas of the trapezoids.
    """
    fields: dict[str, Any] = {"layout": "contiguous", "autocast": {"cuda": "float32"}}

    def rejects_bool(arguments: str) -> dict[str, str]:
        return {"b": f"{name}: received a bool input for {arguments}, but bool is not supported"}

    def integrate(xp: Any, y: Array, dim: int, dx: Any, x: Array | None) -> Array:
        area, axis = _pairs(xp, y, dim, dx, x)
        return getattr(xp, reduction)(area, axis=axis)

    def over_points(xp: Any, y: Array, x: Array, dim: int = -1) -> Array:
        return integrate(xp, y, dim, None, x)

    def over_distance(xp: Any, y: Array, dx: Any = 1, dim: int = -1) -> Array:
        return integrate(xp, y, dim, dx, None)

    for operator, dx in ((name, "Scalar dx=1"), (alias, "float dx=1.")):
        if operator:
            schema = f"aten::{operator}.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor"
            op(schema, dtype_errors=rejects_bool("`x` or `y`"), **fields)(over_points)
            schema = f"aten::{operator}.dx(Tensor y, *, {dx}, int dim=-1) -> Tensor"
            op(schema, dtype_errors=rejects_bool("`y`"), **fields)(over_distance)


_declare_trapezoids("trapezoid", "trapz", "sum")
_declare_trapezoids("cumulative_trapezoid", "", "cumsum")
