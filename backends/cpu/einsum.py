"""Einsum by pairwise tensor contraction: permutations and one batched matrix product for each pair.

Input: an equation, and arrays of one dtype. Output: the result of the equation.

The contraction plan is cached for each equation and combination of shapes. The table shows the products of
some equations, with merged dimensions in parentheses:

    bhnd,bhnde->bhne      (b h n) 1 d  @  (b h n) d e
    ijbn,jbnd->ibnd       (b n) i j    @  (b n) j d      then i becomes the first dimension
    bnd,ds->bnds          no sum: one elementwise product

`opt_einsum` chooses the contraction order if it is installed. Otherwise, NumPy chooses the order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

Shape = tuple[int, ...]
_MAX_CACHED_PLANS = 512


class ContractionOperand(NamedTuple):
    """Conversion of an operand to a batch of matrices: dimensions to sum, permutation, shape."""

    sums: Shape
    order: Shape | None
    shape: Shape
    # True if the columns precede the rows in `shape`. The last two dimensions are then swapped.
    turned: bool

    def __call__(self, x: Array) -> Array:
        """Return the operand as a batch of matrices."""
        if self.sums:
            x = x.sum(self.sums, dtype=x.dtype)
        if self.order is not None:
            x = x.transpose(self.order)
        x = x.reshape(self.shape)
        return x.swapaxes(-1, -2) if self.turned else x


class Contraction(NamedTuple):
    """Contraction of two operands, which have the indices `positions` in the list of remaining operands."""

    positions: tuple[int, int]
    first: ContractionOperand
    second: ContractionOperand
    summed: bool
    shape: Shape


class ContractionPath(NamedTuple):
    """Contractions in the order of execution, and the final permutation."""

    pairs: tuple[Contraction, ...]
    order: Shape | None


def kernel(record: Any) -> Callable[..., Array]:
    """Return the CPU kernel of `einsum`.

    For each new combination of shapes, the operator's Python kernel checks the arguments.
    """
    general: Callable[..., Array] = record.kernel
    paths: dict[tuple[str, tuple[Shape, ...]], ContractionPath | None] = {}

    def einsum_with_path(
        xp: Any, equation: str, tensors: Sequence[Array], path: Sequence[int] | None = None
    ) -> Array:
        key = (equation, tuple([x.shape for x in tensors]))
        cached = paths.get(key)
        dtype = tensors[0].dtype
        if cached is None or dtype.kind == "b" or any(x.dtype != dtype for x in tensors):
            output = general(xp, equation, tensors, path)
            if key not in paths:
                if len(paths) >= _MAX_CACHED_PLANS:
                    paths.clear()
                paths[key] = find_contraction_path(equation.replace(" ", ""), key[1])
            return output
        if dtype.kind in "iu" or dtype.itemsize > 2:
            return execute_path(cached, xp.products, list(tensors))
        result = execute_path(cached, xp.products, [x.astype(np.float32) for x in tensors])
        return result.astype(dtype)

    return einsum_with_path


def einsum(products: Callable[[Array, Array], Array], equation: str, operands: Sequence[Array]) -> Array:
    """Return the einsum of operands of one dtype. The function `products` multiplies batches of matrices."""
    path = find_contraction_path(equation, tuple([x.shape for x in operands]))
    if path is not None:
        return execute_path(path, products, list(operands))
    result: Array = np.asarray(np.einsum(equation, *operands, optimize=len(operands) > 2))
    return result


def execute_path(
    path: ContractionPath, products: Callable[[Array, Array], Array], left: list[Array]
) -> Array:
    """Contract the operands in the list `left` in the order of `path`, and return the result.

    Each contraction replaces two operands in `left` by their contraction.
    """
    for pair in path.pairs:
        i, j = pair.positions
        a, b = pair.first(left[i]), pair.second(left[j])
        del left[max(i, j)], left[min(i, j)]
        left.append((products(a, b) if pair.summed else np.multiply(a, b)).reshape(pair.shape))
    return left[0] if path.order is None else np.ascontiguousarray(left[0].transpose(path.order))


@functools.lru_cache(_MAX_CACHED_PLANS)
def find_contraction_path(equation: str, shapes: tuple[Shape, ...]) -> ContractionPath | None:
    """Return the contractions for operands of the given shapes, or None if NumPy must compute the einsum."""
    if len(shapes) < 2:
        return None
    inputs, output = _parse_subscripts(equation, shapes)
    if any(len(set(letters)) < len(letters) for letters in inputs) or 0 in map(math.prod, shapes):
        return None
    sizes = {letter: 1 for letters in inputs for letter in letters}
    for letters, shape in zip(inputs, shapes, strict=True):
        for letter, n in zip(letters, shape, strict=True):
            sizes[letter] = max(sizes[letter], n)
    left = [(letters, shape) for letters, shape in zip(inputs, shapes, strict=True)]
    pairs = []
    for positions in _contraction_order(inputs, output, sizes):
        i, j = sorted(positions)
        second, first = left.pop(j), left.pop(i)
        needed = {*output, *(letter for letters, _ in left for letter in letters)}
        pair, result = _contract_pair((i, j), first, second, needed, sizes, output if not left else "")
        pairs.append(pair)
        left.append((result, pair.shape))
    letters = left[0][0]
    order = tuple(letters.index(letter) for letter in output)
    return ContractionPath(tuple(pairs), None if order == tuple(range(len(order))) else order)


def _parse_subscripts(equation: str, shapes: Sequence[Shape]) -> tuple[list[str], str]:
    """Return the subscripts of each operand and of the result, with one letter per dimension.

    Each ellipsis is replaced by letters for the dimensions that it stands for.
    """
    operands_text, arrow, output = equation.partition("->")
    dots, inputs = 0, []
    for letters, shape in zip(operands_text.split(","), shapes, strict=True):
        if "..." in letters:
            n = len(shape) - len(letters) + 3
            dots = max(dots, n)
            letters = letters.replace("...", _DOTS[len(_DOTS) - n :])
        inputs.append(letters)
    dotted = _DOTS[len(_DOTS) - dots :]
    if arrow:
        return inputs, output.replace("...", dotted)
    every = "".join(inputs)
    return inputs, dotted + "".join(sorted(c for c in set(every) if every.count(c) == 1 and c not in _DOTS))


_DOTS = "".join(map(chr, range(0x3B1, 0x3B1 + 64)))


def _contraction_order(inputs: list[str], output: str, sizes: dict[str, int]) -> list[tuple[int, int]]:
    """Return the pairs of operand indices to contract.

    The result of each contraction is appended to the list of operands.
    """
    if len(inputs) == 2:
        return [(0, 1)]
    order_of_pairs: list[tuple[int, int]] = []
    left = len(inputs)
    for positions in _contraction_path(inputs, output, sizes):
        last = sorted(positions)
        while len(last) > 1:
            i, j = last[0], last[1]
            order_of_pairs.append((i, j))
            left -= 1
            last = [k - (k > i) - (k > j) for k in last[2:]] + [left - 1]
    return order_of_pairs


def _contraction_path(inputs: list[str], output: str, sizes: dict[str, int]) -> Sequence[Sequence[int]]:
    """Return the einsum contraction path of opt_einsum or NumPy, a list of pairs of operand indices.

    The result of each contraction is appended to the operands.
    """
    shapes = [[sizes[c] for c in letters] for letters in inputs]
    try:
        from opt_einsum import contract_path  # an optional package, needed only for three or more operands
    except ImportError:
        letter_indices = {letter: k for k, letter in enumerate(sizes)}
        lists: list[Any] = []
        for letters, shape in zip(inputs, shapes, strict=True):
            lists += [np.broadcast_to(0.0, shape), [letter_indices[c] for c in letters]]
        lists.append([letter_indices[c] for c in output])
        numpys: Sequence[Sequence[int]] = np.einsum_path(*lists, optimize="greedy")[0][1:]
        return numpys
    equation = f"{','.join(inputs)}->{output}"
    path: Sequence[Sequence[int]] = contract_path(equation, *shapes, shapes=True)[0]
    return path


Operand = tuple[str, Shape]


def _contract_pair(
    positions: tuple[int, int], a: Operand, b: Operand, needed: set[str], sizes: dict[str, int], output: str
) -> tuple[Contraction, str]:
    """Return the contraction of two operands, and the subscripts of its result."""
    # Ignore a dimension of size 1 if the other operand has another size there (broadcasting).
    first, second = ([c for c, n in zip(*x, strict=True) if n == sizes[c]] for x in (a, b))
    batch = [c for c in first if c in second and c in needed]
    inner = [c for c in first if c in second and c not in needed]
    rows = [c for c in first if c not in second and c in needed]
    columns = [c for c in second if c not in first and c in needed]
    # If the result has the columns before the rows, exchange the operands, so that the matrix product needs
    # no permutation.
    if output and output == "".join([*batch, *columns, *rows]):
        positions, a, b, rows, columns = (positions[1], positions[0]), b, a, columns, rows
    if inner:
        sides = (
            _matrices(a, batch, rows, inner, sizes, True),
            _matrices(b, batch, columns, inner, sizes, False),
        )
    else:
        one = (1,) * len(columns)
        sides = (
            _elements(a, [*batch, *rows], (*_lengths(batch, sizes), *_lengths(rows, sizes), *one)),
            _elements(
                b, [*batch, *columns], (*_lengths(batch, sizes), *(1,) * len(rows), *_lengths(columns, sizes))
            ),
        )
    letters = [*batch, *rows, *columns]
    return Contraction(positions, *sides, bool(inner), _lengths(letters, sizes)), "".join(letters)


def _lengths(letters: Sequence[str], sizes: dict[str, int]) -> Shape:
    return tuple(sizes[c] for c in letters)


def _matrices(
    x: Operand, batch: list[str], own: list[str], inner: list[str], sizes: dict[str, int], left: bool
) -> ContractionOperand:
    """Return the conversion of an operand to a batch of matrices.

    The subscripts `own` form one dimension of each matrix. The summed subscripts `inner` form the other. The
    dimension whose subscripts come first in the operand becomes the first.
    """
    letters = x[0]
    inner_first = bool(own) and letters.index(inner[0]) < letters.index(own[0])
    groups = (inner, own) if inner_first else (own, inner)
    lengths = [math.prod(_lengths(group, sizes)) for group in ((batch,) if batch else ()) + groups]
    return _elements(x, [*batch, *groups[0], *groups[1]], tuple(lengths), inner_first == left)


def _elements(x: Operand, needed: list[str], shape: Shape, turned: bool = False) -> ContractionOperand:
    """Return the conversion of operand `x` to an array whose dimensions are the subscripts `needed`.

    Each other dimension of `x` is removed: it is summed if its size is not 1.
    """
    letters, lengths = x
    sums = tuple(d for d, c in enumerate(letters) if c not in needed and lengths[d] != 1)
    left = [c for d, c in enumerate(letters) if d not in sums]
    order = tuple(left.index(c) for c in [*needed, *(c for c in left if c not in needed)])
    return ContractionOperand(sums, None if order == tuple(range(len(order))) else order, shape, turned)
