"""Histograms in one and several dimensions.

Input: points, the number of bins or their edges, and optional weights. The last dimension of the points
contains the coordinates of one point. Output: the weight of each bin, and the edges. A bin includes its lower
edge, and the last bin both edges. NaN and points outside of all bins are ignored.

For example, `histogram([1, 2, 1, 4, 5], bins=3)` returns [3, 0, 2] and the edges [1, 2.33, 3.67, 5].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common
from ts.ops.out_variants import COPIED_OUT, OF_INPUT
from ts.ops.registry import op

Array = common.Array
Floats = Sequence[float] | None


def _points(xp: Any, self: Array, weight: Array | None) -> tuple[Array, Array | None]:
    """Check points and weights, and return the points as rows of a matrix and the weights as a vector."""
    if self.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    if weight is not None and weight.dtype != self.dtype:
        template = (
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the "
            "same dtype, but got input({want_cpp}), and weight({got_cpp})"
        )
        raise RuntimeError(common.dtype_message(template, self.dtype, weight.dtype))
    if weight is not None and not size_guards.equal_shapes(weight.shape, self.shape[:-1]):
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input "
            f"tensor excluding its innermost dimension, but got input with shape {list(self.shape)} and "
            f"weight with shape {list(weight.shape)}"
        )
    count = math.prod(self.shape[:-1])
    return self.reshape(count, self.shape[-1]), None if weight is None else weight.reshape(count)


def _is_real(points: Array) -> bool:
    return common.CATEGORY_OF[points.dtype] == common.FLOATING


def _even_edges(xp: Any, points: Array, bins: Sequence[int], range: Floats) -> list[Array]:
    """Return equidistant bin edges per dimension, over `range` or from minimum to maximum."""
    n = points.shape[1]
    if range is None and (points.dtype.itemsize == 2 or not _is_real(points)):
        common.raise_unsupported_dtype("histogramdd", points.dtype)
    if range is not None and len(range) != 2 * n:
        raise RuntimeError(
            f"torch.histogramdd: for a {n}-dimensional histogram range should have {2 * n} elements, but got "
            f"{len(range)}"
        )
    edges = []
    for i, count in enumerate(bins):
        if count <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {count} for dimension {i}")
        if range is not None:
            low, high = float(range[2 * i]), float(range[2 * i + 1])
        elif len(points):
            x = points[:, i]
            low, high = (float(common.number_in(xp, end)) for end in (x.min(), x.max()))
        else:
            low, high = 0.0, 1.0
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(f"torch.histogramdd: dimension {i}'s range [{low:g}, {high:g}] is not finite")
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} "
                f"for dimension {i}"
            )
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges.append(xp.linspace(low, high, count + 1, dtype=points.dtype))
    return edges


def _check_edges(points: Array, edges: Sequence[Array]) -> None:
    for i, e in enumerate(edges):
        if e.dtype != points.dtype:
            template = (
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input "
                "with dtype {want_cpp} and bins for dimension "
            )
            raise RuntimeError(
                common.dtype_message(f"{template}{i} with dtype {{got_cpp}}", points.dtype, e.dtype)
            )
        if e.ndim != 1:
            raise RuntimeError(
                f"torch.histogramdd: bins tensor should have one dimension, but got {e.ndim} dimensions in "
                f"the bins tensor for dimension {i}"
            )
        if not e.size:
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the "
                f"bins tensor for dimension {i}"
            )
        if e.size == 1:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got 0 for dimension {i}")


def _counted(xp: Any, points: Array, weight: Array | None, edges: Sequence[Array], density: bool) -> Array:
    """Return the total weight of each bin.

    If `density`, the weights are normalized to a probability density.
    """
    if not _is_real(points):
        common.raise_unsupported_dtype("histogram_cpu", points.dtype)
    shape = [e.size - 1 for e in edges]
    if xp.shapes_only:
        return xp.zeros(shape, dtype=points.dtype)
    inside = xp.ones(len(points), dtype=bool)
    bin_indices = xp.zeros(len(points), dtype=common.INT64)
    for i, (e, n) in enumerate(zip(edges, shape, strict=True)):
        x = points[:, i]
        inside &= (x >= e[0]) & (x <= e[-1])
        bin_indices = bin_indices * n + xp.clip(xp.searchsorted(e, x, side="right") - 1, 0, n - 1)
    inside_weight = None if weight is None else weight[inside].astype(common.DOUBLE)
    total = (
        xp.bincount(bin_indices[inside], inside_weight, minlength=math.prod(shape))
        .astype(points.dtype)
        .reshape(shape)
    )
    if density:
        total = total / total.sum()
        for i, e in enumerate(edges):
            width = (e[1:] - e[:-1]).reshape([-1 if d == i else 1 for d, _ in enumerate(shape)])
            total = total / width
    return common.cast(xp, total, points.dtype)


# ---------------------------------------------------------------------------------------- operators


@op(
    "aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> "
    "(Tensor hist, Tensor bin_edges)",
    out="bins_tensor_out",
    order="bins_tensor bins_tensor_out",
    out_dtype_error=OF_INPUT,
)
def _histogram_edges(
    xp: Any, self: Array, bins: Array, weight: Array | None = None, density: bool = False
) -> tuple[Array, Array]:
    hist, edges = _histogramdd_edges(xp, self.reshape(-1, 1), [bins], None, _flat(weight), density)
    return hist, edges[0].copy()


@op(
    "aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool "
    "density=False) -> (Tensor hist, Tensor bin_edges)",
    out="bin_ct_out",
    out_dtype_error=OF_INPUT,
)
def _histogram_count(
    xp: Any,
    self: Array,
    bins: int = 100,
    range: Floats = None,
    weight: Array | None = None,
    density: bool = False,
) -> tuple[Array, Array]:
    hist, edges = _histogramdd(xp, self.reshape(-1, 1), [bins], range, _flat(weight), density)
    return hist, edges[0]


def _flat(weight: Array | None) -> Array | None:
    return None if weight is None else weight.reshape(-1)


def _check_bins(self: Array, bins: Sequence[Any]) -> None:
    if self.ndim and len(bins) != self.shape[-1]:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )


@op(
    "aten::histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool "
    "density=False) -> (Tensor hist, Tensor[] bin_edges)",
    where="f",
)
def _histogramdd(
    xp: Any,
    self: Array,
    bins: Sequence[int],
    range: Floats = None,
    weight: Array | None = None,
    density: bool = False,
) -> tuple[Array, list[Array]]:
    points, weights = _points(xp, self, weight)
    _check_bins(self, bins)
    edges = _even_edges(xp, points, bins, range)
    return _counted(xp, points, weights, edges, density), edges


@op(
    "aten::histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None, bool "
    "density=False) -> (Tensor hist, Tensor[] bin_edges)",
    where="f",
)
def _histogramdd_int(
    xp: Any,
    self: Array,
    bins: int,
    range: Floats = None,
    weight: Array | None = None,
    density: bool = False,
) -> tuple[Array, list[Array]]:
    return _histogramdd(xp, self, [bins] * (self.shape[-1] if self.ndim else 1), range, weight, density)


@op(
    "aten::histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? weight=None, "
    "bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
    where="f",
)
def _histogramdd_edges(
    xp: Any,
    self: Array,
    bins: Sequence[Array],
    range: Floats = None,
    weight: Array | None = None,
    density: bool = False,
) -> tuple[Array, list[Array]]:
    points, weights = _points(xp, self, weight)
    _check_bins(self, bins)
    _check_edges(points, bins)
    return _counted(xp, points, weights, bins, density), list(bins)


@op(
    "aten::_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool "
    "density=False) -> Tensor[]",
    **COPIED_OUT,
)
def _bin_edges(
    xp: Any,
    self: Array,
    bins: Sequence[int],
    range: Floats = None,
    weight: Array | None = None,
    density: bool = False,
) -> list[Array]:
    points, _ = _points(xp, self, weight)
    _check_bins(self, bins)
    return _even_edges(xp, points, bins, range)


@op(
    "aten::_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, "
    "bool density=False) -> Tensor",
    **COPIED_OUT,
)
def _counts_in_bins(
    xp: Any,
    self: Array,
    bins: Sequence[int],
    range: Floats = None,
    weight: Array | None = None,
    density: bool = False,
) -> Array:
    return _histogramdd(xp, self, bins, range, weight, density)[0]


@op(
    "aten::_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool "
    "density=False) -> Tensor",
    **COPIED_OUT,
)
def _counts_between_edges(
    xp: Any, self: Array, bins: Sequence[Array], weight: Array | None = None, density: bool = False
) -> Array:
    return _histogramdd_edges(xp, self, bins, None, weight, density)[0]
