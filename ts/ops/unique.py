"""Unique values of all elements, slices along a dimension, or runs of equal neighbors (run lengths).

Input: an array, and flags for additional results. Output: the unique values, and optionally their inverse
indices and their counts.
"""

from __future__ import annotations

from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common
from ts.ops.out_variants import COPIED_OUT
from ts.ops.registry import op
from ts.ops.shape_functions import ShapeAndDtype, ShapeDtypeStrides, depends, new_size

Array = common.Array


def _unique(xp: Any, self: Array, dim: int | None) -> tuple[Array, Array, Array]:
    if dim is None:
        values, inverse, counts = xp.unique(self, return_inverse=True, return_counts=True, equal_nan=False)
        return values, inverse.reshape(self.shape), counts
    values, inverse, counts = xp.unique(
        self, axis=common.wrap_dim(dim, self.ndim), return_inverse=True, return_counts=True, equal_nan=False
    )
    return values, inverse.reshape(-1), counts


def _unique_shape(
    self: Array, dim: int | None, return_inverse: bool = True, return_counts: bool = True
) -> list[Any]:
    """Return the shapes and dtypes of three results: unique values, inverse indices and counts.

    The unique values are elements, or slices along `dim`. Inverse indices and counts that the call does not
    request have the shape (0,).
    """
    count = new_size(max_size=self.size)
    inverse_shape: common.Shape = self.shape
    values: ShapeAndDtype | ShapeDtypeStrides = (count,), self.dtype
    if dim is not None:
        axis = common.wrap_dim(dim, self.ndim)
        rest = (*inverse_shape[:axis], *inverse_shape[axis + 1 :])
        # `dim` has the largest stride, because the slices are stored one after the other
        outermost, *steps = size_guards.dense((count, *rest), self.dtype.itemsize)
        steps.insert(axis, outermost)
        values = (*rest[:axis], count, *rest[axis:]), self.dtype, tuple(steps)
        inverse_shape = (inverse_shape[axis],)
    inverse: ShapeAndDtype = (inverse_shape if return_inverse else (0,), common.INT64)
    return [values, inverse, ((count,) if return_counts else (0,), common.INT64)]


def _unique2_shape(
    self: Array, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> list[Any]:
    return _unique_shape(self, None, return_inverse, return_counts)


def _unique_values_shape(self: Array, sorted: bool = True, return_inverse: bool = False) -> list[Any]:
    return _unique_shape(self, None, return_inverse, False)[:2]


def _unique_dim_shape(self: Array, dim: int, *return_flags: bool) -> list[Any]:
    return _unique_shape(self, dim)


def _unique_consecutive_shape(
    self: Array, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> list[Any]:
    has_dim = dim is not None
    return _unique_shape(self, dim, return_inverse or has_dim, return_counts or has_dim)


@op(
    "aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool "
    "return_counts=False) -> (Tensor, Tensor, Tensor)",
    dtype_errors={"c": "unique"},
    shape=depends("_unique2").unless(_unique2_shape),
    **COPIED_OUT,
)
def _unique2(
    xp: Any, self: Array, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Array, Array, Array]:
    values, inverse, counts = _unique(xp, self, None)
    return values, inverse if return_inverse else counts[:0], counts if return_counts else counts[:0]


@op(
    "aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
    dtype_errors={"c": "unique"},
    shape=depends("_unique").unless(_unique_values_shape),
    **COPIED_OUT,
)
def _unique_values(
    xp: Any, self: Array, sorted: bool = True, return_inverse: bool = False
) -> tuple[Array, Array]:
    return _unique2(xp, self, sorted, return_inverse)[:2]


@op(
    "aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool "
    "return_counts=False) -> (Tensor, Tensor, Tensor)",
    where="f",
    dtype_errors={"c": "unique_dim"},
    shape=depends("unique_dim").unless(_unique_dim_shape),
    **COPIED_OUT,
)
def _unique_dim(
    xp: Any,
    self: Array,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[Array, Array, Array]:
    return _unique(xp, self, dim)


@op(
    "aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? "
    "dim=None) -> (Tensor, Tensor, Tensor)",
    where="",
    dtype_errors={"c": "unique"},
    shape=depends("unique_consecutive").unless(_unique_consecutive_shape),
    **COPIED_OUT,
)
def _unique_consecutive(
    xp: Any, self: Array, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Array, Array, Array]:
    x = self.reshape(-1) if dim is None else xp.moveaxis(self, common.wrap_dim(dim, self.ndim), 0)
    n = x.shape[0]
    differs = (x[1:] != x[:-1]).reshape(max(n - 1, 0), -1).any(axis=1) if n > 1 else xp.zeros(0, bool)
    start = xp.concatenate([xp.ones(min(n, 1), bool), differs])
    starts = xp.nonzero(start)[0]
    counts = xp.diff(xp.concatenate([starts, xp.asarray([n])]))
    inverse = xp.cumsum(start) - 1
    values = x[starts]
    if dim is not None:
        return xp.moveaxis(values, 0, common.wrap_dim(dim, self.ndim)), inverse, counts
    inverse = inverse.reshape(self.shape) if return_inverse else counts[:0]
    return values, inverse, counts if return_counts else counts[:0]


@op(
    "aten::unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool "
    "return_counts=False) -> (Tensor, Tensor, Tensor)",
    where="",
    dtype_errors={"c": "unique_dim"},
    shape=depends("unique_dim_consecutive").unless(_unique_dim_shape),
    **COPIED_OUT,
)
def _unique_dim_consecutive(
    xp: Any, self: Array, dim: int, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Array, Array, Array]:
    """Return consecutive unique slices along `dim`, inverse indices and counts. The flags are ignored."""
    values, inverse, counts = _unique_consecutive(xp, self, True, True, dim)
    axis = common.wrap_dim(dim, self.ndim)
    slices = xp.ascontiguousarray(xp.moveaxis(values, axis, 0))  # makes each slice contiguous
    return xp.moveaxis(slices, 0, axis), inverse, counts
