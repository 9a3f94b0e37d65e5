"""LU and Cholesky decompositions that continue after a zero pivot, and substitution with triangular factors.

Input: matrices, or factors and right-hand sides. Output: factors with an error code for each matrix, or
solutions. Like LAPACK's routines, the functions never raise an error for a singular matrix: the error code is
the position of the first zero pivot, and divisions by zero result in infinities and NaN. Example:

    lu_packed(xp, [[0.0, 1.0], [0.0, 2.0]])   LU [[0, 1], [0, 2]], pivots [1, 2], info 1
"""

from __future__ import annotations

import math
from typing import Any

from ts.ops import common, cost_model

Array = common.Array


def lu_packed(xp: Any, A: Array) -> tuple[Array, Array, Array]:
    """Return packed L and U, LAPACK pivots, and the position of the first zero pivot (0 if none is zero).

    The LAPACK pivots are row numbers. Row numbers and the position count from 1.
    """
    lu = A.copy().reshape(math.prod(A.shape[:-2]), *A.shape[-2:])
    batch, m, n = lu.shape
    k = min(m, n)
    pivots = xp.zeros((batch, k), dtype=common.INT32)
    info = xp.zeros(batch, dtype=common.INT32)
    rows = xp.arange(batch)
    for i in cost_model.steps(range(k)):
        # pivots are selected by the absolute value, for complex numbers by |re| + |im| as in LAPACK
        column = lu[:, i:, i]
        size = xp.abs(column.real) + xp.abs(column.imag) if column.dtype.kind == "c" else xp.abs(column)
        best = i + xp.argmax(size, axis=1) if batch else xp.zeros(0, dtype=common.INT64)
        pivots[:, i] = best + 1
        lu[rows, i], lu[rows, best] = lu[rows, best], lu[rows, i]
        head = lu[:, i, i]
        info = xp.where((head == 0) & (info == 0), i + 1, info).astype(common.INT32)
        lu[:, i + 1 :, i] /= xp.where(head == 0, 1, head)[:, None]
        lu[:, i + 1 :, i + 1 :] -= lu[:, i + 1 :, i, None] * lu[:, i, None, i + 1 :]
    lead = A.shape[:-2]
    return lu.reshape(A.shape), pivots.reshape(*lead, k), info.reshape(lead)


def solve_factored(
    xp: Any, lu: Array, pivots: Array, B: Array, left: bool = True, adjoint: bool = False
) -> Array:
    """Return the solution X of A X = B (X A = B without `left`) for packed factors of A.

    With `adjoint`, the matrix is the conjugate transpose of A.
    """
    if left != adjoint:  # A X = B, or X A^H = B, which is A X^H = B^H
        right = B if left else xp.conj(B.swapaxes(-1, -2))
        swapped = _swap_rows(xp, right, pivots, lu.shape[:-2], reverse=False)
        x = substitute(xp, lu, substitute(xp, lu, swapped, upper=False, unit=True), upper=True, unit=False)
        return x if left else xp.conj(x.swapaxes(-1, -2))
    # X A = B, which is A^T X^T = B^T, or A^H X = B
    right = B if left else B.swapaxes(-1, -2)
    turned = lu.swapaxes(-1, -2)
    turned = xp.conj(turned) if adjoint else turned
    x = substitute(xp, turned, right, upper=False, unit=False)
    x = _swap_rows(xp, substitute(xp, turned, x, upper=True, unit=True), pivots, (), reverse=True)
    return x if left else x.swapaxes(-1, -2)


def _swap_rows(xp: Any, x: Array, pivots: Array, batch: tuple[int, ...], reverse: bool) -> Array:
    """Return a copy of `x`, broadcast to the batch of the pivots, with the row swaps of LAPACK pivots."""
    lead = common.broadcast_shapes(x.shape[:-2], pivots.shape[:-1])
    n, columns = x.shape[-2:]
    flat = xp.array(xp.broadcast_to(x, (*lead, n, columns))).reshape(math.prod(lead), n, columns)
    others = xp.broadcast_to(pivots, (*lead, n)).reshape(math.prod(lead), n)
    rows = xp.arange(flat.shape[0])
    for i in cost_model.steps(reversed(range(n)) if reverse else range(n)):
        other = others[:, i] - 1
        first = flat[:, i].copy()
        flat[:, i] = flat[rows, other]
        flat[rows, other] = first
    return flat.reshape(*lead, n, columns)


def substitute(xp: Any, triangle: Array, B: Array, upper: bool, unit: bool) -> Array:
    """Return the solution X of the triangular system T X = B, computed by substitution.

    T is the upper triangle of `triangle` if `upper`, otherwise the lower triangle. With `unit`, the diagonal
    elements of T are 1. Division by zero results in infinities and NaN.
    """
    lead = common.broadcast_shapes(triangle.shape[:-2], B.shape[:-2])
    x = xp.array(xp.broadcast_to(B, (*lead, *B.shape[-2:])))
    n = triangle.shape[-1]
    for i in cost_model.steps(reversed(range(n)) if upper else range(n)):
        if not unit:
            x[..., i, :] /= triangle[..., i, i, None]
        rest = slice(0, i) if upper else slice(i + 1, n)
        x[..., rest, :] -= triangle[..., rest, i, None] * x[..., i, None, :]
    return x


def cholesky_with_info(xp: Any, A: Array) -> tuple[Array, Array]:
    """Return lower Cholesky factors, and for each matrix the order of the first minor that is not positive.

    `info` is 0 for a positive-definite matrix. Otherwise, the columns from number `info` on (counted from 1)
    are those of `A`, except for the diagonal element of the first of them.
    """
    factors = xp.tril(A)
    n = A.shape[-1]
    info = xp.zeros(A.shape[:-2], dtype=common.INT32)
    for j in cost_model.steps(range(n)):
        row = xp.conj(factors[..., j, :j])
        pivot = (factors[..., j, j] - (factors[..., j, :j] * row).sum(axis=-1)).real
        active = info == 0
        valid = active & (pivot > 0)
        root = xp.sqrt(xp.where(valid, pivot, 1))
        diagonal = xp.where(valid, root, pivot)
        factors[..., j, j] = xp.where(active, diagonal, factors[..., j, j])
        below = factors[..., j + 1 :, j]
        product = (factors[..., j + 1 :, :j] * row[..., None, :]).sum(axis=-1)
        factors[..., j + 1 :, j] = xp.where(valid[..., None], (below - product) / root[..., None], below)
        info = xp.where(active & ~valid, j + 1, info).astype(common.INT32)
    return factors, info
