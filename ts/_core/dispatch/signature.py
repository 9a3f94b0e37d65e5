"""Operator signatures from schema text: parameters, kinds, written arguments.

Input: a schema in PyTorch's syntax. Output: a `Signature`, for binding Python arguments and wrapping results.
`ts.ir.schema` is a parser of all parts of a schema.

    >>> s = signature("aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)")
    >>> s.name, s.overload, [p.name for p in s.parameters], s.returns[0].alias_of
    ('aten::add_', 'Tensor', ['self', 'other', 'alpha'], 0)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any

from ts.dtypes import DEFAULT_NAMES

# This module uses no regular expressions, because the first calls of operators would have to compile them.

_TYPE_PARAMETERS = ("Future", "RRef", "Await")  # their brackets contain a type, as in "Future(t)"
_ALIAS_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789*|")


class Parameter:
    """One parameter: `int[2]? stride=None` has kind "int[]" and size 2, and is optional.

    Signatures share equal parameters, so the attributes must not be changed.
    """

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
    declarations = _split(arguments)
    count = len(declarations) - declarations.count("*") - declarations.count("...")
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
    written: dict[str, int] = {}  # alias set -> index of the parameter that is written
    read: dict[str, int] = {}  # alias set -> index of the first parameter that is only read
    for i, parameter in enumerate(parameters):
        if parameter.written:
            written[parameter.alias] = i
        elif parameter.alias:
            read.setdefault(parameter.alias, i)
    returns = tuple(_return(declaration, written, read) for declaration in _split_results(results))
    return Signature(name, overload, tuple(parameters), returns, vararg)


def _split_schema(schema: str) -> tuple[str, str, str]:
    """Return the qualified name, the text of the parameters and the text of the results."""
    qualified_name, _, rest = schema.partition("(")
    if "'" not in rest and '"' not in rest:
        arguments, arrow, results = rest.partition(") -> ")
        if arrow and arguments.count("(") == arguments.count(")"):
            return qualified_name, arguments, results.strip()
    depth = 1
    for i, c in _brackets_and_commas(rest):
        depth += (c == "(") - (c == ")")
        if not depth:
            return qualified_name, rest[:i], rest[i + 1 :].partition("->")[2].strip()
    raise ValueError(f"unbalanced parentheses in schema: {schema}")


def _split(declarations: str) -> list[str]:
    """Split a parameter or result list at the commas that are outside of brackets and strings."""
    if "'" not in declarations and '"' not in declarations:
        elements = declarations.split(", ")
        if all(map(_is_balanced, elements)):
            return [stripped for element in elements if (stripped := element.strip())]
    elements = []
    depth = start = 0
    for i, c in _brackets_and_commas(declarations):
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            elements.append(declarations[start:i].strip())
            start = i + 1
    last = declarations[start:].strip()
    return [*elements, last] if last else elements


def _is_balanced(declaration: str) -> bool:
    """Return whether the declaration has no comma and an equal number of opening and closing brackets."""
    return (
        "," not in declaration
        and declaration.count("(") == declaration.count(")")
        and declaration.count("[") == declaration.count("]")
    )


def _brackets_and_commas(declarations: str) -> Iterator[tuple[int, str]]:
    """Yield (index, character) of the brackets and commas outside of strings."""
    quote = ""
    for i, c in enumerate(declarations):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "()[],":
            yield i, c


def _split_results(results: str) -> list[str]:
    if results.startswith("(") and results.endswith(")"):
        return _split(results[1:-1])
    return [results] if results and results != "..." else []


@cache  # many operators have equal declarations, such as "Tensor self"
def _parameter(declaration: str, keyword_only: bool) -> Parameter:
    declared, has_default, default = declaration.partition("=")
    declared = declared.strip()
    type_text, _, name = declared.rpartition(" ")
    kind, alias, written = _unmarked(type_text)
    optional = kind.endswith("?")
    kind = kind[:-1] if optional else kind
    size = None
    if "[" in kind:
        item, _, length = kind.removesuffix("]").rpartition("[")
        if length.isdigit():
            kind, size = f"{item}[]", int(length)
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
    """Return (type without alias annotation, alias set, whether it is written).

    Alias annotations are "(a!)" in "Tensor(a!)" and "t[](a!)", and "(a -> *)" in "Tensor(a -> *)".
    """
    start = type_text.find("(")
    while start >= 0:
        end = type_text.find(")", start)
        alias, _, after = type_text[start + 1 : end].partition(" -> ")
        name = alias.removesuffix("!")
        is_alias = name and _ALIAS_CHARACTERS.issuperset(name) and _ALIAS_CHARACTERS.issuperset(after)
        if is_alias and not type_text.endswith(_TYPE_PARAMETERS, 0, start):
            return type_text[:start] + type_text[end + 1 :], name, name != alias
        start = type_text.find("(", start + 1)
    return type_text, "", False


def _default(literal: str, kind: str) -> Any:
    literal = literal.strip()
    if literal in DEFAULT_NAMES:
        return DEFAULT_NAMES[literal]
    if literal in ("cpu", "cuda"):
        return literal
    try:
        value: Any = int(literal)
    except ValueError:
        value = ast.literal_eval(literal)
    return float(value) if kind == "float" else value
