"""Lazy parsing of printed source files, whose definitions are parsed on first use.

Example:

    file = PrintedFile(source)
    file.definition("Net")              ast.ClassDef: bases and attributes
    file.methods("Net")                 [("forward", <function that returns its ast.FunctionDef>), ...]

Definitions are located by lines that begin with `class` and `def`. Source with another layout is parsed as a
whole.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from ts.frontend import parse
from ts.frontend.source_ranges import Ranges
from ts.ir.source import Source

Definition = ast.ClassDef | ast.FunctionDef

_MAX_LINES: Final = 4_000  # files with more lines are parsed as a whole, not one definition at a time
# Strings that a text contains if it must be parsed as a whole: a line that begins with `def` in such a text
# need not begin a definition, because it may be in a string or may continue the previous line
_UNUSUAL: Final = ('"""', "'''", "\\\n", "\r", "\f", "\t")
# The patterns for lines begin with a newline, because `re` finds a literal much faster than `^`.
_TOP: Final = re.compile(r"\n(?:(?:class|def) (\w+)|([^\s#]))")
_CLASS: Final = re.compile(r"class \w+(?:\(Module\))?:\n( +)")
_MEMBER: Final = r"\n{indent}(?:def (\w+)|[^\s#])"


class _SourceSection(NamedTuple):
    """Section of a source text: start and end offset, and number of preceding lines."""

    start: int
    end: int
    line: int


class PrintedFile:
    """Source file with lazily parsed definitions."""

    def __init__(self, source: Source) -> None:
        self.ranges = Ranges(source, whole_subscripts=True)
        self._source = source
        self._sections = _definitions(source.text)
        self._methods: dict[str, list[tuple[str, Callable[[], ast.FunctionDef]]]] = {}
        self._definitions_by_name: dict[str, Definition] = {}
        if self._sections is None:
            for node in parse.syntax_tree(source).body:
                self._enter(node)

    def definition(self, name: str) -> Definition | None:
        """Return the syntax tree of the class or function `name`, or None if the file does not define it.

        The tree of a lazily parsed class does not contain its methods."""
        section = None if self._sections is None else self._sections.pop(name, None)
        if section is not None:
            self._read(name, section)
        return self._definitions_by_name.get(name)

    def methods(self, name: str) -> list[tuple[str, Callable[[], ast.FunctionDef]]]:
        """Return (name, function that parses the method) pairs of a class.

        The list is empty before the first call of `definition(name)`.
        """
        return self._methods.get(name, [])

    def _enter(self, node: ast.stmt) -> None:
        if isinstance(node, ast.ClassDef):
            members = [member for member in node.body if isinstance(member, ast.FunctionDef)]
            self._methods[node.name] = [(member.name, partial(_same, member)) for member in members]
        if isinstance(node, Definition):
            self._definitions_by_name[node.name] = node

    def _read(self, name: str, section: _SourceSection) -> None:
        source_text = self._source.text[section.start : section.end]
        members = _members(source_text)
        if members is None:
            for node in parse.syntax_tree(self._source, source_text, section.line).body:
                self._enter(node)
            return
        indent, beginnings = members
        head = source_text[: beginnings[0][1]] + f"{indent}pass\n"
        self._enter(parse.syntax_tree(self._source, head, section.line).body[0])
        method_ends = [start for _, start in beginnings[1:]] + [len(source_text)]
        self._methods[name] = [
            (
                method,
                partial(
                    self._method, source_text[start:end], section.line + source_text.count("\n", 0, start)
                ),
            )
            for (method, start), end in zip(beginnings, method_ends, strict=True)
        ]

    def _method(self, source_text: str, line: int) -> ast.FunctionDef:
        """Parse the text of a method. An `if` is put before the text, because the method is indented."""
        block = parse.syntax_tree(self._source, f"if 1:\n{source_text}", line - 1).body[0]
        assert isinstance(block, ast.If) and isinstance(block.body[0], ast.FunctionDef)
        return block.body[0]


def _same(node: ast.FunctionDef) -> ast.FunctionDef:
    return node


def _definitions(source_text: str) -> dict[str, _SourceSection] | None:
    """Return the section of each definition by name.

    Return None if the text is too long or does not have the layout of printed source.
    """
    if source_text.count("\n") > _MAX_LINES or any(map(source_text.__contains__, _UNUSUAL)):
        return None
    beginnings = list(_TOP.finditer("\n" + source_text))  # also finds the first line
    if not beginnings or any(beginning[1] is None for beginning in beginnings):
        return None
    starts = [beginning.start() for beginning in beginnings]  # without the additional newline
    sections, line, previous_start = {}, 0, 0
    for beginning, start, end in zip(beginnings, starts, [*starts[1:], len(source_text)], strict=True):
        line += source_text.count("\n", previous_start, start)
        previous_start = start
        sections[beginning[1]] = _SourceSection(start, end, line)
    return sections


def _members(source_text: str) -> tuple[str, list[tuple[str, int]]] | None:
    """Return the indentation of a class body, and a (name, character offset) pair for each method.

    Return None if the class has no methods, or if another statement follows a method.
    """
    head = _CLASS.match(source_text)
    if head is None:
        return None
    methods = []
    pattern = re.compile(_MEMBER.format(indent=head[1]))
    for member in pattern.finditer(source_text, head.start(1) - 1):
        if member[1] is not None:
            methods.append((member[1], member.start() + 1))
        elif methods:
            return None
    return (head[1], methods) if methods else None
