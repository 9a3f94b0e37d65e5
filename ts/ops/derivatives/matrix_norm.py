"""Derivatives of matrix norms, decomposed into sums, extremes and singular values, and of weight norm."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose


def _matrix_norm(self: Tensor, ord: float, dim: list[int], keepdim: bool, dtype: int | None) -> Tensor:
    x = self if dtype is None else self.to(dtype)
    rows, columns = dim[0] % x.dim(), dim[1] % x.dim()
    if abs(ord) == 2.0:
        s = ts.linalg.svdvals(x.movedim([rows, columns], [-2, -1]))
        norms = s.amax(-1) if ord > 0 else s.amin(-1)
        return _restore_dims(norms, rows, columns, keepdim)
    summed, other = (columns, rows) if abs(ord) == float("inf") else (rows, columns)
    sums = ts.linalg.vector_norm(x, 1.0, [summed], keepdim)
    other = other - 1 if summed < other and not keepdim else other
    return sums.amax(other, keepdim) if ord > 0 else sums.amin(other, keepdim)


def _matrix_norm_named(self: Tensor, ord: str, dim: list[int], keepdim: bool, dtype: int | None) -> Tensor:
    x = self if dtype is None else self.to(dtype)
    if ord == "fro":
        return ts.linalg.vector_norm(x, 2, dim, keepdim)
    rows, columns = dim[0] % x.dim(), dim[1] % x.dim()
    norms = ts.linalg.svdvals(x.movedim([rows, columns], [-2, -1])).sum(-1)
    return _restore_dims(norms, rows, columns, keepdim)


def _restore_dims(x: Tensor, rows: int, columns: int, keepdim: bool) -> Tensor:
    """If `keepdim`, insert dimensions of size 1 at `rows` and `columns`."""
    if not keepdim:
        return x
    return x.unsqueeze(min(rows, columns)).unsqueeze(max(rows, columns))


compose("aten::linalg_matrix_norm", "_matrix_norm(self, float(ord), dim, keepdim, dtype)")
compose("aten::linalg_matrix_norm.str_ord", "_matrix_norm_named(self, ord, dim, keepdim, dtype)")
compose(
    "aten::linalg_norm.ord_str",
    "_matrix_norm_named(self, ord, [-2, -1] if dim is None else dim, keepdim, dtype)",
)


def _norm(
    self: Tensor, ord: int | float | complex | None, dim: list[int] | None, keepdim: bool, dtype: int | None
) -> Tensor:
    """Compute `linalg.norm`. It is a matrix norm if `ord` is given and two dimensions are reduced.

    Otherwise, it is a vector norm.
    """
    if ord is None:
        return ts.linalg.vector_norm(self, 2.0, dim, keepdim, dtype=dtype)
    if self.dim() == 2 if dim is None else len(dim) == 2:
        return _matrix_norm(self, float(ord), [-2, -1] if dim is None else dim, keepdim, dtype)
    return ts.linalg.vector_norm(self, ord, dim, keepdim, dtype=dtype)


compose("aten::linalg_norm", "_norm(self, ord, dim, keepdim, dtype)")
compose("aten::frobenius_norm.dim", "ts.linalg.vector_norm(self, 2, dim, keepdim)")
compose("aten::nuclear_norm", "_matrix_norm_named(self, 'nuc', [-2, -1], keepdim, None)")
compose("aten::nuclear_norm.dim", "_matrix_norm_named(self, 'nuc', dim, keepdim, None)")


# --------------------------------------------------------------------------------------- weight normalization


def _norm_of_rest(v: Tensor, pow: int, dim: int) -> Tensor:
    """Return the norm of each slice along `dim`, or the norm of the whole tensor for `dim` -1."""
    if dim == -1:
        return ts.norm(v, pow)
    rest = list(range(v.dim()))
    rest.pop(dim)
    return v.abs() if len(rest) == 0 else ts.linalg.vector_norm(v, pow, rest, True)


def _scaled(v: Tensor, g: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    norms = _norm_of_rest(v, 2, dim)
    is_half = v.dtype == ts.float16 or v.dtype == ts.bfloat16
    return v * (g / norms), norms.detach().to(ts.float32) if is_half else norms.detach()


def _of_scaled(grad: Tensor, v: Tensor, g: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return the gradients of `v` and `g` in weight norm, which computes g * v / |v|."""
    norms = _norm_of_rest(v, 2, dim)
    rest = list(range(v.dim()))
    rest.pop(dim)
    product = grad * v
    along = (product if len(rest) == 0 else product.sum(rest, True)) / norms
    return g / norms * (grad - v * (along / norms)), along


compose("aten::norm_except_dim", "_norm_of_rest(v, pow, dim)")
compose("aten::_weight_norm", "_scaled(v, g, dim)[0]")
compose("aten::_weight_norm_interface", "_scaled(v, g, dim)")
compose("aten::_weight_norm_interface_backward", "_of_scaled(grad_w, saved_v, saved_g, dim)")
