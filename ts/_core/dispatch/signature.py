"""Operator signatures from schema text: parameters, kinds, written arguments.

Input: a schema in PyTorch's syntax. Output: a `Signature`, for binding Python arguments and wrapping results.
`ts.ir.schema` is a parser of all parts of a schema.

    >>> s = signature("aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)")
    >>> s.name, s.overload, [p.name for p in s.parameters], s.returns[0].alias_of
    ('aten::add_', 'Tensor', ['self', 'other', 'alpha'], 0)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from ts.dtypes import DEFAULT_NAMES

# Matches alias annotations, such as "(a!)" in "Tensor(a!)" and "t[](a!)", or "(a -> *)" in "Tensor(a -> *)".
# It does not match the "(t)" of "Future(t)", which is a type parameter.
_ALIAS = r"(?<!Future)(?<!RRef)(?<!Await)\(([a-z*|][a-z0-9*|]*)(!?)(?: -> [a-z0-9*|]+)?\)"
_STRUCTURE = r"""'[^']*'|"[^"]*"|[()\[\],]"""  # strings come first, so that brackets in strings do not match
_SIZED = r"^(.*)\[(\d+)\](\??)$"


class Parameter:
    """One parameter: `int[2]? stride=None` has kind "int[]" and size 2, and is optional."""

    def __init__(
        self,
        name: str,
        kind: str,
        optional: bool,
        size: int | None,
        default: Any,
        has_default: bool,
        keyword_only: bool,
        alias: str,
        written: bool,
    ) -> None:
        self.name = name
        self.kind = kind
        self.optional = optional
        self.size = size
        self.default = default
        self.has_default = has_default
        self.keyword_only = keyword_only
        self.alias = alias  # name of the alias set, such as "a" in Tensor(a!), or "" if there is none
        self.written = written


class Return:
    """Result of an operator: its type, name and aliasing.

    `alias_of` is the number of the written parameter that the operator returns. `view_of` is the number of
    the parameter of which the result may be a view. Both are -1 if there is no such parameter.
    """

    def __init__(self, kind: str, alias_of: int, name: str, view_of: int = -1) -> None:
        self.kind = kind
        self.alias_of = alias_of
        self.name = name
        self.view_of = view_of


class Signature:
    """The parts of an operator's schema that calls need: name, overload, parameters and results."""

    def __init__(
        self,
        name: str,
        overload: str,
        parameters: tuple[Parameter, ...],
        returns: tuple[Return, ...],
        vararg: bool,
    ) -> None:
        self.name = name
        self.overload = overload
        self.parameters = parameters
        self.returns = returns
        self.vararg = vararg


def arity(schema: str) -> tuple[str, str, int, int]:
    """Return (name, overload, number of arguments, number of results) without parsing types."""
    qualified_name, arguments, results = _split_schema(schema)
    name, _, overload = qualified_name.partition(".")
    count = sum(1 for declaration in _split(arguments) if declaration not in ("*", "..."))
    return name, overload, count, len(_split_results(results))


def signature(schema: str) -> Signature:
    """Parse the schema text of an operator."""
    qualified_name, arguments, results = _split_schema(schema)
    name, _, overload = qualified_name.partition(".")
    parameters: list[Parameter] = []
    keyword_only = vararg = False
    for declaration in _split(arguments):
        if declaration == "*":
            keyword_only = True
        elif declaration == "...":
            vararg = True
        else:
            parameters.append(_parameter(declaration, keyword_only))
    written = {p.alias: i for i, p in enumerate(parameters) if p.written}
    read = {p.alias: i for i, p in reversed([*enumerate(parameters)]) if p.alias and not p.written}
    returns = tuple(_return(declaration, written, read) for declaration in _split_results(results))
    return Signature(name, overload, tuple(parameters), returns, vararg)


def _split_schema(schema: str) -> tuple[str, str, str]:
    qualified_name, _, rest = schema.partition("(")
    depth = 1
    for i, c in _brackets_and_commas(rest):
        depth += (c == "(") - (c == ")")
        if not depth:
            return qualified_name, rest[:i], rest[i + 1 :].partition("->")[2].strip()
    raise ValueError(f"unbalanced parentheses in schema: {schema}")


def _split(declarations: str) -> list[str]:
    """Split a parameter or result list at the commas that are outside of brackets and strings."""
    elements: list[str] = []
    depth = start = 0
    for i, c in _brackets_and_commas(declarations):
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            elements.append(declarations[start:i].strip())
            start = i + 1
    last = declarations[start:].strip()
    return [*elements, last] if last else elements


def _brackets_and_commas(declarations: str) -> Iterator[tuple[int, str]]:
    """Yield (index, character) of the brackets and commas outside of strings."""
    for match in re.finditer(_STRUCTURE, declarations):
        if len(match[0]) == 1:
            yield match.start(), match[0]


def _split_results(results: str) -> list[str]:
    if results.startswith("(") and results.endswith(")"):
        return _split(results[1:-1])
    return [results] if results and results != "..." else []


def _parameter(declaration: str, keyword_only: bool) -> Parameter:
    declared, has_default, default = declaration.partition("=")
    declared = declared.strip()
    type_text, _, name = declared.rpartition(" ")
    kind, alias, written = _unmarked(type_text)
    optional = kind.endswith("?")
    kind = kind[:-1] if optional else kind
    size = None
    if "[" in kind and (sized := re.match(_SIZED, kind)):
        kind, size = f"{sized[1]}[]", int(sized[2])
    value = _default(default, kind) if has_default else None
    if size is not None and isinstance(value, int):
        value = [value] * size
    return Parameter(
        name,
        kind.replace("SymInt", "int"),
        optional,
        size,
        value,
        bool(has_default),
        keyword_only,
        alias,
        written,
    )


def _return(declaration: str, written: dict[str, int], read: dict[str, int]) -> Return:
    kind, alias, marked = _unmarked(declaration)
    name = ""
    if kind[-1] not in ")]?" and " " in kind:  # such as "Tensor values"; types with commas contain blanks too
        kind, _, name = kind.rpartition(" ")
    view_of = -1 if marked else next((read[a] for a in alias.split("|") if a in read), -1)
    return Return(kind.replace("SymInt", "int"), written.get(alias, -1) if marked else -1, name, view_of)


def _unmarked(type_text: str) -> tuple[str, str, bool]:
    match = re.search(_ALIAS, type_text) if "(" in type_text else None
    if match is None:
        return type_text, "", False
    return type_text[: match.start()] + type_text[match.end() :], match[1], match[2] == "!"


def _default(literal: str, kind: str) -> Any:
    literal = literal.strip()
    if literal in DEFAULT_NAMES:
        return DEFAULT_NAMES[literal]
    if literal in ("cpu", "cuda"):
        return literal
    value = ast.literal_eval(literal)
    return float(value) if kind == "float" else value
