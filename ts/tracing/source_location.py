"""Source location in the traced program by frame inspection: frame, line and evaluated expression.

The location is that of the innermost Python frame outside the tracer. For the line `if x.sum() > 0:`, the
calls return:

    frame = program_frame()          the frame
    expression(frame)                "x.sum() > 0"
    is_error_check(frame)            False, because the test is in a function of the user
"""

from __future__ import annotations

import ast
import itertools
import linecache
import sys
from functools import cache
from types import FrameType
from typing import Final

from ts.module_names import is_own, own_name

_RECORDER: Final = (
    "ts.tracing.", "ts.jit.tracing", "ts._core.", "ts.autograd.function", "ts.python_api.tensor_types",
    "contextlib",
)  # fmt: skip


def program_frame() -> FrameType:
    """Return the innermost Python frame outside the tracer."""
    frame = sys._getframe(1)
    while frame.f_back is not None and own_name(frame.f_globals.get("__name__")).startswith(_RECORDER):
        frame = frame.f_back
    return frame


def expression(frame: FrameType) -> str:
    """Return the source text of the expression that a frame evaluates, or "" if it is unavailable."""
    code = frame.f_code
    first, last, begin, end = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None))
    if first is None or last is None or begin is None or end is None:
        return linecache.getline(code.co_filename, frame.f_lineno).strip()
    segments = [line.encode() for line in linecache.getlines(code.co_filename)[first - 1 : last]]
    if segments:  # columns are offsets in the UTF-8 encoded line, not in characters
        segments[-1] = segments[-1][:end]
        segments[0] = segments[0][begin:]
    return " ".join(segment.decode().strip() for segment in segments)


def is_error_check(frame: FrameType) -> bool:
    """Return True if a frame evaluates a test of `ts` that only selects an error or a warning.

    Return False for tests in user functions, whose errors are part of their behaviour.
    """
    if not is_own(frame.f_globals.get("__name__")):
        return False
    return frame.f_lineno in _error_check_lines(frame.f_code.co_filename)


@cache
def _error_check_lines(filename: str) -> frozenset[int]:
    """Return the numbers of lines with an `assert`, or with an `if` that only selects errors or warnings."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse("".join(linecache.getlines(filename)))):
        if isinstance(node, ast.Assert) or (isinstance(node, ast.If) and _only_raises_or_warns(node)):
            lines.update(range(node.test.lineno, (node.test.end_lineno or node.test.lineno) + 1))
    return frozenset(lines)


def _only_raises_or_warns(node: ast.If) -> bool:
    """Return True if one branch of an `if` always raises, or if both branches do no more than warn."""
    return _raises(node.body) or _raises(node.orelse) or (_warns(node.body) and _warns(node.orelse))


def _raises(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)


def _warns(body: list[ast.stmt]) -> bool:
    """Return True if statements only issue warnings and raise errors."""
    return all(
        _is_warning(each)
        if isinstance(each, ast.Expr)
        else isinstance(each, ast.If)
        and all(_raises(branch) or _warns(branch) for branch in (each.body, each.orelse))
        for each in body
    )


def _is_warning(each: ast.Expr) -> bool:
    """Return True if a statement calls `warnings.warn` or a function `_warn_*`."""
    call = each.value
    return isinstance(call, ast.Call) and ast.unparse(call.func).startswith(("warnings.warn", "_warn_"))
