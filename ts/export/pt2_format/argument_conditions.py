"""Argument guards of programs loaded from `.pt2` archives.

The file contains symbolic tensor sizes, symbol ranges, constants, and conditions as Python expressions:

    x: [s0, 3], s0 in [4, 64]                "x.size()[0] >= 4", "x.size()[0] <= 64", "x.size()[1] == 3"
    "L['x'].size()[0] % 2 == 0"              "x.size()[0] % 2 == 0"

Conditions are parsed as formulas that may call only listed functions; they are never evaluated as Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ts._core.tensor.sym_types import SymInt, SymNumber
from ts._core.tensor.tensor import Tensor
from ts.errors import ArchiveError
from ts.export.input_guards import Check, IntegerGuard
from ts.export.pt2_format import expr_parser, pytree_specs
from ts.export.pt2_format.expr_parser import (
    Attribute,
    Constant,
    Formula,
    FunctionCall,
    Name,
    Operation,
    Subscript,
)
from ts.export.pt2_format.symbols import Symbols
from ts.export.size_operations import BY_SIGN, OPERATIONS

_Compute = Callable[[list[Any]], Any]


class _SymbolSource(NamedTuple):
    """Location of a symbol: the size `dim` of the argument leaf `leaf` equals factor * symbol + offset.

    If `dim` is None, the leaf is a number, which equals this expression.
    """

    leaf: int
    dim: int | None
    factor: int
    offset: int
    name: str

    def read(self, leaves: list[Any]) -> Any:
        """Return the value of the symbol for the argument leaves of a call."""
        argument = leaves[self.leaf]
        value = argument if self.dim is None else argument.size()[self.dim]
        return (value - self.offset) // self.factor


class Conditions:
    """Builder of a program's guards from argument metadata."""

    def __init__(
        self, symbols: Symbols, ranges: Mapping[Any, Any], in_spec: Any, names: list[str] | None
    ) -> None:
        self.symbols = symbols
        self.ranges = ranges
        self.paths = pytree_specs.argument_paths(in_spec, names)
        self.names = [name + "".join(map(str, path)) for name, path in self.paths]
        self.sources: dict[Any, _SymbolSource] = {}

    def checks(self, values: list[Any], guards: list[str]) -> list[Check]:
        """Build all guards, from the arguments' metadata `values` and the file's guard expressions."""
        self._find_symbols(values)
        checks: list[Check] = []
        seen: set[Any] = set()
        for leaf, value in enumerate(values):
            if isinstance(value, Tensor):
                for dim, size in enumerate(value.array.shape):
                    checks += self._of_size(leaf, dim, size, seen)
            elif isinstance(value, SymInt):
                checks += self._int_guards(leaf, value.node.expr)
            elif not isinstance(value, SymNumber):
                checks.append(self._of_constant(leaf, value))
        return checks + [self._of_guard(guard) for guard in guards]

    def _find_symbols(self, values: list[Any]) -> None:
        """Find a location for each symbol.

        A size that is the symbol itself is preferred to a size factor * symbol + offset.
        """
        sizes: list[tuple[int, int | None, Any]] = []
        for leaf, value in enumerate(values):
            if isinstance(value, Tensor):
                sizes += [(leaf, dim, n) for dim, n in enumerate(value.array.shape)]
            elif isinstance(value, SymNumber):
                sizes.append((leaf, None, value))
        symbolic = [(leaf, dim, n.node.expr) for leaf, dim, n in sizes if isinstance(n, SymNumber)]
        for leaf, dim, expression in symbolic:
            if expression.is_Symbol:
                self.sources.setdefault(expression, _SymbolSource(leaf, dim, 1, 0, self._at(leaf, dim)))
        for leaf, dim, expression in symbolic:
            if len(expression.free_symbols) != 1 or expression.is_Symbol:
                continue
            (symbol,) = expression.free_symbols
            offset, rest = expression.as_coeff_Add()
            factor, alone = rest.as_coeff_Mul()
            if alone == symbol and offset.is_Integer and factor.is_Integer and factor > 0:
                at = self._at(leaf, dim)
                name = f"({at} {'-' if offset > 0 else '+'} {abs(offset)})" if offset else at
                name = name if factor == 1 else f"{name} // {factor}"
                self.sources.setdefault(symbol, _SymbolSource(leaf, dim, int(factor), int(offset), name))

    def _at(self, leaf: int, dim: int | None) -> str:
        return self.names[leaf] if dim is None else f"{self.names[leaf]}.size()[{dim}]"

    # ---- sizes and constants

    def _of_size(self, leaf: int, dim: int, size: Any, seen: set[Any]) -> list[Check]:
        at = self._at(leaf, dim)
        if not isinstance(size, SymNumber):
            return [self._compared(leaf, dim, at, "==", size)]
        expression = size.node.expr
        sources = {s: self.sources.get(s) for s in expression.free_symbols}
        if None in sources.values():
            return []
        if len(sources) == 1:
            (symbol, symbol_source) = next(iter(sources.items()))
            assert symbol_source is not None
            if (symbol_source.leaf, symbol_source.dim) == (leaf, dim):
                if symbol in seen:
                    return []
                seen.add(symbol)
                return self._of_range(symbol, symbol_source, at)
        return [self._equal(leaf, dim, at, expression)]

    def _equal(self, leaf: int, dim: int | None, at: str, expression: Any) -> Check:
        """Return a guard that the size or number at (leaf, dim) equals `expression`."""
        from ts.export import sympy_functions
        from ts.export.guards import format_condition

        sources = {s: self.sources[s] for s in expression.free_symbols}

        def holds(leaves: list[Any]) -> bool:
            expected = sympy_functions.value(
                expression, {s: source.read(leaves) for s, source in sources.items()}
            )
            if dim is None:
                return bool(leaves[leaf] == expected)
            shape = leaves[leaf].size()
            return dim < len(shape) and bool(shape[dim] == expected)

        return Check(f"{at} == {format_condition(expression, lambda s: sources[s].name)}", holds)

    def _int_guards(self, leaf: int, expression: Any) -> list[Check]:
        """Return the guards of an integer argument: of its type, and of its range or its equality."""
        name = self.names[leaf]
        checks: list[Check] = [IntegerGuard(name, leaf)]
        source = self.sources.get(expression)
        if source is None or (source.leaf, source.dim) != (leaf, None):
            if all(s in self.sources for s in expression.free_symbols):
                checks.append(self._equal(leaf, None, name, expression))
        elif (value_range := self.ranges.get(expression)) is not None:
            if type(value_range.lower) is int and value_range.lower > 0:
                checks.append(self._compared(leaf, None, name, ">=", value_range.lower))
            if type(value_range.upper) is int:
                checks.append(self._compared(leaf, None, name, "<=", value_range.upper))
        return checks

    def _of_range(self, symbol: Any, source: _SymbolSource, at: str) -> list[Check]:
        """Return the guards of a symbol's location: divisibility by `factor`, and the symbol's range."""
        checks = []
        leaf, dim, factor, offset, _ = source
        if factor > 1:

            def divides(leaves: list[Any]) -> bool:
                return bool((leaves[leaf].size()[dim] - offset) % factor == 0)

            inside = f"({at} - {offset})" if offset > 0 else f"({at} + {-offset})" if offset else at
            checks.append(Check(f"{inside} % {factor} == 0", divides))
        value_range = self.ranges.get(symbol)
        if value_range is not None:
            for relation, end, min_relevant in ((">=", value_range.lower, 2), ("<=", value_range.upper, -1)):
                if type(end) is int and end > min_relevant:
                    checks.append(self._compared(leaf, dim, at, relation, end * factor + offset))
        return checks

    def _compared(self, leaf: int, dim: int | None, at: str, relation: str, end: int) -> Check:
        compare = _OPERATORS[relation]

        def holds(leaves: list[Any]) -> bool:
            if dim is None:
                return bool(compare(leaves[leaf], end))
            shape = leaves[leaf].size()
            return dim < len(shape) and bool(compare(shape[dim], end))

        return Check(f"{at} {relation} {end}", holds)

    def _of_constant(self, leaf: int, value: Any) -> Check:
        def holds(leaves: list[Any]) -> bool:
            argument = leaves[leaf]
            return argument is value or (not isinstance(argument, Tensor) and bool(argument == value))

        relation = "is" if value is None else "=="
        return Check(f"{self.names[leaf]} {relation} {value!r}", holds)

    # ---- conditions as text

    def _of_guard(self, source: str) -> Check:
        compute = self._computed(expr_parser.parse(source), source)

        def holds(leaves: list[Any]) -> bool:
            try:
                return bool(compute(leaves))
            # The condition cannot be evaluated: for example, it does arithmetic on strings.
            except (ArithmeticError, IndexError, TypeError, ValueError):
                return False

        return Check(_ARGUMENT.sub(r"\1", source), holds, source)

    def _computed(self, formula: Formula, condition: str) -> _Compute:
        """Convert a formula to a function of the argument leaves."""
        match formula:
            case Constant(value=value):
                return lambda leaves: value
            case Operation(operator="and" | "or" as name, operands=operands):
                first, second = (self._computed(x, condition) for x in operands)
                if name == "and":
                    return lambda leaves: first(leaves) and second(leaves)
                return lambda leaves: first(leaves) or second(leaves)
            case Operation(operator="if", operands=operands):
                truth, one, other = (self._computed(x, condition) for x in operands)
                return lambda leaves: one(leaves) if truth(leaves) else other(leaves)
            case Operation(operator=name, operands=operands):
                operand_functions = [self._computed(x, condition) for x in operands]
                function = _OPERATORS[name]
                return lambda leaves: function(*(operand(leaves) for operand in operand_functions))
            case FunctionCall(function=function, arguments=arguments, options=()):
                called = _FUNCTIONS.get(_dotted(function))
                if called is not None and (len(arguments) == 1 or (called in (max, min) and arguments)):
                    operand_functions = [self._computed(x, condition) for x in arguments]
                    return lambda leaves: called(*(operand(leaves) for operand in operand_functions))
            case Subscript(
                of=FunctionCall(function=Attribute(of=source, name="size"), arguments=()),
                key=Constant(value=int(d)),
            ):
                leaf = self._leaf(source, condition)
                return lambda leaves: leaves[leaf].size()[d]
            case Subscript() | Attribute():
                leaf = self._leaf(formula, condition)
                return lambda leaves: leaves[leaf]
        raise ArchiveError(f"the condition {condition[:120]!r} cannot be parsed")

    def _leaf(self, source: Formula, condition: str) -> int:
        """Return the index of the leaf that an expression such as `L['x'][0].field` names."""
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
        # Elements of `*rest` are named rest_0, rest_1, ...
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


def _dotted(formula: Formula) -> str:
    match formula:
        case Name(name=name):
            return name
        case Attribute(of=Name(name=first), name=name):
            return f"{first}.{name}"
    return ""


def _numbers_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `function` to reject arguments other than numbers.

    A string times a large integer could exhaust memory.
    """

    def computed(*operands: Any) -> Any:
        if not all(isinstance(x, int | float) for x in operands):
            raise TypeError("conditions may only contain numbers")
        return function(*operands)

    return computed


_ARGUMENT: Final = re.compile(r"L\['(\w+)'\]")
_OPERATORS: Final[Mapping[str, Callable[..., Any]]] = {
    sign: op.compute if op.is_relation or sign == "not" else _numbers_only(op.compute)
    for sign, op in BY_SIGN.items()
    if op.compute is not None
}
_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {"bool": bool} | {
    name: op.compute
    for op in OPERATIONS
    if op.compute is not None and (op.compute in (max, min) or any(f.max_count == 1 for f in op.functions))
    for name in op.call_names
}
