"""Decompositions of matrix products to `mm`, `bmm` and `addmm`, or to `mul` and `sum`."""

from __future__ import annotations

import math
from typing import Any

import ts
from ts._core.tensor.size_guards import evaluate_guard
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer
from ts.export.decompositions.decomposition_table import decomposes, register_composed
from ts.export.decompositions.view_ops import broadcast, swapped, t

aten = ts.ops.aten

register_composed("aten::outer aten::inner aten::tensordot aten::kron")


@decomposes("aten::linear", implicit=True)
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x weightᵀ + bias, for any number of batch dimensions of `x`."""
    if bias is None:
        return matmul(x, t(weight))
    if x.dim() == 2:
        return aten.addmm(bias, x, t(weight))
    if not x.is_contiguous():
        return aten.add.Tensor(matmul(x, t(weight)), bias)
    *batch, depth = x.shape
    rows = aten.view(x, [math.prod(batch), depth])
    return aten.view(aten.addmm(bias, rows, t(weight)), [*batch, weight.shape[0]])


@decomposes("aten::matmul", implicit=True)
def matmul(x: Tensor, y: Tensor) -> Tensor:
    """Multiply vectors, matrices and batches of matrices."""
    n, m = x.dim(), y.dim()
    if n == 1 and m == 1:
        return dot(x, y)
    if n == 2 and m == 1:
        return mv(x, y)
    if n == 1 and m == 2:
        return aten.squeeze.dim(aten.mm(aten.unsqueeze(x, 0), y), 0)
    if n == 2 and m == 2:
        return aten.mm(x, y)
    if n >= 3 and m in (1, 2) and _can_fold(x, y):
        return _matmul_2d(x, y)
    if n == 1 and m >= 3 and _can_fold(y, x):
        return _matmul_2d(swapped(y, -1, -2), x)
    return _batches(x, y)


def _can_fold(x: Tensor, y: Tensor) -> bool:
    """Return True if `matmul` merges the batch dimensions of `x` with its rows and computes one `mm`.

    The dimensions are merged if a view can merge them, or if `y` requires grad.
    """
    if y.requires_grad:
        return True
    recorder = current_tracer()
    if recorder is None:
        return _can_fold_batch(x)
    with recorder.guessing():
        return recorder.unrecorded(_can_fold_batch, x)  # type: ignore[no-any-return]


def _can_fold_batch(x: Tensor) -> bool:
    sizes, strides = list(x.shape), list(x.stride())
    return bool(
        x.numel() == 0 or all(strides[i] == strides[i + 1] * sizes[i + 1] for i in range(x.dim() - 2))
    )


def _matmul_2d(x: Tensor, y: Tensor) -> Tensor:
    """Multiply a batch of matrices by one matrix or vector.

    The rows of all matrices in the batch are multiplied in one product.
    """
    *batch, depth = x.shape
    rows = aten.reshape(x, [math.prod(batch), depth])
    if y.dim() == 1:
        return aten.view(mv(rows, y), [*batch])
    return aten.view(aten.mm(rows, y), [*batch, y.shape[-1]])


def _batches(x: Tensor, y: Tensor) -> Tensor:
    """Multiply two batches of matrices by `bmm` after broadcasting the batch dimensions.

    A 1-D `x` is multiplied as a row, and a 1-D `y` as a column.
    """
    n, m = x.dim(), y.dim()
    batch = broadcast([list(x.shape[:-2]), list(y.shape[:-2])])
    rows, depth = x.shape[-2] if n > 1 else 1, x.shape[-1]
    columns = y.shape[-1] if m > 1 else 1
    count = math.prod(batch)
    left = aten.reshape(aten.expand(x, [*batch, rows, depth]), [count, rows, depth])
    if m == 1:
        right = aten.unsqueeze(aten.reshape(aten.expand(y, [*batch, depth]), [count, depth]), 2)
        return aten.view(aten.squeeze.dim(aten.bmm(left, right), -1), [*batch, rows])
    right = aten.reshape(aten.expand(y, [*batch, depth, columns]), [count, depth, columns])
    return aten.view(aten.bmm(left, right), [*batch, rows, columns] if n > 1 else [*batch, columns])


@decomposes("aten::mv")
def mv(x: Tensor, y: Tensor) -> Tensor:
    """Multiply a matrix and a vector."""
    return aten.sum.dim_IntList(aten.mul.Tensor(x, y), [1])


@decomposes("aten::dot")
def dot(x: Tensor, y: Tensor) -> Tensor:
    """Compute the inner product of two vectors."""
    return aten.sum(aten.mul.Tensor(x, y))


@decomposes("aten::baddbmm")
def baddbmm(x: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return beta * x + alpha * a b for batches of matrices."""
    product = aten.bmm(a, b)
    product = product if alpha == 1 else aten.mul.Tensor(product, alpha)
    if beta == 0:
        return product
    return aten.add.Tensor(x if beta == 1 else aten.mul.Tensor(x, beta), product)


@decomposes("aten::addr")
def addr(x: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return beta * x + alpha * a bᵀ for vectors a and b."""
    scaled = aten.mul.Tensor(aten.expand(x, [a.shape[0], b.shape[0]]), beta)
    return aten.add.Tensor(scaled, aten.mul.Tensor(aten.outer(a, b), alpha))


@decomposes("aten::einsum", implicit=True)
def einsum(equation: str, tensors: list[Tensor], *, path: Any = None) -> Tensor:
    """Compute an einsum by products of two operands, from left to right."""
    terms, result = _terms(equation, tensors)
    letters = [*result, *sorted({c for term in terms for c in term} - set(result))]
    operands = [_along(x, term, letters) for x, term in zip(tensors, terms, strict=True)]
    # Dimensions that are summed over, because their labels are missing in the result.
    rest = range(len(result), len(letters))
    product = operands[0]
    if len(operands) == 1:
        return aten.sum.dim_IntList(product, list(rest)) if rest else product
    counts = {d: sum(letters[d] in term for term in terms) for d in rest}
    for other in operands[1:]:
        of_both: list[int] = []
        of_left: list[int] = []
        of_right: list[int] = []
        for d in rest:
            left, right = (not evaluate_guard(x.shape[d] == 1) for x in (product, other))
            if left and right:
                counts[d] -= 1
                if counts[d] == 1:
                    of_both.append(d)
                    counts[d] = 0
            elif counts[d] == 1 and (left or right):
                (of_left if left else of_right).append(d)
                counts[d] = 0
        product = aten.sum.dim_IntList(product, of_left, True) if of_left else product
        other = aten.sum.dim_IntList(other, of_right, True) if of_right else other
        product = _summed_product(product, other, of_both)
    return aten.reshape(product, list(product.shape)[: len(result)]) if rest else product


def _terms(equation: str, tensors: list[Tensor]) -> tuple[list[list[str]], list[str]]:
    """Parse an einsum equation, and return the dimension labels of each operand and of the result.

    Digits label the dimensions that `...` denotes.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    subscripts = left.split(",")
    named = [len(t.replace("...", "")) for t in subscripts]
    ellipsis_rank = max(
        x.dim() - n if "..." in t else 0 for t, n, x in zip(subscripts, named, tensors, strict=True)
    )

    def letters(subscript: str, count: int) -> list[str]:
        before, dots, after = subscript.partition("...")
        return [*before, *(map(str, range(ellipsis_rank - count, ellipsis_rank)) if dots else ()), *after]

    terms = [letters(t, x.dim() - n) for t, n, x in zip(subscripts, named, tensors, strict=True)]
    if arrow:
        return terms, letters(right, ellipsis_rank)
    all_letters = [c for term in terms for c in term if c.isalpha()]
    return terms, [
        *map(str, range(ellipsis_rank)),
        *sorted(c for c in all_letters if all_letters.count(c) == 1),
    ]


def _along(x: Tensor, term: list[str], letters: list[str]) -> Tensor:
    """Permute the dimensions of `x`, labeled by `term`, to the order of `letters`.

    If a label occurs twice in `term`, take the diagonal of the two dimensions. For a label that is only in
    `letters`, add a dimension of size 1.
    """
    labels = list(term)
    for c in dict.fromkeys(term):
        while labels.count(c) > 1:
            first = labels.index(c)
            second = labels.index(c, first + 1)
            x = aten.diagonal(x, 0, first, second)
            order = [*range(first), x.dim() - 1, *range(first, x.dim() - 1)]
            x = aten.permute(x, order)
            del labels[second]
    missing = [c for c in letters if c not in labels]
    for _ in missing:
        x = aten.unsqueeze(x, x.dim())
    labels += missing
    return aten.permute(x, [labels.index(c) for c in letters])


def _summed_product(x: Tensor, y: Tensor, dims: list[int]) -> Tensor:
    """Multiply `x` and `y` and sum the products over `dims`, by `bmm`. The result has size 1 in `dims`."""
    if not dims:
        return aten.mul.Tensor(x, y)
    n = x.dim()
    is_one = [[bool(evaluate_guard(size == 1)) for size in operand.shape] for operand in (x, y)]
    remaining = [d for d in range(n) if d not in dims]
    batch = [d for d in remaining if not is_one[0][d] and not is_one[1][d]]
    left = [d for d in remaining if not is_one[0][d] and is_one[1][d]]
    right = [d for d in remaining if is_one[0][d]]

    def sizes(operand: Tensor, selected_dims: list[int]) -> Any:
        return math.prod(operand.shape[d] for d in selected_dims)

    count, rows, columns, depth = sizes(x, batch), sizes(x, left), sizes(y, right), sizes(x, dims)
    first = aten.reshape(aten.permute(x, [*batch, *left, *dims, *right]), [count, rows, depth])
    second = aten.reshape(aten.permute(y, [*batch, *dims, *right, *left]), [count, depth, columns])
    product = aten.bmm(first, second)
    shape = [x.shape[d] for d in batch + left] + [1] * len(dims) + [y.shape[d] for d in right]
    order = [*batch, *left, *dims, *right]
    return aten.permute(aten.reshape(product, shape), [order.index(d) for d in range(n)])
