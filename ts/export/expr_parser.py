"""Recursive descent parser (expression parser) of formulas in `.pt2` archives, such as sizes and conditions.

Input: the text of a formula. Output: a syntax tree. Each line shows a call and its result:

    parse("Add(Symbol('s0', integer=True), Integer(1))")       a FunctionCall with two arguments
    parse("L['x'].size()[0] >= 2*L['y'].size()[1]")            an Operation >= with two operands

The parser evaluates nothing, and limits the length and depth of a formula.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, NoReturn

from ts.errors import ArchiveError

_MAX_FORMULA_CHARS: Final = 1 << 14  # maximum length of a formula
_MAX_NESTING_DEPTH: Final = 60  # maximum depth of nested parentheses and calls
# maximum height of the syntax tree. A long sum has a high tree without nested parentheses.
_MAX_TREE_HEIGHT: Final = 150
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<text>'[^'\\]*'|\"[^\"\\]*\")|(?P<mark>\*\*|//|<<|>>|<=|>=|==|!=|[-+*/%<>()\[\],.=&|^])|(?P<end>$))",
    re.ASCII,
)
_COMPARISONS: Final = frozenset(("<", "<=", ">", ">=", "==", "!="))


@dataclass(slots=True, frozen=True)
class Constant:
    """Number or string literal."""

    value: Any


@dataclass(slots=True, frozen=True)
class Name:
    """Identifier in a formula, which the caller of the parser resolves."""

    name: str


@dataclass(slots=True, frozen=True)
class FunctionCall:
    """Call expression: callee, arguments, keyword arguments."""

    function: Formula
    arguments: tuple[Formula, ...]
    options: tuple[tuple[str, Formula], ...]


@dataclass(slots=True, frozen=True)
class Subscript:
    """Subscript expression x[key]."""

    of: Formula
    key: Formula


@dataclass(slots=True, frozen=True)
class Attribute:
    """Attribute expression x.name."""

    of: Formula
    name: str


@dataclass(slots=True, frozen=True)
class Operation:
    """Operator expression: one or two operands, or condition and alternatives of `if`."""

    operator: str
    operands: tuple[Formula, ...]


class Source(NamedTuple):
    """Location of a symbol in the arguments: a dimension of a tensor, or a number.

    If `value` is the size or number at this location, the symbol equals `(value - offset) // factor`.
    Formulas of guards contain locations in place of symbols.
    """

    name: str  # expression that denotes the argument, such as x or batch['a'][0]
    dim: int | None
    factor: int = 1  # value == factor * symbol + offset
    offset: int = 0
    leaf: int = 0  # index of the argument among the flattened arguments

    @property
    def code(self) -> str:
        """Expression of the size in archives, as in PyTorch: `L['x'].size()[0]`."""
        end = next((i for i, c in enumerate(self.name) if not (c.isalnum() or c == "_")), len(self.name))
        return str(self._replace(name=f"L[{self.name[:end]!r}]{self.name[end:]}"))

    @property
    def size(self) -> Source:
        """Location of the size or number itself: `factor` is 1 and `offset` is 0."""
        return self._replace(factor=1, offset=0)

    @property
    def where(self) -> str:
        """Expression of the size or number in messages: `L['batch']['a'][0].size()[0]`."""
        return self.size.code

    def read(self, leaves: list[Any]) -> Any:
        """Return the value of the symbol for the argument leaves of a call."""
        leaf = leaves[self.leaf]
        value = leaf if self.dim is None else leaf.size()[self.dim]
        return value if self.factor == 1 and self.offset == 0 else (value - self.offset) // self.factor

    def __str__(self) -> str:
        at = self.name if self.dim is None else f"{self.name}.size()[{self.dim}]"
        if self.offset:
            at = f"({at} {'-' if self.offset > 0 else '+'} {abs(self.offset)})"
        return at if self.factor == 1 else f"{at} // {self.factor}"


Formula = Constant | Name | FunctionCall | Subscript | Attribute | Operation | Source


def _operands(formula: Formula) -> tuple[Formula, ...]:
    match formula:
        case Operation(operands=operands):
            return operands
        case FunctionCall(function=function, arguments=arguments, options=options):
            return (function, *arguments, *(value for _, value in options))
        case Subscript(of=of, key=key):
            return (of, key)
        case Attribute(of=of):
            return (of,)
    return ()


def parse(source: str) -> Formula:
    """Parse a formula to a syntax tree. Raise ArchiveError if the formula is malformed."""
    return _Parser(source).parse()


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        if len(source) > _MAX_FORMULA_CHARS:
            self.fail("it is too long")
        self.at = 0
        self.depth = 0
        self.kind = self.token = ""
        self.advance()

    def fail(self, why: str) -> NoReturn:
        raise ArchiveError(f"the formula {self.source[:80]!r} cannot be parsed: {why}")

    def advance(self) -> str:
        """Read the next token into `token`, and return the token before it."""
        before = self.token
        match = _TOKEN.match(self.source, self.at)
        if match is None:
            self.fail(f"unexpected character at position {self.at}")
        self.kind = match.lastgroup or ""
        self.token = match[self.kind]
        self.at = match.end()
        return before

    def accept_token(self, *marks: str) -> str:
        """Advance and return the current token if it is in `marks`. Otherwise, return ""."""
        if self.kind in ("mark", "name") and self.token in marks:
            return self.advance()
        return ""

    def expect(self, mark: str) -> None:
        if not self.accept_token(mark):
            self.fail(f"{mark!r} is missing before {self.token!r}")

    def parse(self) -> Formula:
        formula = self.choice()
        if self.kind != "end":
            self.fail(f"unexpected {self.token!r} after the end")
        level = [formula]
        for _ in range(_MAX_TREE_HEIGHT):
            level = [operand for x in level for operand in _operands(x)]
            if not level:
                return formula
        self.fail("it is too large")

    # ---- precedence levels, from weakest to strongest binding

    def choice(self) -> Formula:
        formula = self.disjunction()
        if self.accept_token("if"):
            condition = self.disjunction()
            self.expect("else")
            self.depth += 1
            if self.depth > _MAX_NESTING_DEPTH:
                self.fail("it is nested too deeply")
            formula = Operation("if", (condition, formula, self.choice()))
            self.depth -= 1
        return formula

    def disjunction(self) -> Formula:
        self.depth += 1
        if self.depth > _MAX_NESTING_DEPTH:
            self.fail("it is nested too deeply")
        formula = self.conjunction()
        while self.accept_token("or"):
            formula = Operation("or", (formula, self.conjunction()))
        self.depth -= 1
        return formula

    def conjunction(self) -> Formula:
        formula = self.negation()
        while self.accept_token("and"):
            formula = Operation("and", (formula, self.negation()))
        return formula

    def negation(self) -> Formula:
        count = 0
        while self.accept_token("not"):
            count += 1
        formula = self.comparison()
        for _ in range(count % 2 or 2 * (count > 0)):
            formula = Operation("not", (formula,))
        return formula

    def comparison(self) -> Formula:
        formula = self.bits()
        if (operator := self.accept_token(*_COMPARISONS)) != "":
            formula = Operation(operator, (formula, self.bits()))
            if self.token in _COMPARISONS:
                self.fail("chained comparisons are not supported")
        return formula

    def bits(self) -> Formula:
        formula = self.sum()
        while (operator := self.accept_token("&", "|", "^", "<<", ">>")) != "":
            formula = Operation(operator, (formula, self.sum()))
        return formula

    def sum(self) -> Formula:
        formula = self.product()
        while (operator := self.accept_token("+", "-")) != "":
            formula = Operation(operator, (formula, self.product()))
        return formula

    def product(self) -> Formula:
        formula = self.signed()
        while (operator := self.accept_token("*", "/", "//", "%")) != "":
            formula = Operation(operator, (formula, self.signed()))
        return formula

    def signed(self) -> Formula:
        negative = False
        while (sign := self.accept_token("-", "+")) != "":
            negative ^= sign == "-"
        formula = self.power()
        return Operation("neg", (formula,)) if negative else formula

    def power(self) -> Formula:
        formula = self.primary()
        if self.accept_token("**"):
            self.depth += 1
            if self.depth > _MAX_NESTING_DEPTH:
                self.fail("it is nested too deeply")
            formula = Operation("**", (formula, self.signed()))
            self.depth -= 1
        return formula

    def primary(self) -> Formula:
        formula = self.atom()
        steps = 0
        while (mark := self.accept_token("(", "[", ".")) != "":
            steps += 1
            if steps > _MAX_NESTING_DEPTH:
                self.fail("it is nested too deeply")
            if mark == "(":
                formula = self.call(formula)
            elif mark == "[":
                formula = Subscript(formula, self.choice())
                self.expect("]")
            elif self.kind == "name":
                formula = Attribute(formula, self.advance())
            else:
                self.fail("expected a name after a dot")
        return formula

    def call(self, function: Formula) -> Formula:
        arguments: list[Formula] = []
        options: list[tuple[str, Formula]] = []
        while not self.accept_token(")"):
            argument = self.choice()
            if isinstance(argument, Name) and self.accept_token("="):
                options.append((argument.name, self.choice()))
            else:
                arguments.append(argument)
            if self.token != ")":
                self.expect(",")
        return FunctionCall(function, tuple(arguments), tuple(options))

    def atom(self) -> Formula:
        kind = self.kind
        if kind == "number":
            token = self.advance()
            return Constant(int(token) if token.isdecimal() and len(token) < 40 else self.float(token))
        if kind == "text":
            return Constant(self.advance()[1:-1])
        if kind == "name":
            token = self.advance()
            return Constant(token == "True") if token in ("True", "False") else Name(token)
        if self.accept_token("("):
            formula = self.choice()
            self.expect(")")
            return formula
        self.fail(f"expected a value before {self.token!r}")

    def float(self, token: str) -> float:
        if token.isdecimal():
            self.fail("a number is too long")
        return float(token)
