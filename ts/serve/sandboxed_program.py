"""Sandbox: compile, print and run an untrusted program without executing any part of it as Python.

Input: the source, and an expression to evaluate, such as `collatz(27)`. Output: a report of JSON types. The
expression is compiled, too. A report has these keys:

    {"functions": [{"name", "schema", "graph", "optimised", "bytecode"}], "result", "output", "error",
     "seconds"}

Graphs and bytecode are lists of pairs `[text, line]`. `line` is the source line number, or 0 if unknown.
`ts.serve.sandbox_resolver` restricts the names that the program may use.
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

from ts._core.value.build_lock import build_lock
from ts.errors import FrontendError, LimitExceeded, ScriptRuntimeError
from ts.frontend import python_syntax
from ts.ir.graph import Graph
from ts.ir.graph_printer import to_lines
from ts.jit.scripting import CompilationUnit
from ts.runtime.executor import executed_graph
from ts.runtime.function import ScriptFunction
from ts.runtime.limits import limits
from ts.serve.sandbox_resolver import SandboxResolver, resolve_import

OutputLine = tuple[str, int]
Report = dict[str, Any]
MAX_SOURCE_CHARS: Final = 64 << 10
# Maximum length of each of these: printed text, result, error message
_MAX_OUTPUT_CHARS: Final = 64 << 10
# Maximum number of rows in a report for one graph, and for the bytecode of one function
_MAX_LINES: Final = 5_000
_MAX_LINE_CHARS: Final = 2_000
_STACK_FRAME_PATTERN: Final = re.compile(r'^  File "<string>", line (\d+), in (\S+)$', re.MULTILINE)
_BYTECODE_LOCATION_PATTERN: Final = re.compile(r"# <string>:(\d+):\d+ ")


class ProgramRejectedError(Exception):
    """Raised if a program is rejected before compilation. `line` is the source line, or 0."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def report(source: str, call: str, *, seconds: float, bytes: int) -> Report:
    """Compile a program and evaluate `call` within the limits, and return a report.

    The report contains functions, result, output and error. An empty `call` is not evaluated. Exceptions are
    part of the report and never raised.
    """
    program = SandboxedProgram()
    result: Report = {"functions": [], "result": None, "output": "", "error": None, "seconds": None}
    output = _CapturedOutput()
    streams = contextlib.redirect_stdout(output), contextlib.redirect_stderr(output)
    with streams[0], streams[1], warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: output.warn(message)
        try:
            with limits(seconds=seconds, bytes=bytes):
                program.read(source)
                result["functions"] = [
                    _describe_function(function, program.source) for function in program.get_functions()
                ]
                if call.strip():
                    function = program.compile_call(call)
                    function.bytecode  # noqa: B018 -- compiled before the measurement
                    start = time.perf_counter()
                    value = function()
                    result["seconds"] = time.perf_counter() - start
                    result["result"] = _truncate(repr(value))
        except Exception as error:
            result["error"] = _describe_error(error, program)
    result["output"] = output.getvalue()
    return result


class SandboxedProgram(CompilationUnit):
    """Compilation unit whose sources are untrusted."""

    def __init__(self) -> None:
        super().__init__()
        self.source = ""
        self.call_name = ""  # name, in stack traces, of the function that evaluates the expression
        self._imported: dict[str, object] = {}

    def read(self, source: str) -> None:
        """Compile a source. Raise ProgramRejectedError or FrontendError if that fails."""
        self.source = self._remove_imports(source)
        self._compile(self.source)

    def compile_call(self, call: str) -> ScriptFunction:
        """Return a scripted function that evaluates an expression.

        Raises ProgramRejectedError or FrontendError.
        """
        try:
            tree = ast.parse(call.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ProgramRejectedError("the call must be one expression, such as f(3)") from None
        name = "call"
        while name in self._functions or name in call:
            name += "_"
        self.call_name = name
        self._compile(f"def {name}():\n    return {ast.unparse(tree)}\n")
        return self._functions.pop(name)

    def _compile(self, source: str) -> None:
        with build_lock():
            self._define(source, SandboxResolver(self._functions, self._classes, self._imported))

    def _remove_imports(self, source: str) -> str:
        """Resolve the top-level imports of the source.

        Return the source with empty lines in place of the imports.

        Raises ProgramRejectedError for imports that are not part of the scripted language, and for
        `breakpoint`.
        """
        if len(source) > MAX_SOURCE_CHARS:
            raise ProgramRejectedError(
                f"the program has {len(source):,} characters; {MAX_SOURCE_CHARS:,} are allowed"
            )
        source = source.replace("\r\n", "\n").replace("\r", "\n")
        lines = source.split("\n")
        try:
            statements = python_syntax.module(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return source  # the compiler reports the error with its location
        for node in statements:
            for each in ast.walk(node):
                if isinstance(each, ast.Name) and each.id == "breakpoint":
                    raise ProgramRejectedError("breakpoint() is unsupported in the playground", each.lineno)
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            try:
                self._imported.update(resolve_import(node))
            except (KeyError, AttributeError):
                message = (
                    f"only parts of torch, ts, math and typing can be imported, not: {ast.unparse(node)}"
                )
                raise ProgramRejectedError(message, node.lineno) from None
            for line_index in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[line_index] = ""
        return "\n".join(lines)


def _describe_function(function: ScriptFunction, source: str) -> Report:
    return {
        "name": function.name,
        "schema": str(function.schema),
        "graph": _graph_lines(function.graph, source),
        "optimised": _graph_lines(executed_graph(function), source),
        "bytecode": _bytecode_lines(function.bytecode),
    }


def _graph_lines(graph: Graph, source: str) -> list[OutputLine]:
    pieces = to_lines(graph, show_ranges=False)
    return _limit_lines(
        (piece.rstrip("\n"), _source_line(node and node.range, source)) for piece, node in pieces
    )


def _bytecode_lines(disassembly: str) -> list[OutputLine]:
    def rows() -> Iterable[OutputLine]:
        line = 0
        for each in disassembly.rstrip("\n").split("\n"):
            if each.startswith("# "):
                location = _BYTECODE_LOCATION_PATTERN.match(each)
                line = int(location[1]) if location else 0
            yield each, line if each else 0

    return _limit_lines(rows())


def _limit_lines(rows: Iterable[OutputLine]) -> list[OutputLine]:
    """Return the first `_MAX_LINES` rows, each truncated."""
    limited: list[OutputLine] = []
    for row in rows:
        if len(limited) == _MAX_LINES:
            limited.append(("...", 0))
            break
        limited.append((_truncate(row[0], _MAX_LINE_CHARS), row[1]))
    return limited


def _source_line(range: Any, source: str) -> int:
    """Return the line number of a source location, or 0 if it is not in `source`."""
    return int(range.line) if range is not None and range.source.text == source else 0


def _describe_error(error: Exception, program: SandboxedProgram) -> Report:
    """Return the kind, message, full text and source line of an exception."""
    described: Report = {
        "kind": type(error).__name__,
        "message": _truncate(str(error)),
        "text": "",
        "line": 0,
    }
    match error:
        case ProgramRejectedError():
            described.update(kind="Rejected", line=error.line)
        case FrontendError():
            line = _source_line(error.range, program.source)
            described.update(message=error.message, text=_truncate(str(error)), line=line)
        case ScriptRuntimeError() | LimitExceeded():
            message = error.message or type(error).__name__
            described.update(message=message, text=_truncate(str(error)))
            lines = (_source_line(location, program.source) for _, location in reversed(error.stack))
            described["line"] = next((line for line in lines if line), 0)
            if isinstance(error, ScriptRuntimeError):
                described["kind"] = error.class_name.removeprefix("builtins.")
        case MemoryError():
            described.update(kind="MemoryExceeded", message="the program exceeded its memory limit")
        case RuntimeError() if _STACK_FRAME_PATTERN.search(str(error)):
            # As in PyTorch, the message of a RuntimeError contains the stack of the interpreter.
            full_message = str(error)
            frames = _STACK_FRAME_PATTERN.findall(full_message)
            line_numbers = [int(line) for line, name in frames if name != program.call_name]
            described.update(text=_truncate(full_message), line=line_numbers[-1] if line_numbers else 0)
            described["kind"], _, described["message"] = (
                full_message.rstrip().rpartition("\n")[2].partition(": ")
            )
    described["message"] = _truncate(described["message"])
    return described


def _truncate(string: str, max_chars: int = _MAX_OUTPUT_CHARS) -> str:
    return string if len(string) <= max_chars else string[:max_chars] + " ..."


class _CapturedOutput(io.TextIOBase):
    """Stream that keeps the first `_MAX_OUTPUT_CHARS` characters of a program's output."""

    def __init__(self) -> None:
        self._chunks: list[str] = []
        self._remaining_chars = _MAX_OUTPUT_CHARS

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._remaining_chars > 0:
            self._chunks.append(text[: self._remaining_chars])
            self._remaining_chars -= len(text)
            if self._remaining_chars <= 0:
                self._chunks.append(" ...\n")
        return len(text)

    def warn(self, message: object) -> None:
        """Write a warning without its location, because the location is a file of `ts`."""
        self.write(f"warning: {message}\n")

    def getvalue(self) -> str:
        """Return the captured output."""
        return "".join(self._chunks)
