"""Syntax trees of type comments, in the notation of PyTorch's `parse_type_comment`.

    >>> print(parse_type_comment("# type: (int) -> Tensor"))
    (decl
      (list
        (param
          (ident )
          (option (variable (ident int)))
          (option)
          (False)))
      (option (variable (ident Tensor))))
    <BLANKLINE>
"""

from __future__ import annotations

import re
from typing import Final

from ts.errors import ParseError

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<ident>[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<arrow>->)|(?P<sign>\.\.\.|\S))"
)
_MAX_LINE_LENGTH: Final = 39  # maximum length of a tree on one line, including its indentation

Tree = tuple["str | Tree", ...]


class TypeComment:
    """Parsed declaration of a type comment."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def __str__(self) -> str:
        return "\n".join(_lines(self.tree, 0)) + "\n"

    def __repr__(self) -> str:
        return f"<TypeComment {_flat(self.tree)}>"


def parse_type_comment(comment: str) -> TypeComment:
    """Return the syntax tree of a comment such as ``# type: (int, Tensor) -> Tensor``."""
    return TypeComment(_Parser(comment).declaration())


class _Parser:
    def __init__(self, comment: str) -> None:
        self.source = comment
        mark = re.match(r"\s*# type:", comment)
        self.at = mark.end() if mark else 0
        if mark is None:
            raise self.unexpected("type comment")

    def declaration(self) -> Tree:
        parameters = self.sequence("(", ")")
        result = (self.type(),) if self.accept("arrow") else ()
        parameter_trees = [
            ("param", ("ident", ""), ("option", parameter), ("option",), ("False",))
            for parameter in parameters
        ]
        return "decl", ("list", *parameter_trees), ("option", *result)

    def sequence(self, opening: str, closing: str) -> list[Tree]:
        """Read a comma-separated list of types between the brackets `opening` and `closing`."""
        self.expect(opening)
        types: list[Tree] = []
        while not self.accept(closing):
            if types:
                self.expect(",", or_else=closing)
                if self.accept(closing):
                    break
            types.append(("starred", self.type()) if self.accept("*") else self.type())
        return types

    def type(self) -> Tree:
        if self.accept("..."):
            return ("dots",)
        if self.accept("("):
            self.expect(")")
            return ("tuple-literal", ("list",))
        if literal := self.accept("number"):
            return ("const", literal)
        name = self.expect("ident")
        tree: Tree = ("None",) if name == "None" else ("variable", ("ident", name))
        while True:
            if self.accept("."):
                tree = (".", tree, ("ident", self.expect("ident")))
            elif self.peek()[1] == "[":
                tree = ("subscript", tree, ("list", *self.sequence("[", "]")))
            else:
                return tree

    def peek(self) -> tuple[str, str, int]:
        """Return kind, text and end offset of the next token. The kind is "eof" after the last token."""
        match = _TOKEN.match(self.source, self.at)
        if match is None or match["sign"] == "#":
            return "eof", "", self.at
        kind = match.lastgroup or "sign"
        return (match[kind] if kind == "sign" else kind), match[kind], match.end()

    def accept(self, token: str) -> str:
        kind, lexeme, end = self.peek()
        if kind != token:
            return ""
        self.at = end
        return lexeme

    def expect(self, token: str, or_else: str = "") -> str:
        lexeme = self.accept(token)
        if not lexeme:
            raise self.unexpected(or_else or token)
        return lexeme

    def unexpected(self, expected: str) -> ParseError:
        kind = self.peek()[0]
        return ParseError(f"expected {expected} but found '{kind}' here", self.source, self.at)


def _flat(tree: Tree) -> str:
    return f"({' '.join(child if isinstance(child, str) else _flat(child) for child in tree)})"


def _lines(tree: Tree, depth: int) -> list[str]:
    """Return the lines of a tree at nesting depth `depth`."""
    flat = _flat(tree)
    if 2 * depth + len(flat) <= _MAX_LINE_LENGTH or all(isinstance(child, str) for child in tree):
        return [flat]
    kind, *children = tree
    lines = [f"({kind}"]
    for child in children:
        inner = [child] if isinstance(child, str) else _lines(child, depth + 1)
        lines += [f"  {line}" for line in inner]
    lines[-1] += ")"
    return lines
