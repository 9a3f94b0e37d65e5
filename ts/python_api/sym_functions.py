"""Arithmetic and checks on numbers and symbolic numbers.

Example with numbers:

    >>> sym_max(3, 4.5), sym_int(-3.7)
    (4.5, -3)

During an export, sizes are symbolic numbers (`ts.SymInt`). Their sum or product is symbolic, too.
A check becomes a constraint of the exported program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import ts
from ts._core.tensor.sym_types import SymBool, SymFloat, SymInt, SymNumber
from ts._core.tensor.tensor import Tensor

FAILED = "Expected cond to be True, but got False."


def _apply_symbolic(name: str, *arguments: Any) -> Any:
    """Apply the operation `name` symbolically if an argument is a symbolic number. Otherwise, return None."""
    for x in arguments:
        if isinstance(x, SymNumber):
            return x.node.operate(name, *arguments)
    return None


def sym_int(a: Any) -> Any:
    """Truncate `a` to an integer."""
    return a.node.operate("sym_int", a) if isinstance(a, SymNumber) else math.trunc(a)


def sym_float(a: Any) -> Any:
    """Convert `a` to a float."""
    return a.node.operate("sym_float", a) if isinstance(a, SymNumber) else float(a)


def sym_not(a: Any) -> Any:
    """Return the logical negation of `a`."""
    return a.node.operate("sym_not", a) if isinstance(a, SymBool) else not a


def sym_max(a: Any, b: Any) -> Any:
    """Return the maximum, as a float if either argument is a float."""
    symbolic = _apply_symbolic("sym_max", a, b)
    if symbolic is not None:
        return symbolic
    return type(a + b)(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a: Any, b: Any) -> Any:
    """Return the minimum, as a float if either argument is a float."""
    symbolic = _apply_symbolic("sym_min", a, b)
    if symbolic is not None:
        return symbolic
    return type(a + b)(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """Return `t` if `b` is true, otherwise `f`."""
    return b.node.operate("sym_ite", b, t, f) if isinstance(b, SymBool) else t if b else f


def sym_sqrt(a: Any) -> Any:
    """Return the square root of `a`."""
    return a.node.operate("sym_sqrt", a) if isinstance(a, SymInt | SymFloat) else math.sqrt(a)


def sym_sum(args: Iterable[Any]) -> Any:
    """Return the sum of `args`."""
    terms = list(args)
    symbolic = _apply_symbolic("sym_sum", *terms)
    return sum(terms) if symbolic is None else symbolic


def _check_with(error: type[Exception], cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise `error` if `cond` is false. A symbolic condition becomes a constraint."""
    if isinstance(cond, SymNumber):
        text = _message_string(message)
        if cond.node.has_hint() and not cond.node.hint:
            raise error(text or FAILED)
        cond.node.require(text)
        return
    if isinstance(cond, bool):
        if not cond:
            raise error(_message_string(message) or FAILED)
        return
    if isinstance(cond, Tensor):
        raise TypeError(
            "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to "
            "assert that all elements are true."
        )
    raise TypeError(f"cond must be a bool, but got {type(cond)}")


def _message_string(message: Callable[[], str] | None) -> str:
    if message is None:
        return ""
    if not callable(message):
        raise TypeError("message must be a callable")
    return str(message())


def _check(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise RuntimeError with `message()` if `cond` is false."""
    _check_with(RuntimeError, cond, message)


def _check_value(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise ValueError with `message()` if `cond` is false."""
    _check_with(ValueError, cond, message)


def _check_index(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise IndexError with `message()` if `cond` is false."""
    _check_with(IndexError, cond, message)


def _check_type(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise TypeError with `message()` if `cond` is false."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise NotImplementedError with `message()` if `cond` is false."""
    _check_with(NotImplementedError, cond, message)


def _check_tensor_all(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise RuntimeError with `message()` if any element of a bool tensor is False."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    _check(ts._is_all_true(cond).item(), message)  # type: ignore[attr-defined]


def _check_is_size(i: Any, message: Callable[[], str] | None = None, *, max: int | None = None) -> None:
    """Raise RuntimeError if `i` is negative or greater than `max`."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)
