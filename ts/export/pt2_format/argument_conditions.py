"""Argument guards of programs loaded from `.pt2` archives.

Input: sizes of argument tensors, ranges of symbols, and conditions in Python syntax. Output: guards. Each
line shows an input and its guards:

    x: [s0, 3], s0 in [4, 64]                "x.size()[0] >= 4", "x.size()[0] <= 64", "x.size()[1] == 3"
    "L['x'].size()[0] % 2 == 0"              "x.size()[0] % 2 == 0"

Conditions are never evaluated as Python. They are parsed, and may only call the functions in a list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ts._core.tensor.sym_types import SymInt, SymNumber
from ts._core.tensor.tensor import Tensor
from ts.errors import ArchiveError
from ts.export import expr_parser
from ts.export.expr_parser import (
    Attribute,
    Constant,
    Formula,
    FunctionCall,
    Name,
    Operation,
    Source,
    Subscript,
)
from ts.export.input_guards import (
    InputGuard,
    UnknownFunctionError,
    guard_bound,
    guard_constant,
    guard_divisible,
    guard_size,
)
from ts.export.pt2_format import pytree_specs
from ts.export.pt2_format.symbols import Symbols


class Conditions:
    """Builder of a program's guards from argument metadata."""

    def __init__(
        self, symbols: Symbols, ranges: Mapping[Any, Any], in_spec: Any, names: list[str] | None
    ) -> None:
        self.symbols = symbols
        self.ranges = ranges
        self.paths = pytree_specs.argument_paths(in_spec, names)
        self.names = [name + "".join(map(str, path)) for name, path in self.paths]
        self.sources: dict[Any, Source] = {}

    def checks(self, values: list[Any], guards: list[str]) -> list[InputGuard]:
        """Return the guards that follow from the metadata of the arguments, and the guards in the file.

        values    metadata of the arguments, such as fake tensors
        guards    conditions in the file
        """
        self._find_symbols(values)
        checks: list[InputGuard] = []
        seen: set[Any] = set()
        for leaf, value in enumerate(values):
            if isinstance(value, Tensor):
                for dim, size in enumerate(value.array.shape):
                    checks += self._of_size(self._at(leaf, dim), size, seen)
            elif isinstance(value, SymInt):
                checks += self._int_guards(self._at(leaf, None), value.node.expr)
            elif not isinstance(value, SymNumber):
                checks.append(guard_constant(self._at(leaf, None), value))
        return checks + [self._of_guard(guard) for guard in guards]

    def _find_symbols(self, values: list[Any]) -> None:
        """Set `sources`: symbol -> location of a size from which the symbol can be computed.

        If possible, the size is the symbol itself. Otherwise, it is `factor * symbol + offset`.
        """
        sizes: list[tuple[Source, Any]] = []
        for leaf, value in enumerate(values):
            if isinstance(value, Tensor):
                sizes += [(self._at(leaf, dim), n) for dim, n in enumerate(value.array.shape)]
            elif isinstance(value, SymNumber):
                sizes.append((self._at(leaf, None), value))
        symbolic = [(source, n.node.expr) for source, n in sizes if isinstance(n, SymNumber)]
        for source, expression in symbolic:
            if expression.is_Symbol:
                self.sources.setdefault(expression, source)
        for source, expression in symbolic:
            if len(expression.free_symbols) != 1 or expression.is_Symbol:
                continue
            (symbol,) = expression.free_symbols
            offset, rest = expression.as_coeff_Add()
            factor, alone = rest.as_coeff_Mul()
            if alone == symbol and offset.is_Integer and factor.is_Integer and factor > 0:
                self.sources.setdefault(symbol, source._replace(factor=int(factor), offset=int(offset)))

    def _at(self, leaf: int, dim: int | None) -> Source:
        return Source(self.names[leaf], dim, leaf=leaf)

    def _of_size(self, at: Source, size: Any, seen: set[Any]) -> list[InputGuard]:
        if not isinstance(size, SymNumber):
            return [guard_bound(at, "==", size)]
        expression = size.node.expr
        sources = {s: self.sources.get(s) for s in expression.free_symbols}
        if None in sources.values():
            return []
        if len(sources) == 1:
            (symbol, source) = next(iter(sources.items()))
            assert source is not None
            if source.size == at:
                if symbol in seen:
                    return []
                seen.add(symbol)
                return self._of_range(symbol, source)
        return [self._equal(at, expression)]

    def _equal(self, at: Source, expression: Any) -> InputGuard:
        from ts.export.guards import guard_equal

        return guard_equal(at, expression, self.sources)

    def _int_guards(self, at: Source, expression: Any) -> list[InputGuard]:
        """Return the guards of an int argument.

        They check the type, and the range of the argument or the expression that the argument equals.
        """
        checks = [guard_size(at)]
        if self.sources.get(expression) != at:
            if all(s in self.sources for s in expression.free_symbols):
                checks.append(self._equal(at, expression))
        elif (value_range := self.ranges.get(expression)) is not None:
            if type(value_range.lower) is int and value_range.lower > 0:
                checks.append(guard_bound(at, ">=", value_range.lower))
            if type(value_range.upper) is int:
                checks.append(guard_bound(at, "<=", value_range.upper))
        return checks

    def _of_range(self, symbol: Any, source: Source) -> list[InputGuard]:
        """Return guards for divisibility and range of the size `factor * symbol + offset` at `source`."""
        checks = [guard_divisible(source)] if source.factor > 1 else []
        value_range = self.ranges.get(symbol)
        if value_range is not None:
            for relation, end, min_relevant in ((">=", value_range.lower, 2), ("<=", value_range.upper, -1)):
                if type(end) is int and end > min_relevant:
                    checks.append(guard_bound(source, relation, end * source.factor + source.offset))
        return checks

    def _of_guard(self, code: str) -> InputGuard:
        try:
            return InputGuard(self._located(expr_parser.parse(code), code), _ARGUMENT.sub(r"\1", code), code)
        except UnknownFunctionError:
            raise ArchiveError(f"the condition {code[:120]!r} cannot be parsed") from None

    def _located(self, formula: Any, condition: str) -> Any:
        """Replace expressions that refer to arguments in `formula` (`L['x'].size()[0]`) by locations."""
        match formula:
            case Operation(operator=sign, operands=operands):
                return Operation(sign, tuple(self._located(x, condition) for x in operands))
            case FunctionCall(
                function=Name() | Attribute(of=Name()) as function, arguments=arguments, options=()
            ):
                return FunctionCall(function, tuple(self._located(x, condition) for x in arguments), ())
            case Subscript(
                of=FunctionCall(function=Attribute(of=source, name="size"), arguments=()),
                key=Constant(value=int(d)),
            ):
                return self._at(self._leaf(source, condition), d)
            case Subscript() | Attribute():
                return self._at(self._leaf(formula, condition), None)
        return formula

    def _leaf(self, source: Formula, condition: str) -> int:
        """Return the index of the leaf to which an expression such as `L['x'][0].field` refers."""
        steps: list[tuple[bool, Any]] = []
        while not isinstance(source, Name):
            match source:
                case Subscript(of=of, key=Constant(value=key)):
                    steps.append((False, key))
                    source = of
                case Attribute(of=of, name=name):
                    steps.append((True, name))
                    source = of
                case _:
                    raise ArchiveError(f"the condition {condition[:120]!r} does not refer to an argument")
        steps.reverse()
        if source.name != "L" or not steps:
            raise ArchiveError(f"the condition {condition[:120]!r} does not refer to an argument")
        (_, argument), *rest = steps
        # the elements of a parameter `*rest` have the names rest_0, rest_1, ...
        if rest and not any(name == argument for name, _ in self.paths):
            (_, index), *rest = rest
            argument = f"{argument}_{index}"
        for leaf, (name, path) in enumerate(self.paths):
            if name == argument and len(path) == len(rest) and all(map(_is_path_entry, path, rest)):
                return leaf
        raise ArchiveError(f"the condition {condition[:120]!r} does not refer to an argument")


def _is_path_entry(step: pytree_specs.PathEntry, written: tuple[bool, Any]) -> bool:
    by_name, key = written
    if by_name:
        return step.is_attribute and step.key == key
    if step.key is None or step.is_attribute:
        return bool(step.position == key)
    return bool(step.key == key)


_ARGUMENT: Final = re.compile(r"L\['(\w+)'\]")
