"""Builtin operators implemented in the script language, which are copied into the calling graph.

The compiler copies a function (right) for an expression that matches no registered operator (left):

    2 * x      mul(a : int, b : Tensor), which returns b * a
    x.shape    shape(a : Tensor), which returns a.size()
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

from ts._core.late_binding import resolve
from ts.frontend import parse
from ts.frontend.parse import ParsedFunction
from ts.ir.graph import Graph
from ts.ir.schema import FunctionSchema

# Functions for operators with a number as left operand and a tensor as right operand. Printed graphs contain
# line numbers of this text. Therefore, the lines must stay equal to those in PyTorch.
_SCALAR_LEFT = """
def mul(a : {number}, b : Tensor) -> Tensor:
  return b * a
def add(a : {number}, b : Tensor) -> Tensor:
  return b + a
def ne(a : {number}, b : Tensor) -> Tensor:
  return b != a
def eq(a : {number}, b : Tensor) -> Tensor:
  return b == a
def sub(a : {number}, b : Tensor) -> Tensor:
  return torch.neg(b) + a
def div(a : {number}, b : Tensor) -> Tensor:
  return torch.reciprocal(b) * a
"""
_SCALAR_LEFT_ORDER = """
def gt(a : {number}, b : Tensor) -> Tensor:
  return b < a
def ge(a : {number}, b : Tensor) -> Tensor:
  return b <= a
def lt(a : {number}, b : Tensor) -> Tensor:
  return b > a
def le(a : {number}, b : Tensor) -> Tensor:
  return b >= a
"""
_FLOOR_DIVISION = """
def floordiv(self : Tensor, other : {right}) -> Tensor:
  return torch.floor_divide(self, other)
"""
_PROPERTIES = """
def ndim(a : Tensor) -> int:
  return a.dim()
def T(a : Tensor) -> Tensor:
  return a.numpy_T()
def H(a : Tensor) -> Tensor:
  return a.matrix_H()
def mT(a : Tensor) -> Tensor:
  return a.mT
def mH(a : Tensor) -> Tensor:
  return a.mH
def shape(a : Tensor) -> List[int]:
  return a.size()
"""
_CONTAINS = """


def __contains__(self: str, key: str) -> bool:
    return self.find(key, 0, len(self)) != -1
"""
_ASSERT = """
def _assert(condition : Tensor, message : str) -> None:
  assert bool(condition), message
"""
_ASSERT_OF_BOOL = """





def _assert(condition : bool, message : str) -> None:
  assert condition, message
"""


class BuiltinFunction:
    """Builtin script function, which is compiled at the first matching call.

    The methods import the compiler when they are called, to avoid an import cycle: the compiler uses schema
    matching, which uses this class.
    """

    def __init__(self, parsed: ParsedFunction) -> None:
        self.parsed = parsed
        schema = resolve("compile").declare(parsed)
        assert schema is not None
        self.schema: FunctionSchema = schema

    @cached_property
    def graph(self) -> Graph:
        """Graph of the function, compiled at the first access."""
        graph: Graph = resolve("compile").compile_function(self.parsed).graph
        return graph


_SOURCES: dict[str, list[str]] = {}


def _enter(source: str, namespace: str = "aten") -> None:
    for line in source.split("\n"):
        if line.startswith("def "):
            _SOURCES.setdefault(f"{namespace}::{line[4 : line.index('(')]}", []).append(source)


for _number in ("float", "int", "complex"):
    _enter(_SCALAR_LEFT.format(number=_number))
for _number in ("float", "int"):
    _enter(_SCALAR_LEFT_ORDER.format(number=_number))
for _right in ("float", "int", "Tensor"):
    _enter(_FLOOR_DIVISION.format(right=_right))
_enter(_PROPERTIES, "prim")
_enter(_CONTAINS)
_enter(_ASSERT_OF_BOOL)
_enter(_ASSERT)


@cache
def builtin_functions(name: str) -> tuple[BuiltinFunction, ...]:
    """Return the builtin functions called `name`, one for each combination of argument types."""
    texts = _SOURCES.get(name)
    if texts is None:
        return ()
    return tuple(BuiltinFunction(_parse(source)[name.rpartition(":")[2]]) for source in texts)


@cache
def _parse(source: str) -> dict[str, Any]:
    return {parsed.name: parsed for parsed in parse.module_defs(source)}
