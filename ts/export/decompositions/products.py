"""Products: all are `mm`, `bmm`, `addmm`, or `mul` and `sum`."""

from __future__ import annotations

import math
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.export.decompositions.shapes import broadcast, swapped, t
from ts.export.decompositions.table import decomposes

aten = ts.ops.aten


@decomposes("aten::linear")
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x weightᵀ + bias, on rows of any number of dimensions."""
    if bias is None:
        return matmul(x, t(weight))
    if x.dim() == 2:
        return aten.addmm(bias, x, t(weight))
    *batch, depth = x.shape
    rows = (
        aten.view(x, [math.prod(batch), depth])
        if x.is_contiguous()
        else aten.reshape(x, [math.prod(batch), depth])
    )
    return aten.view(aten.addmm(bias, rows, t(weight)), [*batch, weight.shape[0]])


@decomposes("aten::matmul")
def matmul(x: Tensor, y: Tensor) -> Tensor:
    """Products of vectors, matrices and batches of matrices."""
    n, m = x.dim(), y.dim()
    if n == 1 and m == 1:
        return dot(x, y)
    if n == 2 and m == 1:
        return mv(x, y)
    if n == 1 and m == 2:
        return aten.squeeze.dim(aten.mm(aten.unsqueeze(x, 0), y), 0)
    if n == 2 and m == 2:
        return aten.mm(x, y)
    if n >= 3 and m in (1, 2):
        return _rows(x, y)
    if n in (1, 2) and m >= 3:
        return _columns(x, y)
    batch = broadcast([list(x.shape[:-2]), list(y.shape[:-2])])
    rows, depth, columns = x.shape[-2], x.shape[-1], y.shape[-1]
    count = math.prod(batch)
    left = aten.reshape(aten.expand(x, [*batch, rows, depth]), [count, rows, depth])
    right = aten.reshape(aten.expand(y, [*batch, depth, columns]), [count, depth, columns])
    return aten.view(aten.bmm(left, right), [*batch, rows, columns])


def _rows(x: Tensor, y: Tensor) -> Tensor:
    """Batches by a matrix or vector: their rows at once."""
    *batch, depth = x.shape
    rows = aten.reshape(x, [math.prod(batch), depth])
    if y.dim() == 1:
        return aten.view(mv(rows, y), [*batch])
    return aten.view(aten.mm(rows, y), [*batch, y.shape[-1]])


def _columns(x: Tensor, y: Tensor) -> Tensor:
    """A matrix or vector by batches."""
    *batch, depth, columns = y.shape
    if x.dim() == 1:
        turned = aten.reshape(swapped(y, -1, -2), [math.prod(batch) * columns, depth])
        return aten.view(mv(turned, x), [*batch, columns])
    rows, count = x.shape[0], math.prod(batch)
    left = aten.view(aten.expand(x, [*batch, rows, depth]), [count, rows, depth])
    right = aten.reshape(aten.expand(y, [*batch, depth, columns]), [count, depth, columns])
    return aten.view(aten.bmm(left, right), [*batch, rows, columns])


@decomposes("aten::mv")
def mv(x: Tensor, y: Tensor) -> Tensor:
    """A matrix by a vector."""
    return aten.sum.dim_IntList(aten.mul.Tensor(x, y), [1])


@decomposes("aten::dot")
def dot(x: Tensor, y: Tensor) -> Tensor:
    """The product of two vectors."""
    return aten.sum(aten.mul.Tensor(x, y))


@decomposes("aten::outer")
def outer(x: Tensor, y: Tensor) -> Tensor:
    """All products of two elements."""
    return aten.mul.Tensor(aten.view(x, [x.shape[0], 1]), y)


@decomposes("aten::baddbmm")
def baddbmm(x: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta x + alpha a b, in batches."""
    found = aten.bmm(a, b)
    found = found if alpha == 1 else aten.mul.Tensor(found, alpha)
    if beta == 0:
        return found
    return aten.add.Tensor(x if beta == 1 else aten.mul.Tensor(x, beta), found)


@decomposes("aten::addr")
def addr(x: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta x + alpha a bᵀ"""
    wide = aten.mul.Tensor(aten.expand(x, [a.shape[0], b.shape[0]]), beta)
    return aten.add.Tensor(wide, aten.mul.Tensor(outer(a, b), alpha))


@decomposes("aten::inner")
def inner(x: Tensor, y: Tensor) -> Tensor:
    """Products along the last dimensions."""
    if x.dim() == 0 or y.dim() == 0:
        return aten.mul.Tensor(x, y)
    return tensordot(x, y, [-1], [-1])


@decomposes("aten::tensordot")
def tensordot(x: Tensor, y: Tensor, dims_self: list[int], dims_other: list[int]) -> Tensor:
    """Sums of products over pairs of dimensions."""
    left = [d for d in range(x.dim()) if d not in [e % x.dim() for e in dims_self]]
    right = [d for d in range(y.dim()) if d not in [e % y.dim() for e in dims_other]]
    depth = math.prod(x.shape[d] for d in dims_self)
    sizes = [x.shape[d] for d in left] + [y.shape[d] for d in right]
    rows = math.prod(x.shape[d] for d in left)
    columns = math.prod(y.shape[d] for d in right)
    first = aten.reshape(aten.permute(x, [*left, *dims_self]), [rows, depth])
    second = aten.reshape(aten.permute(y, [*dims_other, *right]), [depth, columns])
    return aten.reshape(aten.mm(first, second), sizes)


@decomposes("aten::kron")
def kron(x: Tensor, y: Tensor) -> Tensor:
    """Each element of one times the other."""
    n = max(x.dim(), y.dim())
    a = [1] * (n - x.dim()) + list(x.shape)
    b = [1] * (n - y.dim()) + list(y.shape)
    left = aten.reshape(x, [size for k in range(n) for size in (a[k], 1)])
    right = aten.reshape(y, [size for k in range(n) for size in (1, b[k])])
    found = aten.mul.Tensor(left, right)
    return aten.reshape(found, [a[k] * b[k] for k in range(n)])


@decomposes("aten::einsum")
def einsum(equation: str, tensors: list[Tensor], *, path: Any = None) -> Tensor:
    """Sums of products by the letters of dimensions, one operand after the other."""
    terms, result = _terms(equation, tensors)
    if result is None or len(tensors) > 2 or any("." in term for term in terms):
        return NotImplemented
    if any(len(set(term)) < len(term) for term in terms):
        return NotImplemented
    letters = [*result, *sorted({c for term in terms for c in term} - set(result))]
    operands = [_along(x, term, letters) for x, term in zip(tensors, terms, strict=True)]
    summed = list(range(len(result), len(letters)))
    if len(operands) == 1:
        return aten.sum.dim_IntList(operands[0], summed) if summed else operands[0]
    return _summed_product(operands[0], operands[1], summed)


def _terms(equation: str, tensors: list[Tensor]) -> tuple[list[str], str | None]:
    left, arrow, right = equation.replace(" ", "").partition("->")
    return left.split(","), right if arrow else None


def _along(x: Tensor, term: str, letters: list[str]) -> Tensor:
    """With a dimension for each letter, in their order."""
    missing = [c for c in letters if c not in term]
    for _ in missing:
        x = aten.unsqueeze(x, x.dim())
    there = [*term, *missing]
    return aten.permute(x, [there.index(c) for c in letters])


def _summed_product(x: Tensor, y: Tensor, dims: list[int]) -> Tensor:
    """The sum over dimensions of a product: a `bmm`."""
    n = x.dim()
    one = [[size == 1 for size in operand.shape] for operand in (x, y)]
    batch = [d for d in range(n) if d not in dims and not one[0][d] and not one[1][d]]
    left = [d for d in range(n) if d not in dims and not one[0][d] and one[1][d]]
    right = [d for d in range(n) if d not in dims and one[0][d]]
    rest = [d for d in range(n) if d not in dims and d not in batch and d not in left and d not in right]
    order = [*batch, *left, *right, *rest]
    if not dims:
        return aten.mul.Tensor(x, y)

    def sizes(operand: Tensor, chosen: list[int]) -> Any:
        return math.prod(operand.shape[d] for d in chosen)

    first = aten.permute(x, [*batch, *left, *dims, *right, *rest])
    first = aten.reshape(first, [sizes(x, batch), sizes(x, left), sizes(x, dims)])
    second = aten.permute(y, [*batch, *dims, *right, *rest, *left])
    second = aten.reshape(second, [sizes(y, batch), sizes(y, dims), sizes(y, [*right, *rest])])
    found = aten.bmm(first, second)
    shape = [x.shape[d] for d in batch + left] + [y.shape[d] for d in right + rest] + [1] * len(dims)
    found = aten.reshape(found, shape)
    there = order + dims
    found = aten.permute(found, [there.index(d) for d in range(n)])
    return aten.reshape(found, list(found.shape)[: n - len(dims)])
