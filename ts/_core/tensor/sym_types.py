"""Symbolic integers, symbolic floats and symbolic booleans (`SymInt`, `SymFloat`, `SymBool`).

A symbol has a node, which implements its arithmetic and decides conditions. This module maps Python operators
to calls of the node. Examples during an export:

    n = x.shape[0]            a SymInt
    n * 2 + 1                 a SymInt: node.operate("add", n * 2, 1)
    n > 3                     a SymBool
    if n > 3: ...             node.decide(): returns a bool and adds a guard
    int(n), range(n)          node.specialize(): returns the example's number and requires that n equals it
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class SymNumber:
    """Base class of SymInt, SymFloat and SymBool."""

    __slots__ = ("__weakref__", "node")

    def __init__(self, node: Any) -> None:
        self.node = node

    def __repr__(self) -> str:
        return str(self.node)

    def __format__(self, spec: str) -> str:
        return format(str(self.node), spec)

    def __bool__(self) -> bool:
        return bool(self.node.decide())

    def __hash__(self) -> int:
        raise TypeError(f"unhashable type: non-nested {type(self).__name__}")

    def __reduce__(self) -> Any:
        raise TypeError(f"cannot pickle a {type(self).__name__}, because it belongs to the running export")

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __copy__(self) -> Any:
        return self

    def settled(self) -> bool:
        """Return the value of a symbolic condition for control flow, and add the condition as a guard."""
        return bool(self.node.decide(True))

    def is_provably_equal(self, other: Any) -> bool:
        """Return whether the symbol is provably equal to `other`, without adding a guard."""
        return bool(self.node.is_provably_equal(other))


class _Number(SymNumber):
    __slots__ = ()

    def __int__(self) -> int:
        return int(self.node.specialize())

    def __float__(self) -> float:
        return float(self.node.specialize())

    def __complex__(self) -> complex:
        return complex(self.node.specialize())

    def __pos__(self) -> Any:
        return self

    def is_integer(self) -> Any:
        """Return the symbolic condition that the number is an integer."""
        return self.node.operate("is_integer", self)

    def __round__(self, digits: int | None = None) -> Any:
        return self.node.operate("round", self, *([] if digits is None else [digits]))


class SymInt(_Number):
    """Symbolic integer, usually the size of a dimension."""

    __slots__ = ()

    def __index__(self) -> int:
        return int(self.node.specialize())


class SymFloat(_Number):
    """Symbolic float."""

    __slots__ = ()


class SymBool(SymNumber):
    """Symbolic bool."""

    __slots__ = ()

    def __int__(self) -> int:
        return int(bool(self))

    def __float__(self) -> float:
        return float(bool(self))


def _binary(name: str) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return self.node.operate(name, self, other)

    return method


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return self.node.operate(name, other, self)

    return method


def _unary(name: str) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return self.node.operate(name, self)

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(_Number, f"__{_name}__", _binary(_name))
    setattr(_Number, f"__r{_name}__", _reflected(_name))
for _name in ("add", "sub", "mul"):  # in arithmetic, a SymBool is 1 or 0
    setattr(SymBool, f"__{_name}__", _binary(_name))
    setattr(SymBool, f"__r{_name}__", _reflected(_name))
for _name in ("lt", "le", "gt", "ge"):
    setattr(_Number, f"__{_name}__", _binary(_name))
for _name in ("eq", "ne"):
    setattr(SymNumber, f"__{_name}__", _binary(_name))
for _name in ("neg", "abs", "trunc", "floor", "ceil"):
    setattr(_Number, f"__{_name}__", _unary(_name))
for _name in ("and", "or", "xor", "lshift", "rshift"):
    setattr(SymInt, f"__{_name}__", _binary(_name))
    setattr(SymInt, f"__r{_name}__", _reflected(_name))
for _name in ("and", "or", "xor"):
    setattr(SymBool, f"__{_name}__", _binary(_name))
    setattr(SymBool, f"__r{_name}__", _reflected(_name))
