"""A stranger's program: compiled, shown and called.

In: its text, and what is to be called, `collatz(27)`.  Out: plain data:

    {"functions": [{"name", "schema", "graph", "optimised", "bytecode"}], "result", "output", "error",
     "seconds"}

Graphs and bytecode are rows, `[text, line]`, with the line of the program that each is from, or 0.  The
call is text of the scripted language as well.  Nothing of either runs as Python: see `ts.serve.sandbox_resolver`.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import time
import warnings
from collections.abc import Iterable
from typing import Any, Final

from ts._core.value.turns import my_turn
from ts.errors import FrontendError, LimitExceeded, ScriptRuntimeError
from ts.frontend import python_syntax
from ts.ir.graph import Graph
from ts.ir.print import to_pieces
from ts.jit.scripting import CompilationUnit
from ts.runtime.executor import runs
from ts.runtime.function import ScriptFunction
from ts.runtime.limits import limits
from ts.serve.sandbox_resolver import StrangersNames, imported

Row = tuple[str, int]
Report = dict[str, Any]
LONGEST: Final = 64 << 10  # characters of a program
_MOST_SHOWN: Final = 64 << 10  # characters of what it prints, of its result, of an error
_MOST_ROWS: Final = 5_000  # of a graph or of bytecode
_TRACE: Final = re.compile(r'^  File "<string>", line (\d+), in (\S+)$', re.MULTILINE)
_PLACE: Final = re.compile(r"# <string>:(\d+):\d+ ")


class Refused(Exception):
    """The program cannot even be tried; the message says why, `line` where."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def report(text: str, call: str, *, seconds: float, bytes: int) -> Report:
    """Compile, show and call."""
    program = Program()
    found: Report = {"functions": [], "result": None, "output": "", "error": None, "seconds": None}
    output = _Output()
    streams = contextlib.redirect_stdout(output), contextlib.redirect_stderr(output)
    with streams[0], streams[1], warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: output.warn(message)
        try:
            with limits(seconds=seconds, bytes=bytes):
                program.read(text)
                found["functions"] = [_shown(function, program.text) for function in program.get_functions()]
                if call.strip():
                    function = program.calling(call)
                    function.bytecode  # noqa: B018 -- lowered before the clock starts
                    start = time.perf_counter()
                    result = function()
                    found["seconds"] = time.perf_counter() - start
                    found["result"] = _cut(repr(result))
        except Exception as error:
            found["error"] = _error(error, program)
    found["output"] = output.getvalue()
    return found


class Program(CompilationUnit):
    """Functions and classes of a text, and calls of them."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.called = ""  # what errors say the call is
        self._imported: dict[str, object] = {}

    def read(self, text: str) -> None:
        """Compile the text."""
        self.text = self._without_imports(text)
        self._compile(self.text)

    def calling(self, call: str) -> ScriptFunction:
        """A function that returns the value of an expression."""
        try:
            tree = ast.parse(call.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise Refused("the call must be one expression, such as f(3)") from None
        name = "call"
        while name in self._functions or name in call:
            name += "_"
        self.called = name
        self._compile(f"def {name}():\n    return {ast.unparse(tree)}\n")
        return self._functions.pop(name)

    def _compile(self, text: str) -> None:
        with my_turn():
            self._define(text, StrangersNames(self._functions, self._classes, self._imported))

    def _without_imports(self, text: str) -> str:
        """The text with blanks for what is imported at its top, where that is known anyway."""
        if len(text) > LONGEST:
            raise Refused(f"the program has {len(text):,} characters; {LONGEST:,} are the most")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        try:
            statements = python_syntax.module(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return text  # the compiler says what is wrong, and where
        for node in statements:
            for each in ast.walk(node):
                if isinstance(each, ast.Name) and each.id == "breakpoint":
                    raise Refused("there is no debugger here for breakpoint()", each.lineno)
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            try:
                self._imported.update(imported(node))
            except (KeyError, AttributeError):
                message = (
                    f"programs here import parts of torch, ts, math and typing, not: {ast.unparse(node)}"
                )
                raise Refused(message, node.lineno) from None
            for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[number] = ""
        return "\n".join(lines)


# ---- what is shown -----------------------------------------------------------------------------------


def _shown(function: ScriptFunction, text: str) -> Report:
    return {
        "name": function.name,
        "schema": str(function.schema),
        "graph": _graph_rows(function.graph, text),
        "optimised": _graph_rows(runs(function), text),
        "bytecode": _bytecode_rows(function.bytecode),
    }


def _graph_rows(graph: Graph, text: str) -> list[Row]:
    pieces = to_pieces(graph, show_ranges=False)
    return _most((piece.rstrip("\n"), _line(node and node.range, text)) for piece, node in pieces)


def _bytecode_rows(text: str) -> list[Row]:
    def rows() -> Iterable[Row]:
        line = 0
        for each in text.rstrip("\n").split("\n"):
            if each.startswith("# "):
                place = _PLACE.match(each)
                line = int(place[1]) if place else 0
            yield each, line if each else 0

    return _most(rows())


def _most(rows: Iterable[Row]) -> list[Row]:
    found: list[Row] = []
    for row in rows:
        if len(found) == _MOST_ROWS:
            found.append(("...", 0))
            break
        found.append((_cut(row[0], 2_000), row[1]))
    return found


def _line(range: Any, text: str) -> int:
    """The line of the program; 0 for a place that is not in it."""
    return int(range.line) if range is not None and range.source.text == text else 0


def _error(error: Exception, program: Program) -> Report:
    found: Report = {"kind": type(error).__name__, "message": _cut(str(error)), "text": "", "line": 0}
    match error:
        case Refused():
            found.update(kind="Refused", line=error.line)
        case FrontendError():
            found.update(message=error.message, text=_cut(str(error)), line=_line(error.range, program.text))
        case ScriptRuntimeError() | LimitExceeded():
            message = error.message or type(error).__name__
            found.update(message=message, text=_cut(str(error)))
            found["line"] = next((n for _, r in reversed(error.stack) if (n := _line(r, program.text))), 0)
            if isinstance(error, ScriptRuntimeError):
                found["kind"] = error.class_name.removeprefix("builtins.")
        case MemoryError():
            found.update(kind="MemoryExceeded", message="the program needs more memory than it may have")
        case RuntimeError() if _TRACE.search(
            str(error)
        ):  # errors of Python's classes hold their place as text
            text = str(error)
            places = [int(number) for number, name in _TRACE.findall(text) if name != program.called]
            found.update(text=_cut(text), line=places[-1] if places else 0)
            found["kind"], _, found["message"] = text.rstrip().rpartition("\n")[2].partition(": ")
    found["message"] = _cut(found["message"])
    return found


def _cut(text: str, most: int = _MOST_SHOWN) -> str:
    return text if len(text) <= most else text[:most] + " ..."


class _Output(io.TextIOBase):
    """What a program prints, as far as it is shown."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._left = _MOST_SHOWN

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._left > 0:
            self._parts.append(text[: self._left])
            self._left -= len(text)
            if self._left <= 0:
                self._parts.append(" ...\n")
        return len(text)

    def warn(self, message: object) -> None:
        """Show a warning without the place in `ts` where it was given."""
        self.write(f"warning: {message}\n")

    def getvalue(self) -> str:
        """All of it."""
        return "".join(self._parts)
