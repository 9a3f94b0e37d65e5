"""Questions about sizes: every place where the length of a dimension decides something asks here.

In: sizes, which are ints, or objects with `+ - * //` and comparisons that stand for a number that is not
known yet (a symbol).  Out: the same, or the answer.

    product((2, n, 1))      2*n, a symbol where n is one
    equal(n, 3)             without it an operator refuses: a symbol that cannot prove it notes a condition
    decided(n == 3)         the answer is needed: likewise, but a symbol that follows from data raises
    known_equal(n, 3)       whether it is certain: never raises, never guards
    known_one(n)            lengths of 1 are broadcast and lie anyhow: only where n is certain to be 1

A symbol is told from a number by `is_symbol`.  It may offer `known_equal(other) -> bool`; one that does not
is known to equal only itself.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

from ts._core.tensor.sym_types import SymNumber

SizeLike = Any  # int, or a symbol
Shape = tuple[Any, ...]


def is_symbol(n: SizeLike) -> bool:
    """Whether the size is no number yet."""
    return type(n) is not int and (isinstance(n, SymNumber) or not hasattr(n, "__index__"))


def shape(lengths: Iterable[SizeLike]) -> Shape:
    """The lengths as a tuple: what counts as an int becomes one, symbols stay."""
    return tuple(n if type(n) is int or is_symbol(n) else operator.index(n) for n in lengths)


def equal(a: SizeLike, b: SizeLike) -> bool:
    """Whether two sizes are equal, without which an operator refuses them (`check`)."""
    if type(a) is type(b) is int:
        return a == b
    return known_equal(a, b) or check(a == b)


def check(condition: Any) -> bool:
    """The truth of a condition without which an operator refuses.

    One on numbers that follow from data is taken for true: it is looked at when the program runs.
    """
    return bool(condition.node.decide_or_require()) if isinstance(condition, SymNumber) else bool(condition)


def check_length(n: SizeLike) -> None:
    """Let a number that follows from data be the length of a dimension."""
    if isinstance(n, SymNumber) and not hinted(n):
        n.node.require_length()


def evaluate_guard(condition: Any) -> bool:
    """The truth of a condition on sizes, for which a condition of the program may be noted."""
    return condition.settled() if isinstance(condition, SymNumber) else bool(condition)


def known_equal(a: SizeLike, b: SizeLike) -> bool:
    """Whether two sizes are certain to be equal."""
    if type(a) is type(b) is int:
        return a == b
    if a is b:
        return True
    if is_symbol(a):
        asked = getattr(a, "known_equal", None)
        return bool(asked is not None and asked(b))
    return known_equal(b, a) if is_symbol(b) else bool(a == b)


def known_one(n: SizeLike) -> bool:
    """Whether a length is certain to be 1: such a dimension is broadcast, and its stride says nothing."""
    return known_equal(n, 1)


def known_zero(n: SizeLike) -> bool:
    """Whether a length is certain to be 0."""
    return known_equal(n, 0)


def known_empty(lengths: Sequence[SizeLike]) -> bool:
    """Whether an array of these lengths is certain to have no elements."""
    return any(n == 0 if type(n) is int else known_zero(n) for n in lengths)


def same(a: Sequence[SizeLike], b: Sequence[SizeLike]) -> bool:
    """Whether two shapes are equal, without which an operator refuses them."""
    return len(a) == len(b) and all(map(equal, a, b))


def product(lengths: Iterable[SizeLike]) -> SizeLike:
    """How many elements there are; a shape with a 0 has none, whatever the other lengths are."""
    total: SizeLike = 1
    for n in lengths:
        if known_zero(n):
            return 0
        total = n if known_one(total) else total if known_one(n) else total * n
    return total


def certain(*conditions: Any) -> bool:
    """Whether all conditions on sizes are certain to hold."""
    return all(c.node.is_known(True) if isinstance(c, SymNumber) else c for c in conditions)


def hinted(n: SizeLike | None) -> bool:
    """Whether a size is a number, or a symbol whose number is known in the example: not from elements."""
    return not isinstance(n, SymNumber) or bool(n.node.has_hint())


def within(place: SizeLike, n: SizeLike) -> bool:
    """Whether a dimension of length n has such a place, which has to be answered unless elements tell it."""
    if not is_symbol(place) and not is_symbol(n):
        return bool(-n <= place < n)
    return not (hinted(place) and hinted(n)) or (evaluate_guard(place < n) and evaluate_guard(place >= -n))


def require(condition: Any) -> None:
    """Let a condition on sizes hold: it is looked at when the program runs."""
    if isinstance(condition, SymNumber):
        condition.node.require("")
    elif not condition:
        raise RuntimeError("a condition on sizes does not hold")


def require_noted(condition: Any) -> None:
    """Require a data-dependent condition, and assert it at run time even if it is known to hold."""
    if isinstance(condition, SymNumber):
        condition.node.note_required()


def smaller(a: SizeLike, b: SizeLike) -> SizeLike:
    """The smaller of two sizes."""
    return a if known_equal(a, b) or evaluate_guard(a <= b) else b


def larger(a: SizeLike, b: SizeLike) -> SizeLike:
    """The larger of two sizes."""
    return a if known_equal(a, b) or evaluate_guard(b <= a) else b


def least(a: SizeLike, b: SizeLike) -> SizeLike:
    """The smaller of two sizes: of symbols their minimum, which decides nothing."""
    for x in (a, b):
        if isinstance(x, SymNumber) and not known_equal(a, b):
            return x.node.operate("sym_min", a, b)
    return smaller(a, b)


def parts(n: SizeLike, step: SizeLike) -> SizeLike:
    """How many steps it takes to go through n: n / step, rounded up."""
    return n if known_one(step) else -(-n // step)


def broadcast(*shapes: Sequence[SizeLike]) -> Shape:
    """The shape that arrays of these shapes have together; ValueError where they do not fit."""
    rank = max(map(len, shapes), default=0)
    result: list[SizeLike] = [1] * rank
    for lengths in shapes:
        for d, n in enumerate(lengths, rank - len(lengths)):
            if known_one(result[d]):
                result[d] = n
            elif known_one(n) or equal(n, result[d]):
                continue
            elif evaluate_guard(result[d] == 1):  # computed from a size: one in the example
                result[d] = n
            elif not evaluate_guard(n == 1):
                raise ValueError(
                    f"shape mismatch: objects cannot be broadcast to a single shape: "
                    f"{' and '.join(str(tuple(s)) for s in shapes)}"
                )
    return tuple(result)


def dense(lengths: Sequence[SizeLike], step: SizeLike) -> Shape:
    """Strides of elements in the order in which they are written down, `step` between neighbours."""
    steps: list[SizeLike] = []
    for n in reversed(lengths):
        steps.append(step)
        if not known_one(n) and not known_zero(n):
            step = step * n
    return tuple(reversed(steps))


def in_order(lengths: Sequence[SizeLike], steps: Sequence[SizeLike], step: SizeLike) -> bool:
    """Whether elements are certain to lie in the order in which they are written down, without gaps."""
    if known_empty(lengths):
        return True
    for n, given in zip(reversed(lengths), reversed(steps), strict=True):
        if n != 1 if type(n) is int else not known_one(n):
            if not known_equal(given, step):
                return False
            step = step * n
    return True
