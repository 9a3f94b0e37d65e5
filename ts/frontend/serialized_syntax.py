"""Parser for printed source, which contains names that Python's grammar does not allow.

Input: printed source. Output: Python's syntax tree with the original names. Examples of such names:

    ^tally()(xs, 2)                    a Python function: `^tally()` returns it, the second call runs it
    ^<lambda>()(x)                     a Python function without a name
    __torch__.programs.elif.sign       an attribute that is a keyword
    Tuple[]                            the type of () in old archives

Before parsing, each name is replaced by an identifier of equal length, so that source locations stay valid.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator
from typing import Final

from ts.frontend import python_syntax

_FOREIGN: Final = re.compile(
    r'"(?:[^"\\\n]|\\.)*"'  # a string literal, in which nothing is replaced
    r"|(?P<python>\^<?\w+>?)"
    r"|(?P<empty>\bTuple\[\])"
    rf"|(?<=\.)(?P<attribute>{'|'.join(keyword.kwlist)})\b"
)
_KEYWORD_ATTRIBUTE: Final = re.compile(rf"\.(?:{'|'.join(keyword.kwlist)})\b")


def parse(source_text: str) -> ast.Module:
    """Parse printed source to a syntax tree. Raise SyntaxError like `ast.parse`."""
    mangled_names: list[re.Match[str]] = []
    if _may_have_foreign_names(source_text):
        mangled_names = [match for match in _FOREIGN.finditer(source_text) if match.lastgroup is not None]
    if not mangled_names:
        return python_syntax.module(source_text)
    characters = list(source_text)
    for match in mangled_names:
        characters[match.start() : match.end()] = "_" + re.sub(r"\W", "_", match[0][1:])
    tree = python_syntax.module("".join(characters))
    _restore(tree, dict(_foreign_name_positions(source_text, mangled_names)))
    return tree


def _may_have_foreign_names(source_text: str) -> bool:
    """Return whether a text, possibly in a string literal, contains a name that Python does not allow.

    This is much faster than `_FOREIGN`, which must find the string literals.
    """
    if "^" in source_text or "Tuple[]" in source_text:
        return True
    return _KEYWORD_ATTRIBUTE.search(source_text) is not None


def _foreign_name_positions(
    source_text: str, mangled_names: list[re.Match[str]]
) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield (end position, name) for each name that Python does not allow. Positions are (line, column)."""
    for match in mangled_names:
        line_start = source_text.rfind("\n", 0, match.end()) + 1
        column = len(source_text[line_start : match.end()].encode())
        yield (source_text.count("\n", 0, match.end()) + 1, column), match[0]


def _restore(tree: ast.Module, names: dict[tuple[int, int], str]) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            name = names.get((node.end_lineno or 0, node.end_col_offset or 0))
            if name is None:
                continue
            if isinstance(node, ast.Name):
                node.id = name
            else:
                node.attr = name
