"""Queries on symbolic sizes, for all code that depends on the size of a dimension.

A size is an int or a symbol. A symbol is an object with `+ - * //` and comparisons that stands for an unknown
number. Queries on a symbol `n` and their results are:

    product((2, n, 1))        2*n
    equal(n, 3)               n == 3, for preconditions of operators. Adds a guard if it is not provable.
    evaluate_guard(n == 3)    n == 3, for branches. Adds a guard, or raises for a data-dependent symbol.
    is_provably_equal(n, 3)   True if n == 3 is provable. It neither raises nor adds a guard.
    known_one(n)              True if n == 1 is provable, so that the dimension broadcasts

A symbol may define `is_provably_equal(other) -> bool`. Without this method, a symbol is provably equal only
to itself.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

from ts._core.tensor.sym_types import SymNumber

SizeLike = Any  # int, or a symbolic size
Shape = tuple[Any, ...]


def is_symbol(n: SizeLike) -> bool:
    """Return whether `n` is a symbol, not a number."""
    return type(n) is not int and (isinstance(n, SymNumber) or not hasattr(n, "__index__"))


def shape(lengths: Iterable[SizeLike]) -> Shape:
    """Return the sizes as a tuple. Index-like objects are converted to int, and symbols are kept."""
    return tuple(n if type(n) is int or is_symbol(n) else operator.index(n) for n in lengths)


def equal(a: SizeLike, b: SizeLike) -> bool:
    """Return whether two sizes are equal, as a precondition of an operator (see `check`)."""
    if type(a) is type(b) is int:
        return a == b
    return is_provably_equal(a, b) or check(a == b)


def check(condition: Any) -> bool:
    """Return the value of an operator's precondition. If the value is not provable, add a guard.

    A precondition that depends on data counts as true, and the exported program asserts it.
    """
    return bool(condition.node.decide_or_require()) if isinstance(condition, SymNumber) else bool(condition)


def check_length(n: SizeLike) -> None:
    """Make the exported program assert that a data-dependent number is a valid size of a dimension."""
    if isinstance(n, SymNumber) and not hinted(n):
        n.node.require_length()


def evaluate_guard(condition: Any) -> bool:
    """Return the value of a condition for control flow. If the value is not provable, add it as a guard."""
    return condition.settled() if isinstance(condition, SymNumber) else bool(condition)


def is_provably_equal(a: SizeLike, b: SizeLike) -> bool:
    """Return whether two sizes are provably equal, without adding a guard."""
    if type(a) is type(b) is int:
        return a == b
    if a is b:
        return True
    if is_symbol(a):
        compare = getattr(a, "is_provably_equal", None)
        return bool(compare is not None and compare(b))
    return is_provably_equal(b, a) if is_symbol(b) else bool(a == b)


def known_one(n: SizeLike) -> bool:
    """Return whether a size is provably 1.

    A dimension with this size broadcasts, and its stride is irrelevant.
    """
    return is_provably_equal(n, 1)


def known_zero(n: SizeLike) -> bool:
    """Return whether a size is provably 0."""
    return is_provably_equal(n, 0)


def known_empty(lengths: Sequence[SizeLike]) -> bool:
    """Return whether an array of this shape is provably empty."""
    return any(n == 0 if type(n) is int else known_zero(n) for n in lengths)


def equal_shapes(a: Sequence[SizeLike], b: Sequence[SizeLike]) -> bool:
    """Return whether two shapes are equal, as a precondition of an operator."""
    return len(a) == len(b) and all(map(equal, a, b))


def product(lengths: Iterable[SizeLike]) -> SizeLike:
    """Return the product of sizes.

    If one size is provably 0, the product is 0, even if other sizes are symbolic.
    """
    total: SizeLike = 1
    for n in lengths:
        if known_zero(n):
            return 0
        total = n if known_one(total) else total if known_one(n) else total * n
    return total


def certain(*conditions: Any) -> bool:
    """Return whether all conditions on sizes are provably true."""
    return all(c.node.is_provable(True) if isinstance(c, SymNumber) else c for c in conditions)


def hinted(n: SizeLike | None) -> bool:
    """Return whether a size is a number, or a symbol with an example value (not data-dependent)."""
    return not isinstance(n, SymNumber) or bool(n.node.has_hint())


def within(index: SizeLike, n: SizeLike) -> bool:
    """Return whether -n <= index < n. Symbols add guards. Numbers that depend on data count as in range."""
    if not is_symbol(index) and not is_symbol(n):
        return bool(-n <= index < n)
    return not (hinted(index) and hinted(n)) or (evaluate_guard(index < n) and evaluate_guard(index >= -n))


def require(condition: Any) -> None:
    """Raise RuntimeError if a condition on sizes is false.

    If it is symbolic, the exported program asserts it.
    """
    if isinstance(condition, SymNumber):
        condition.node.require("")
    elif not condition:
        raise RuntimeError("a condition on sizes does not hold")


def require_noted(condition: Any) -> None:
    """Make the exported program assert a condition that depends on data.

    It is asserted even if it is provable.
    """
    if isinstance(condition, SymNumber):
        condition.node.note_required()


def smaller(a: SizeLike, b: SizeLike) -> SizeLike:
    """Return the smaller of two sizes."""
    return a if is_provably_equal(a, b) or evaluate_guard(a <= b) else b


def larger(a: SizeLike, b: SizeLike) -> SizeLike:
    """Return the larger of two sizes."""
    return a if is_provably_equal(a, b) or evaluate_guard(b <= a) else b


def minimum(a: SizeLike, b: SizeLike) -> SizeLike:
    """Return the smaller of two sizes. For symbols, return a symbolic minimum without a guard."""
    for x in (a, b):
        if isinstance(x, SymNumber) and not is_provably_equal(a, b):
            return x.node.operate("sym_min", a, b)
    return smaller(a, b)


def ceil_div(n: SizeLike, step: SizeLike) -> SizeLike:
    """Return n / step, rounded up."""
    return n if known_one(step) else (n + (step - 1)) // step


def broadcast(*shapes: Sequence[SizeLike]) -> Shape:
    """Return the broadcast shape, or raise ValueError for incompatible shapes."""
    rank = max(map(len, shapes), default=0)
    result: list[SizeLike] = [1] * rank
    for lengths in shapes:
        for d, n in enumerate(lengths, rank - len(lengths)):
            if known_one(result[d]):
                result[d] = n
            elif known_one(n) or equal(n, result[d]):
                continue
            elif evaluate_guard(result[d] == 1):  # a symbolic size, for which this adds a guard
                result[d] = n
            elif not evaluate_guard(n == 1):
                raise ValueError(
                    f"shape mismatch: objects cannot be broadcast to a single shape: "
                    f"{' and '.join(str(tuple(s)) for s in shapes)}"
                )
    return tuple(result)


def dense(lengths: Sequence[SizeLike], step: SizeLike) -> Shape:
    """Return row-major strides without gaps, with `step` as the innermost stride."""
    steps: list[SizeLike] = []
    for n in reversed(lengths):
        steps.append(step)
        if not known_one(n) and not known_zero(n):
            step = step * n
    return tuple(reversed(steps))


def is_row_major(lengths: Sequence[SizeLike], steps: Sequence[SizeLike], step: SizeLike) -> bool:
    """Return whether the strides are provably row-major without gaps, with innermost stride `step`."""
    if known_empty(lengths):
        return True
    for n, stride in zip(reversed(lengths), reversed(steps), strict=True):
        if n != 1 if type(n) is int else not known_one(n):
            if not is_provably_equal(stride, step):
                return False
            step = step * n
    return True
