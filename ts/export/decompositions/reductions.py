"""Decompositions of reductions to `sum.dim_IntList`, `mean.dim`, `var.correction`, `amax`, `sort` ..."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ts
from ts._core.tensor.size_guards import evaluate_guard
from ts._core.tensor.tensor import Tensor
from ts.export.decompositions.arithmetic import either
from ts.export.decompositions.decomposition_table import decomposes, register_composed

aten = ts.ops.aten

register_composed("aten::linalg_norm aten::msort aten::nanmean aten::diff aten::cumulative_trapezoid.dx")
register_composed("aten::renorm", implicit=False)


@decomposes("aten::sum")
def sum_all(x: Tensor, *, dtype: Any = None) -> Tensor:
    """Return the sum of all elements of `x`, in `dtype` if given."""
    return aten.sum.dim_IntList(x, [], dtype=dtype)


@decomposes("aten::all")
def all_elements(x: Tensor) -> Tensor:
    """Return True if all elements of `x` are nonzero."""
    return aten.logical_not(aten.any.dims(aten.logical_not(x)))


@decomposes("aten::all.dim")
def all_dim(x: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    """Return True for each slice along `dim` whose elements are all nonzero."""
    return aten.logical_not(aten.any.dim(aten.logical_not(x), dim, keepdim))


@decomposes("aten::all.dims")
def all_dims(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return True for each slice along the dimensions `dim` whose elements are all nonzero."""
    return aten.logical_not(aten.any.dims(aten.logical_not(x), dim, keepdim))


@decomposes("aten::count_nonzero")
def count_nonzero(x: Tensor, dim: Any = None) -> Tensor:
    """Count the nonzero elements of `x`, along `dim` if given."""
    return count_nonzero_dims(x, None if dim is None else [dim])


@decomposes("aten::count_nonzero.dim_IntList")
def count_nonzero_dims(x: Tensor, dim: Any) -> Tensor:
    """Count the nonzero elements of `x` along the dimensions `dim`."""
    return aten.sum.dim_IntList(aten.ne.Scalar(x, 0), dim)


def _as_float(correction: Any) -> float:
    return 1.0 if correction is None else float(correction)


@decomposes("aten::std.correction")
def std_correction(x: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Tensor:
    """Compute the standard deviation along `dim`, with the divisor n - correction."""
    correction = _as_float(correction)
    return aten.sqrt(aten.var.correction(x, dim, correction=correction, keepdim=keepdim))


@decomposes("aten::std_mean.correction")
def std_mean_correction(x: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    """Compute the standard deviation (divisor n - correction) and the mean along `dim`."""
    correction = _as_float(correction)
    variance, mean = aten.var_mean.correction(x, dim, correction=correction, keepdim=keepdim)
    return aten.sqrt(variance), mean


def _register_unbiased(name: str, with_correction: Callable[..., Any]) -> None:
    """Register decompositions of the overloads of `name` (such as `var`) that have the parameter `unbiased`.

    The decompositions call `with_correction` for all elements, or along dimensions.
    """

    @decomposes(f"aten::{name}", implicit=True)
    def reduce_all(x: Tensor, unbiased: bool = True) -> Any:
        return with_correction(x, None, correction=1 if unbiased else 0)

    @decomposes(f"aten::{name}.dim", implicit=True)
    def reduce_dims(x: Tensor, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Any:
        return with_correction(x, dim, correction=1 if unbiased else 0, keepdim=keepdim)


_register_unbiased("var", aten.var.correction)
_register_unbiased("std", std_correction)
_register_unbiased("var_mean", aten.var_mean.correction)
_register_unbiased("std_mean", std_mean_correction)


@decomposes("aten::norm.Scalar")
def norm(x: Tensor, p: Any = 2) -> Tensor:
    """Compute the p-norm of all elements."""
    return aten.linalg_vector_norm(x, p)


@decomposes("aten::norm.ScalarOpt_dim")
def norm_dim(x: Tensor, p: Any, dim: Any, keepdim: bool = False) -> Tensor:
    """Compute the p-norm along the dimensions `dim`."""
    return aten.linalg_vector_norm(x, 2 if p is None else p, dim, keepdim)


@decomposes("aten::logsumexp")
def logsumexp(x: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Compute log(sum(exp x)), shifted by the maximum for stability."""
    dims = [dim] if isinstance(dim, int) else list(dim)
    if not all(evaluate_guard(x.shape[d] != 0) for d in dims):
        return NotImplemented
    maximum = aten.amax(x, dims, True)
    infinite = aten.eq.Scalar(aten.abs(maximum), math.inf)
    maximum = either(infinite, 0.0, maximum, maximum)
    shift = maximum if keepdim else aten.squeeze.dims(maximum, dims)
    log_sum = aten.log(aten.sum.dim_IntList(aten.exp(aten.sub.Tensor(x, maximum)), dims, keepdim))
    return aten.add.Tensor(log_sum, shift)


@decomposes("aten::argsort", implicit=True)
def argsort(x: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    """Return the indices that sort `x` along `dim`."""
    return aten.sort(x, dim, descending)[1]


@decomposes("aten::argsort.stable", implicit=True)
def argsort_stable(x: Tensor, *, stable: bool, dim: int = -1, descending: bool = False) -> Tensor:
    """Return the indices that sort `x` along `dim`. The sort is stable if `stable` is True."""
    return aten.sort.stable(x, stable=stable, dim=dim, descending=descending)[1]


@decomposes("aten::nansum")
def nansum(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum the elements of `x` that are not NaN, along `dim` if given."""
    return aten.sum.dim_IntList(either(aten.isnan(x), 0, x, x), dim, keepdim, dtype=dtype)


@decomposes("aten::aminmax")
def aminmax(x: Tensor, *, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the minimum and the maximum, along `dim` if given."""
    dims = [] if dim is None else [dim]
    return aten.amin(x, dims, keepdim), aten.amax(x, dims, keepdim)


@decomposes("aten::trace")
def trace(x: Tensor) -> Tensor:
    """Sum the diagonal of a matrix."""
    diagonal = aten.clone(aten.diagonal(x), memory_format=ts.contiguous_format)
    return aten.sum(diagonal)


@decomposes("aten::tril")
def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    """Return the elements on and below a diagonal, and zero for the other elements."""
    return _mask_out(x, aten.le.Scalar(_diagonal_index(x), diagonal))


@decomposes("aten::triu")
def triu(x: Tensor, diagonal: int = 0) -> Tensor:
    """Return the elements on and above a diagonal, and zero for the other elements."""
    return _mask_out(x, aten.ge.Scalar(_diagonal_index(x), diagonal))


def _mask_out(x: Tensor, mask: Tensor) -> Tensor:
    """Return `x` with 0 for elements whose `mask` is False."""
    return aten.logical_and(mask, x) if x.dtype is ts.bool else either(mask, x, 0, x)


def _diagonal_index(x: Tensor) -> Tensor:
    """Return, for each element of a matrix, its column index minus its row index."""
    rows, columns = x.shape[-2], x.shape[-1]
    right = aten.unsqueeze(aten.arange(columns, device=x.device), -2)
    down = aten.unsqueeze(aten.arange(rows, device=x.device), -1)
    return aten.sub.Tensor(right, down)
