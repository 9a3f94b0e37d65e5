"""Queries on symbolic numbers of an export: `torch.fx.experimental.symbolic_shapes`.

A condition that depends on tensor elements is data-dependent, and has no value for the example inputs of the
export. Each line shows a query and its result:

    guard_or_false(n == 1)           value for the example inputs, with a guard, or False if data-dependent
    statically_known_true(n >= 2)    True if provable, without a guard
    sym_and(a, b), sym_eq(s, t)      conjunction of conditions, equality of shapes
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from ts._core.tensor.sym_types import SymBool, SymFloat, SymInt, SymNumber
from ts._core.tensor.tensor import Tensor
from ts.errors import GuardOnDataDependentSymNode
from ts.unsupported import names_for

__all__ = [
    "CallMethodKey", "GuardOnDataDependentSymNode", "constrain_range", "constrain_unify", "expect_true",
    "free_symbols",
    "free_unbacked_symbols", "guard_bool", "guard_float", "guard_int", "guard_or_false", "guard_or_true",
    "guard_scalar", "guard_size_oblivious", "guarding_hint_or_throw", "has_free_symbols",
    "has_free_unbacked_symbols", "has_static_value", "has_symbolic_sizes_strides", "is_concrete_bool",
    "is_concrete_float", "is_concrete_int", "is_nested_int", "is_symbolic", "optimization_hint",
    "statically_known_false", "statically_known_true", "sym_and", "sym_eq", "sym_or",
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class CallMethodKey:
    """Call of a method without arguments, as a step of a path from a node's result to the value of a symbol.

    `meta["unbacked_bindings"]` of a node contains such paths.
    """

    name: str

    def __str__(self) -> str:
        return f".{self.name}()"

    def get(self, o: Any) -> Any:
        """Return the result of the method, called on `o`."""
        return getattr(o, self.name)()


def _truth_or(a: Any, otherwise: bool) -> bool:
    if not isinstance(a, SymNumber):
        if isinstance(a, bool):
            return a
        raise AssertionError(f"expected a bool, got {type(a)}")
    return bool(a) if a.node.is_decided() or a.node.has_hint() else otherwise


def guard_or_false(a: Any) -> bool:
    """Return the value of condition `a` for the example inputs, and add a guard that it keeps this value.

    If the condition is data-dependent, return False without a guard.
    """
    return _truth_or(a, False)


def guard_or_true(a: Any) -> bool:
    """Return the value of condition `a` for the example inputs, and add a guard that it keeps this value.

    If the condition is data-dependent, return True without a guard.
    """
    return _truth_or(a, True)


def guard_bool(a: Any) -> bool:
    """Return the condition's value for the example inputs and add a guard that it keeps this value."""
    return bool(a)


guard_size_oblivious = guard_bool


def guard_int(a: Any) -> int:
    """Return the example value of a symbolic int and add a guard that the int has this value."""
    return int(a) if isinstance(a, SymInt) else operator.index(a)


def guard_float(a: Any) -> float:
    """Return the example value of a symbolic float and add a guard that the float has this value."""
    return float(a)


def guard_scalar(a: Any) -> Any:
    """Return the example value of a symbolic number and add a guard that it has this value."""
    if isinstance(a, bool | SymBool):
        return bool(a)
    if isinstance(a, int | SymInt):
        return guard_int(a)
    if isinstance(a, float | SymFloat):
        return guard_float(a)
    raise AssertionError(f"unrecognized scalar {a}")


def expect_true(a: Any, skip: int = 0) -> bool:
    """Require that condition `a` is true, and return its value.

    Add a guard, or a check at run time if the condition is data-dependent.
    """
    if isinstance(a, SymBool):
        a.node.require("")
        return True
    return bool(a)


def statically_known_true(x: Any) -> bool:
    """Return True if the condition is known to be true for all sizes."""
    return x.node.is_provable(True) if isinstance(x, SymBool) else bool(x)


def statically_known_false(x: Any) -> bool:
    """Return True if the condition is known to be false for all sizes."""
    return x.node.is_provable(False) if isinstance(x, SymBool) else not x


def sym_and(x: Any, *others: Any) -> Any:
    """Return the conjunction (and) of conditions."""
    return functools.reduce(operator.and_, others, x)


def sym_or(x: Any, *others: Any) -> Any:
    """Return the disjunction (or) of conditions."""
    return functools.reduce(operator.or_, others, x)


def sym_eq(x: Any, y: Any) -> Any:
    """Return the condition that two sizes are equal, or that two shapes are equal element by element."""
    if isinstance(x, tuple | list) and isinstance(y, tuple | list):
        if len(x) != len(y):
            return False
        return functools.reduce(operator.and_, map(sym_eq, x, y), True)
    if isinstance(x, int | SymInt) and isinstance(y, int | SymInt):
        return x == y
    raise AssertionError(f"unexpected sym_eq between {type(x)} {type(y)}")


def _is_concrete(a: Any, kind: type, plain: type | tuple[type, ...]) -> bool:
    if not isinstance(a, kind | plain if isinstance(plain, type) else (kind, *plain)):
        raise AssertionError(f"expected {kind.__name__}, got {type(a)}")
    return not isinstance(a, SymNumber) or not a.node.expr.free_symbols


def is_concrete_int(a: Any) -> bool:
    """Return True for an int without symbols."""
    return _is_concrete(a, SymInt, int)


def is_concrete_float(a: Any) -> bool:
    """Return True for a float without symbols."""
    return _is_concrete(a, SymFloat, float)


def is_concrete_bool(a: Any) -> bool:
    """Return True for a bool without symbols."""
    return _is_concrete(a, SymBool, bool)


def has_static_value(a: Any) -> bool:
    """Return True if a number is known to have only one value."""
    if not isinstance(a, SymNumber):
        return True
    if isinstance(a, SymBool):
        return bool(a.node.is_decided())
    low, high = a.node.environment.value_range(a.node.expr)
    return not a.node.expr.free_symbols or bool(low == high)


def is_symbolic(val: Any) -> bool:
    """Return True if `val` contains a free symbol."""
    return isinstance(val, SymNumber) and bool(val.node.expr.free_symbols)


def is_nested_int(s: Any) -> bool:
    """Return False: nested ints (sizes of ragged dimensions) are not supported."""
    return False


def optimization_hint(a: Any, fallback: int | None = None) -> Any:
    """Return the value of number `a` for the example inputs, or `fallback` if `a` is data-dependent.

    Raise GuardOnDataDependentSymNode if `a` is data-dependent and `fallback` is None.
    """
    if not isinstance(a, SymNumber):
        return a
    if a.node.has_hint() or fallback is None:
        return guarding_hint_or_throw(a)
    return fallback


def guarding_hint_or_throw(a: Any) -> Any:
    """Return the example value of a number. Raise GuardOnDataDependentSymNode if it is data-dependent."""
    if not isinstance(a, SymNumber):
        return a
    if not a.node.has_hint():
        raise a.node.environment.depends_on_data(a.node.expr)
    return a.node.hint


def constrain_range(a: Any, *, min: int | None, max: int | None = None) -> None:
    """Require min <= a <= max for a symbolic int. Raise ValueError for an int out of this range."""
    if not isinstance(a, SymInt):
        if (min is not None and a < min) or (max is not None and a > max):
            raise ValueError(f"Invalid value {a} for range [{min}:{max}]")
        return
    if min is not None:
        expect_true(operator.ge(a, min))  # type: ignore[arg-type]
    if max is not None:
        expect_true(operator.le(a, max))  # type: ignore[arg-type]


def constrain_unify(a: Any, b: Any) -> None:
    """Constrain two symbolic ints to be equal."""
    expect_true(a == b)


def _nodes(x: Any) -> Iterator[Any]:
    if isinstance(x, SymNumber):
        yield x.node
    elif isinstance(x, Tensor):
        yield from _nodes((*x.shape, *x.stride()))
    elif isinstance(x, tuple | list):
        for element in x:
            yield from _nodes(element)


def free_symbols(val: Any) -> set[Any]:
    """Return the symbols in `val`: a number, a tensor (sizes and strides), or a list or tuple of these."""
    return {s for node in _nodes(val) for s in node.expr.free_symbols}


def free_unbacked_symbols(x: Any) -> set[Any]:
    """Return the unbacked (data-dependent) symbols in `x`."""
    return {s for node in _nodes(x) for s in node.expr.free_symbols if s not in node.environment.hints}


def has_free_symbols(val: Any) -> bool:
    """Return True if `val` contains free symbols."""
    return bool(free_symbols(val))


def has_free_unbacked_symbols(x: Any) -> bool:
    """Return True if `x` contains unbacked (data-dependent) symbols."""
    return bool(free_unbacked_symbols(x))


def has_symbolic_sizes_strides(elem: Tensor) -> bool:
    """Return True if a tensor's sizes or strides contain symbols."""
    return has_free_symbols(elem)


__getattr__: Callable[[str], Any] = names_for(__name__)
