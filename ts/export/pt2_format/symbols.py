"""Symbols of an archive: sizes as sympy expressions, and value ranges.

Each line shows a call and its result:

    symbols.decode_scalar(SymInt("as_int", 3))                                           3
    symbols.decode_scalar(SymInt("as_expr", Expression("Symbol('s0', integer=True)")))   a SymInt
    format_expression(expression)                                 "Symbol('s0', integer=True)"

Only programs with symbols require sympy.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ts._core.thread import deadline
from ts.errors import ArchiveError
from ts.export import expr_parser
from ts.export.expr_parser import Constant, Formula, FunctionCall, Name, Operation
from ts.export.pt2_format.schema import Expression, Hint, Range, TaggedUnion
from ts.export.size_operations import ARCHIVE_FUNCTIONS, BY_SIGN, OPERATIONS, Kind, SymbolicFunction

if TYPE_CHECKING:
    from ts.export.shape_env import ShapeEnv

_MAX_BITS: Final = 256  # maximum number of bits of an integer in an expression
_MAX_NODES: Final = 200  # maximum number of nodes of the syntax tree of an expression
_MAX_POWER: Final = 64
_MAX_TERMS: Final = 1 << 9  # maximum number of terms of an expression after expansion
_ASSUMPTIONS: Final = frozenset(("integer", "positive", "nonnegative", "real", "negative", "nonpositive"))
_SYMBOL: Final = re.compile(r"_?[a-z]+\d+|[A-Za-z_]\w{0,80}", re.ASCII)


def require_sympy() -> None:
    """Raise MissingSympyError if SymPy is not installed."""
    importlib.import_module("ts.export.sympy_import")


class Symbols:
    """Symbols of a program, with ranges and expressions."""

    def __init__(self, ranges: dict[str, Range]) -> None:
        self._declared_ranges = ranges
        self._environment: ShapeEnv | None = None
        self._symbols: dict[str, Any] = {}
        # text of an expression -> sympy expression that was decoded from it
        self._expressions: dict[str, Any] = {}

    @property
    def any(self) -> bool:
        """True if the program contains symbols."""
        return bool(self._declared_ranges) or self._environment is not None

    @property
    def environment(self) -> ShapeEnv:
        """Shape environment of the symbols, created on first use."""
        if self._environment is None:
            require_sympy()
            from ts.export.shape_env import ShapeEnv

            self._environment = ShapeEnv()
        return self._environment

    def decode_scalar(self, choice: TaggedUnion) -> Any:
        """Decode a number or symbolic expression."""
        if choice.kind != "as_expr":
            return choice.value
        from ts.export.sym_node import symbol_of

        expression = self.expression(choice.value)
        return symbol_of(expression, self.environment)

    def expression(self, written: Expression) -> Any:
        """Decode an expression. Expressions with equal text are decoded once."""
        source = written.expr_str
        expression = self._expressions.get(source)
        if expression is None:
            _ = self.environment
            formula = expr_parser.parse(source)
            terms = _terms(formula)
            if terms > _MAX_TERMS:
                raise ArchiveError(f"the size {source[:80]!r} is invalid: it is too large")
            deadline.charge(terms * 100_000)
            try:
                expression = _checked(_Builder(self, source).build(formula), source)
            except (ValueError, TypeError, ArithmeticError, AttributeError, RecursionError) as error:
                raise ArchiveError(f"the size {source[:80]!r} is invalid: {error}") from None
            self._expressions[source] = expression
        hint = written.hint
        if hint is not None and expression.is_Symbol and type(hint.value) is int:
            self.environment.hints.setdefault(expression, hint.value)
        return expression

    def symbol(self, name: str, assumptions: dict[str, bool] | None = None) -> Any:
        """Return the symbol `name`. If the symbol is new, create it with `assumptions` and with its range."""
        symbol = self._symbols.get(name)
        if symbol is None:
            _ = self.environment
            from ts.export.intervals import ValueRange as Ends
            from ts.export.sympy_import import sympy

            if assumptions is None:
                is_float = name.startswith("zuf")
                assumptions = {"real": True} if is_float else {"integer": True}
            symbol = self._symbols[name] = sympy.Symbol(name, **assumptions)
            declared_range = self._declared_ranges.get(name)
            low, high = (
                (None, None) if declared_range is None else (declared_range.min_val, declared_range.max_val)
            )
            self.environment.ranges[symbol] = Ends(
                -math.inf if low is None else low, math.inf if high is None else high
            )
        return symbol

    def range_constraints(self) -> dict[Any, Any]:
        """Return a dict from symbols to their ranges in the file. Raise ArchiveError for an empty range."""
        if not self._declared_ranges:
            return {}
        _ = self.environment
        from ts.export.value_ranges import ValueRanges

        constraints = {}
        for source, bounds in self._declared_ranges.items():
            expression = self.expression(Expression(source))
            low = -math.inf if bounds.min_val is None else bounds.min_val
            high = math.inf if bounds.max_val is None else bounds.max_val
            if low > high:
                raise ArchiveError(f"the range of {source} is empty: its lower bound exceeds its upper bound")
            constraints[expression] = ValueRanges(low, high, bool(expression.is_integer))
        return constraints


def _checked(expression: Any, source: str) -> Any:
    """Return `expression` if it contains only finite numbers, symbols and listed functions.

    Otherwise raise ArchiveError.
    """
    from ts.export import sympy_functions as e
    from ts.export.sympy_import import sympy

    for x in sympy.preorder_traversal(expression):
        if x.is_Symbol or x in (sympy.true, sympy.false) or x.is_Integer or x.is_Rational:
            continue
        if x.is_Float and math.isfinite(float(x)):
            continue
        if x.args and (x.func in e.FUNCTIONS or type(x).__name__ == "ExprCondPair"):
            continue
        raise ArchiveError(f"the size {source[:80]!r} is invalid: it contains {str(x)[:80]}")
    return expression


class _Builder:
    """Converter of a parsed formula to a sympy expression."""

    def __init__(self, symbols: Symbols, source: str) -> None:
        self.symbols = symbols
        self.source = source
        self.nodes = 0

    def fail(self, why: str) -> NoReturn:
        raise ArchiveError(f"the size {self.source[:80]!r} is invalid: {why}")

    def build(self, formula: Formula) -> Any:
        from ts.export.sympy_import import sympy

        self.nodes += 1
        if self.nodes > _MAX_NODES:
            self.fail("it is too large")
        match formula:
            case Constant(value=bool(x)):
                return sympy.true if x else sympy.false
            case Constant(value=int(x)):
                return sympy.Integer(x)
            case Constant(value=float(x)):
                return sympy.Float(x)
            case Name(name="true" | "false" as name):
                return sympy.true if name == "true" else sympy.false
            case Name(name=name):
                if _SYMBOL.fullmatch(name) is None:
                    self.fail(f"{name[:80]} is not a symbol")
                return self.symbols.symbol(name)
            case Operation(operator=operator, operands=operands):
                return self.operation(operator, [self.build(x) for x in operands])
            case FunctionCall(function=Name(name=name), arguments=arguments, options=options):
                return self.call(name, arguments, dict(options))
        self.fail("unsupported expression")

    def operation(self, sign: str, values: list[Any]) -> Any:
        operation = BY_SIGN.get(sign)
        if operation is not None and operation.functions:
            functions = [f for f in operation.functions if (f.sign or operation.sign) == sign]
            return self.apply(sign, functions, values)
        if sign not in ("neg", "-"):
            self.fail(f"the operator {sign} is not supported")
        self.check_kind(sign, Kind.NUMBERS, values)
        return -values[0] if sign == "neg" else values[0] - values[1]

    def call(self, name: str, arguments: tuple[Formula, ...], options: dict[str, Formula]) -> Any:
        from ts.export.sympy_import import sympy

        if name == "Symbol":
            return self.named(arguments, options)
        if name in ("Integer", "Float", "Rational"):
            return self.constant(name, arguments)
        if options:
            self.fail(f"{name} does not accept keyword arguments")
        if name == "Piecewise":
            return sympy.Piecewise(*map(self.pair, arguments))
        values = [self.build(x) for x in arguments]
        if name in ("CeilDiv", "Identity"):
            return self.composed(name, values)
        functions = ARCHIVE_FUNCTIONS.get(name)
        if functions is None:
            self.fail(f"the function {name[:80]} is not supported")
        return self.apply(name, functions, values)

    def composed(self, name: str, values: list[Any]) -> Any:
        """Return the expression for a call of `Identity` or `CeilDiv`.

        `ts` has no sympy functions for these.
        """
        if len(values) != (2 if name == "CeilDiv" else 1):
            self.fail(f"{name} has the wrong number of arguments")
        if name == "Identity":
            self.check_kind(name, Kind.NUMBERS, values)
            return values[0]
        return -self.apply(name, ARCHIVE_FUNCTIONS["FloorDiv"], [-values[0], values[1]])

    def named(self, arguments: tuple[Formula, ...], options: dict[str, Formula]) -> Any:
        match arguments:
            case (Constant(value=str(name)),) if _SYMBOL.fullmatch(name) is not None:
                pass
            case _:
                self.fail("a symbol has no name")
        assumptions: dict[str, bool] = {}
        for key, value in options.items():
            if key not in _ASSUMPTIONS or not isinstance(value, Constant) or type(value.value) is not bool:
                self.fail(f"{key[:80]} is not a valid assumption of a symbol")
            assumptions[key] = value.value
        return self.symbols.symbol(name, assumptions)

    def constant(self, name: str, arguments: tuple[Formula, ...]) -> Any:
        from ts.export.sympy_import import sympy

        values = []
        for x in arguments:
            sign = 1
            if isinstance(x, Operation) and x.operator == "neg":
                sign, x = -1, x.operands[0]
            if not isinstance(x, Constant):
                self.fail(f"the argument of {name} is not a number")
            values.append((sign, x.value))
        match name, values:
            case "Integer", [(sign, int(n))]:
                return sympy.Integer(sign * n)
            case "Rational", [(sign, int(n)), (1, int(m))] if m > 0:
                return sympy.Rational(sign * n, m)
            case "Float", [(sign, str(digits))] if len(digits) < 400:
                return sympy.Float(sign * float(digits))
            case "Float", [(sign, float(n) | int(n))]:
                return sympy.Float(sign * float(n))
        self.fail(f"the argument of {name} is not a number")

    def pair(self, formula: Formula) -> Any:
        match formula:
            case FunctionCall(
                function=Name(name="ExprCondPair" | "Tuple"), arguments=(value, condition), options=()
            ):
                pair = self.build(value), self.build(condition)
                self.check_kind("Piecewise", Kind.NUMBERS, [pair[0]])
                self.check_kind("Piecewise", Kind.BOOLEANS, [pair[1]])
                return pair
        self.fail("a case of Piecewise has no condition")

    def apply(self, name: str, functions: Sequence[SymbolicFunction], values: list[Any]) -> Any:
        """Call the first function in `functions` that accepts the types of `values`, and return its result.

        Raise ArchiveError if no function accepts them. `name` is the name in the error message.
        """
        from ts.export import sympy_functions as e

        function = next((f for f in functions if _fits(f.kind, values)), functions[-1])
        if not function.min_count <= len(values) <= function.max_count:
            self.fail(f"{name} has the wrong number of arguments")
        self.check_kind(name, function.kind, values)
        if function.name in ("Pow", "PowByNatural"):
            self.check_power(*values)
        return self.checked(e.CLASSES[function.name](*values))

    def check_kind(self, name: str, kind: Kind, values: list[Any]) -> None:
        """Raise ArchiveError if the operands of `name` are not of `kind`."""
        if not _fits(kind, values):
            expected = "numbers" if kind is Kind.FLOATS else kind.value
            self.fail(f"the arguments of {name} must be {expected}")

    def check_power(self, base: Any, exponent: Any) -> None:
        if not exponent.is_Integer:
            return
        bits = int(base).bit_length() * int(exponent) if base.is_Integer else 0
        if abs(exponent) > _MAX_POWER or bits > _MAX_BITS:
            self.fail("a power is too large")

    def checked(self, result: Any) -> Any:
        if result.is_Integer and int(result).bit_length() > _MAX_BITS:
            self.fail("a number is too large")
        # sympy combines nested powers. The combined exponent may exceed the limit, even if each operand does
        # not.
        if result.is_Pow and result.exp.is_Integer and abs(result.exp) > _MAX_POWER:
            self.fail("a power is too large")
        return result


def _fits(kind: Kind, values: list[Any]) -> bool:
    """Return True if a function of arguments of `kind` accepts `values`."""
    from ts.export import sympy_functions as e

    if any(e.is_truth(x) is not (kind is Kind.BOOLEANS) for x in values):
        return False
    return kind is not Kind.INTEGERS or all(x.is_integer for x in values)


_PRODUCTS: Final = {"CeilDiv"}.union(
    *([op.sign, *f.names_in_archives] for op in OPERATIONS if op.multiplies_terms for f in op.functions)
)


def _terms(formula: Formula) -> int:
    """Return an upper bound for the number of terms that the expansion of a formula has."""
    match formula:
        case (
            FunctionCall(function=Name(name=name), arguments=operands)
            | Operation(operator=name, operands=operands)
        ):
            each = [min(_terms(x), _MAX_TERMS + 1) for x in operands]
        case _:
            return 1
    if name in _PRODUCTS:
        return math.prod(each[:_MAX_NODES])
    if name in ("Pow", "PowByNatural", "**") and len(each) == 2:
        power = operands[1]
        if isinstance(power, FunctionCall) and power.arguments:
            power = power.arguments[0]
        n = power.value if isinstance(power, Constant) and type(power.value) is int else 1
        return int(each[0] ** min(n, _MAX_POWER))
    return sum(each)


def format_expression(expression: Any) -> str:
    """Format an expression in the syntax of archives."""
    from ts.export import sympy_functions as e
    from ts.export.sympy_import import sympy

    if expression.is_Symbol:
        assumptions = "".join(
            f", {name}=True"
            for name in ("positive", "nonnegative", "integer")
            if expression._assumptions_orig.get(name)
        )
        return f"Symbol({str(expression)!r}{assumptions})"
    if expression in (sympy.true, sympy.false):
        return "true" if expression == sympy.true else "false"
    if expression.is_Integer:
        return f"Integer({expression})"
    if expression.is_Rational:
        return f"Rational({expression.p}, {expression.q})"
    if expression.is_Float:
        return f"Float('{float(expression)!r}', precision=53)"
    _, function = e.FUNCTIONS.get(expression.func, (None, None))
    names = () if function is None else function.names_in_archives
    name = names[0] if names else type(expression).__name__
    return f"{name}({', '.join(map(format_expression, expression.args))})"


def expression_of(x: Any) -> Expression:
    """Encode a symbolic number as an expression with its example value."""
    kinds = {int: "as_int", bool: "as_bool", float: "as_float"}
    hint = x.node.hint
    return Expression(format_expression(x.node.expr), None if hint is None else Hint(kinds[type(hint)], hint))


def chosen(cls: Any, x: Any, plain: str) -> Any:
    """Encode a number as a union of class `cls`.

    The key is "as_expr" if the number is symbolic, else `plain`.
    """
    from ts._core.tensor.sym_types import SymNumber

    return cls("as_expr", expression_of(x)) if isinstance(x, SymNumber) else cls(plain, x)
