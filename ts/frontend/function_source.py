"""Extraction of a live function's source text from its file.

For example, `source_of_function(f)` returns:

    FunctionSource("def f(x):\\n    return x + 1\\n", ..., "program.py", first_line=7)

This module does not import the compiler, so that lookups in the code cache are fast.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterator
from textwrap import dedent
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

from ts.frontend import python_syntax

if TYPE_CHECKING:
    from ts.ir.source import Source


class FunctionSource:
    """Source text of a live function, including decorators, with its file name and first line."""

    __slots__ = ("dedented", "filename", "first_line", "text")

    def __init__(self, source_text: str, filename: str, first_line: int) -> None:
        self.text = source_text
        self.dedented = dedent(source_text)
        self.filename = filename
        self.first_line = first_line

    def source(self) -> Source:
        """Return the source text with file name and first line, for error messages."""
        from ts.ir.source import Source

        indent = len(self.text.split("\n", 1)[0]) - len(self.dedented.split("\n", 1)[0])
        return Source(self.text, self.filename, self.first_line, indent)


_NO_SOURCE_HINT = (
    "Hint: define the function in a file or notebook, or compile a string: ts.jit.CompilationUnit(source)"
)


def source_of_function(function: FunctionType) -> FunctionSource:
    """Return the source text of a live function. Raise OSError if it is unavailable."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        error = OSError(
            f"Can't get source for {function}. TorchScript requires source access in order to carry out "
            "compilation, make sure original .py files are available."
        )
        error.add_note(_NO_SOURCE_HINT)
        raise error
    block = _block(lines[code.co_firstlineno - 1 :], code)
    return FunctionSource("".join(_align(block)), code.co_filename, code.co_firstlineno)


def _block(lines: list[str], code: CodeType) -> list[str]:
    """Return the source lines of the function that starts at `lines[0]`, as `inspect.getblock` does.

    `inspect.getblock` is called only if this function fails, because it needs Python's tokenizer, whose
    regular expression takes milliseconds to compile.
    """
    column = _column(lines[0])
    # A definition contains the lines of all instructions in its code, so its last line is at `stop` or later.
    stop = max(_lines_of(code)) - code.co_firstlineno + 1
    while stop < len(lines) and (_is_comment(lines[stop]) or _column(lines[stop]) > column):
        stop += 1
    try:
        tree = python_syntax.module("if True:\n" * (column > 0) + "".join(lines[:stop]))
    # The text is nested too deeply or is incomplete, for example because `stop` is in a multi-line string.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return inspect.getblock(lines)
    block = tree.body[0].body if column > 0 and isinstance(tree.body[0], ast.If) else tree.body
    if len(block) != 1 or not isinstance(block[0], ast.FunctionDef | ast.AsyncFunctionDef):
        return inspect.getblock(lines)
    end = (block[0].end_lineno or 0) - (column > 0)
    body_column = block[0].body[0].col_offset
    comments = (i + 1 for i in range(end, stop) if _is_comment(lines[i]) and _column(lines[i]) >= body_column)
    return lines[: max(comments, default=end)]


def _lines_of(code: CodeType) -> Iterator[int]:
    """Yield the line numbers of the instructions of a code object and of the code objects nested in it."""
    yield code.co_firstlineno
    for _, _, line in code.co_lines():
        if line is not None:
            yield line
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines_of(constant)


def _column(line: str) -> float:
    """Return the indentation of a line, or infinity for a blank line."""
    indentation = len(line) - len(line.lstrip())
    return indentation if indentation < len(line) else float("inf")


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _align(lines: list[str]) -> list[str]:
    """Prepend the indentation of the `def` line to each line that does not begin with this indentation.

    Such lines are comments and parts of multi-line strings.
    """
    definition = next((line for line in lines if line.lstrip().startswith(("def", "async"))), None)
    if definition is None:
        return lines
    indentation = definition[: len(definition) - len(definition.lstrip())]
    return [line if line.startswith(indentation) else indentation + line for line in lines]
