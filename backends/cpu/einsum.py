"""Sums of products by an equation: permutations and one stacked product for each pair of operands.

In: an equation, and arrays of one dtype; out: the sum.  What there is to do depends on the equation and the
shapes alone, and is kept for them, once the record's kernel has found nothing wrong with them:

    bhnd,bhnde->bhne      (b h n) 1 d  @  (b h n) d e
    ijbn,jbnd->ibnd       (b n) i j    @  (b n) j d      then i in front
    bnd,ds->bnds          no sum: one product by elements

Several operands meet in the order that `opt_einsum` finds for them where it is installed, else in NumPy's.
One operand, and letters that are repeated in one, are NumPy's business.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Shape = tuple[int, ...]
_KEPT = 512  # plans


@dataclass(frozen=True, slots=True)
class Side:
    """A factor as a stack of matrices: sums of what nobody else has, the order of dimensions, the shape."""

    sums: Shape
    order: Shape | None
    shape: Shape
    turned: bool  # columns before rows

    def __call__(self, x: Array) -> Array:
        """The factor of an operand."""
        if self.sums:
            x = x.sum(self.sums, dtype=x.dtype)
        if self.order is not None:
            x = x.transpose(self.order)
        x = x.reshape(self.shape)
        return x.swapaxes(-1, -2) if self.turned else x


@dataclass(frozen=True, slots=True)
class Pair:
    """Two operands, by their places among those that are left, and the shape of what they give."""

    places: tuple[int, int]
    first: Side
    second: Side
    summed: bool
    shape: Shape


@dataclass(frozen=True, slots=True)
class Plan:
    """Pairs, one after the other, and the order of dimensions of what is left."""

    pairs: tuple[Pair, ...]
    order: Shape | None


def kernel(record: Any) -> Callable[..., Array]:
    """The kernel of `einsum`: around the record's own, which says what does not fit of new operands."""
    general: Callable[..., Array] = record.kernel
    fitting: dict[tuple[str, tuple[Shape, ...]], Plan | None] = {}

    def summed(xp: Any, equation: str, tensors: Sequence[Array], path: Sequence[int] | None = None) -> Array:
        key = (equation, tuple([x.shape for x in tensors]))
        plan = fitting.get(key)
        if plan is None or any(x.dtype != tensors[0].dtype for x in tensors):
            made = general(xp, equation, tensors, path)
            if len(fitting) >= _KEPT:
                fitting.clear()
            fitting[key] = planned(equation.replace(" ", ""), key[1])
            return made
        dtype = tensors[0].dtype
        if dtype.kind in "iub" or dtype.itemsize > 2:
            return carried_out(plan, xp.products, list(tensors))
        found = carried_out(plan, xp.products, [x.astype(np.float32) for x in tensors])
        return found.astype(dtype)

    return summed


def einsum(products: Callable[[Array, Array], Array], text: str, operands: Sequence[Array]) -> Array:
    """The sum of operands of one dtype, that fit; `products` multiplies stacks of matrices."""
    plan = planned(text, tuple([x.shape for x in operands]))
    if plan is not None:
        return carried_out(plan, products, list(operands))
    made: Array = np.asarray(np.einsum(text, *operands, optimize=len(operands) > 2))
    return made


def carried_out(plan: Plan, products: Callable[[Array, Array], Array], left: list[Array]) -> Array:
    """The sum for the operands, which are used up."""
    for pair in plan.pairs:
        i, j = pair.places
        a, b = pair.first(left[i]), pair.second(left[j])
        del left[max(i, j)], left[min(i, j)]
        left.append((products(a, b) if pair.summed else np.multiply(a, b)).reshape(pair.shape))
    return left[0] if plan.order is None else np.ascontiguousarray(left[0].transpose(plan.order))


@functools.lru_cache(_KEPT)
def planned(text: str, shapes: tuple[Shape, ...]) -> Plan | None:
    """What to do for operands of these shapes; None where NumPy does it."""
    if len(shapes) < 2:
        return None
    inputs, output = _letters(text, shapes)
    if any(len(set(letters)) < len(letters) for letters in inputs) or 0 in map(math.prod, shapes):
        return None
    sizes = {letter: 1 for letters in inputs for letter in letters}
    for letters, shape in zip(inputs, shapes, strict=True):
        for letter, n in zip(letters, shape, strict=True):
            sizes[letter] = max(sizes[letter], n)
    left = [(letters, shape) for letters, shape in zip(inputs, shapes, strict=True)]
    pairs = []
    for places in _order(inputs, output, sizes):
        i, j = sorted(places)
        second, first = left.pop(j), left.pop(i)
        wanted = {*output, *(letter for letters, _ in left for letter in letters)}
        pair, result = _paired((i, j), first, second, wanted, sizes, output if not left else "")
        pairs.append(pair)
        left.append((result, pair.shape))
    letters = left[0][0]
    order = tuple(letters.index(letter) for letter in output)
    return Plan(tuple(pairs), None if order == tuple(range(len(order))) else order)


def _letters(text: str, shapes: Sequence[Shape]) -> tuple[list[str], str]:
    """The letters of each operand and of the result; dots become letters, counted from the last."""
    given, arrow, output = text.partition("->")
    dots, inputs = 0, []
    for letters, shape in zip(given.split(","), shapes, strict=True):
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


def _order(inputs: list[str], output: str, sizes: dict[str, int]) -> list[tuple[int, int]]:
    """Which operands meet: two places at a time, the result comes last."""
    if len(inputs) == 2:
        return [(0, 1)]
    found: list[tuple[int, int]] = []
    left = len(inputs)
    for places in _path(inputs, output, sizes):
        last = sorted(places)
        while len(last) > 1:
            i, j = last[0], last[1]
            found.append((i, j))
            left -= 1
            last = [k - (k > i) - (k > j) for k in last[2:]] + [left - 1]
    return found


def _path(inputs: list[str], output: str, sizes: dict[str, int]) -> Sequence[Sequence[int]]:
    """Places of those that meet, and are replaced by what they give at the end."""
    shapes = [[sizes[c] for c in letters] for letters in inputs]
    try:
        from opt_einsum import contract_path  # here: only where three operands meet; and it may be missing
    except ImportError:
        numbers = {letter: k for k, letter in enumerate(sizes)}
        lists: list[Any] = []
        for letters, shape in zip(inputs, shapes, strict=True):
            lists += [np.broadcast_to(0.0, shape), [numbers[c] for c in letters]]
        lists.append([numbers[c] for c in output])
        numpys: Sequence[Sequence[int]] = np.einsum_path(*lists, optimize="greedy")[0][1:]
        return numpys
    text = f"{','.join(inputs)}->{output}"
    path: Sequence[Sequence[int]] = contract_path(text, *shapes, shapes=True)[0]
    return path


Operand = tuple[str, Shape]


def _paired(
    places: tuple[int, int], a: Operand, b: Operand, wanted: set[str], sizes: dict[str, int], output: str
) -> tuple[Pair, str]:
    """Two operands, and the letters of what they give."""
    # A letter of length 1 that is longer elsewhere is as good as none.
    first, second = ([c for c, n in zip(*x, strict=True) if n == sizes[c]] for x in (a, b))
    batch = [c for c in first if c in second and c in wanted]
    inner = [c for c in first if c in second and c not in wanted]
    rows = [c for c in first if c not in second and c in wanted]
    columns = [c for c in second if c not in first and c in wanted]
    if output and output == "".join([*batch, *columns, *rows]):  # then nothing is left to permute
        places, a, b, rows, columns = (places[1], places[0]), b, a, columns, rows
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
    return Pair(places, *sides, bool(inner), _lengths(letters, sizes)), "".join(letters)


def _lengths(letters: Sequence[str], sizes: dict[str, int]) -> Shape:
    return tuple(sizes[c] for c in letters)


def _matrices(
    x: Operand, batch: list[str], own: list[str], inner: list[str], sizes: dict[str, int], left: bool
) -> Side:
    """A factor of a product: its own letters and those that are summed, as they lie if that is possible."""
    letters = x[0]
    inner_first = bool(own) and letters.index(inner[0]) < letters.index(own[0])
    groups = (inner, own) if inner_first else (own, inner)
    lengths = [math.prod(_lengths(group, sizes)) for group in ((batch,) if batch else ()) + groups]
    return _elements(x, [*batch, *groups[0], *groups[1]], tuple(lengths), inner_first == left)


def _elements(x: Operand, wanted: list[str], shape: Shape, turned: bool = False) -> Side:
    """An operand with the wanted letters in this order; others are summed, but of length 1 only left out."""
    letters, lengths = x
    sums = tuple(d for d, c in enumerate(letters) if c not in wanted and lengths[d] != 1)
    left = [c for d, c in enumerate(letters) if d not in sums]
    order = tuple(left.index(c) for c in [*wanted, *(c for c in left if c not in wanted)])
    return Side(sums, None if order == tuple(range(len(order))) else order, shape, turned)
