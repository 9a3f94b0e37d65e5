"""Report on the symbols of a program: their locations, ranges, conditions and source lines.

Example:

    for symbol in explain_symbols(program):
        print(symbol.name, symbol.sources, symbol.range)        s0 ['x.size()[0]'] 5 to int_oo
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts.export.input_guards import Line
from ts.export.program import ExportedProgram
from ts.export.shape_check import check_shapes
from ts.fx.node import Node
from ts.utils import _pytree as pytree


class Condition(NamedTuple):
    """Condition as text, and the source line that requires it (or None)."""

    text: str
    where: Line | None


class ExplainedSymbol(NamedTuple):
    """Report of a program's symbol: occurrences, value range and conditions."""

    name: str
    sources: list[str]  # sizes of arguments that equal the symbol, or the node that defines the symbol
    range: str
    conditions: list[Condition]


def explain_symbols(program: ExportedProgram) -> list[ExplainedSymbol]:
    """Return all symbols of a program, argument symbols first.

    Each condition of a program exported by `ts` has the source line that required it. For programs exported
    by PyTorch, this is the line of an operator that requires it, or None. Raise ShapeError if a recorded
    shape differs from the result of its operator.
    """
    questions = check_shapes(program)
    symbols: dict[Any, list[str]] = {}
    for node, value in _values(program):
        for location, expression in _expressions(node, value):
            for symbol in sorted(expression.free_symbols, key=str):
                if expression == symbol or symbol not in symbols:
                    symbols.setdefault(symbol, []).append(location)
    lines = {str(question.condition): _line(question.node) for question in questions}
    sources = []
    for symbol, locations in symbols.items():
        range = program.range_constraints.get(symbol)
        range_text = "any" if range is None else f"{range.lower} to {range.upper}"
        arguments = [p for p in locations if "size()" in p] or locations[:1]
        about = list(_conditions(program, symbol, arguments, lines))
        sources.append(ExplainedSymbol(str(symbol), list(dict.fromkeys(arguments)), range_text, about))
    return sources


def _values(program: ExportedProgram) -> Iterator[tuple[Node, Any]]:
    for node in program.graph.nodes:
        if node.op in ("placeholder", "call_function"):
            for value in pytree.tree_leaves(node.meta.get("val")):
                yield node, value


def _expressions(node: Node, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (location, expression) for each symbolic size or number in `value`, which `node` computes."""
    description = node.name if node.op == "placeholder" else f"{node.name} ({node.target})"
    if isinstance(value, SymNumber):
        yield description, value.node.expr
    elif isinstance(value, Tensor):
        for dim, n in enumerate(value.array.shape):
            if isinstance(n, SymNumber):
                yield f"{node.name}.size()[{dim}]" if node.op == "placeholder" else description, n.node.expr


def _conditions(
    program: ExportedProgram, symbol: Any, locations: list[str], lines: dict[str, Line | None]
) -> Iterator[Condition]:
    """Yield the guards and assertions on `symbol`, then the conditions of operators (`lines`) on it."""
    reported_texts: set[str] = set()
    for check in program._guards:
        if any(location in check.text for location in locations):
            reported_texts.add(check.text)
            yield Condition(check.text, check.where)
    name = re.compile(rf"\b{re.escape(str(symbol))}\b")
    for node in program.graph.nodes:
        if str(node.target) == "aten._assert_scalar.default" and name.search(str(node.args[1])):
            condition = str(node.args[1]).removeprefix("Runtime assertion failed for expression ")
            yield Condition(condition.rpartition(" on node ")[0] or condition, _line(node))
    for condition, line in lines.items():
        if name.search(condition):
            yield Condition(f"{condition}, of an operator", line)


_FRAME = re.compile(r'File "(.*)", line (\d+), in (.*)\n\s*(.*)')


def _line(node: Node) -> Line | None:
    """Return the innermost source line in the stack trace of a node, or None if it has no stack trace."""
    frames = _FRAME.findall(str(node.meta.get("stack_trace") or ""))
    if not frames:
        return None
    file, line, function, source = frames[-1]
    return Line(file, int(line), function, source.strip())
