"""Error recovery of the compiler: one exception reports all errors of a function and its callees.

In this example, the functions `helper` and `other` contain errors, and the exception reports both:

    def f(x):
        a = helper(x)      the error in `helper` is recorded, and the compilation of `f` continues
        b = other(x)       the error in `other` is recorded
        return a + b       uses of `a` and `b` cause no further errors

During a compilation, the errors of each function are cached. Therefore, each function is compiled only once.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from ts._core.value.build_lock import build_lock
from ts.errors import FrontendError

# Key of a function -> error that it raised earlier in the current compilation
_failed: Final[dict[Hashable, FrontendError]] = {}
_depth = 0


@contextmanager
def compilation(key: Hashable = None) -> Iterator[None]:
    """Context of the compilation of the function with key `key`.

    Raise the cached error if the function failed to compile earlier in the current compilation.
    """
    global _depth
    with build_lock():
        previous_error = None if key is None else _failed.get(key)
        if previous_error is not None:
            raise previous_error.copy()
        _depth += 1
        try:
            yield
        except FrontendError as error:
            error.has_caller = True
            if key is not None:
                _failed[key] = error.copy()
            raise
        finally:
            _depth -= 1
            if not _depth:
                _failed.clear()


def combine_errors(errors: Iterable[FrontendError]) -> FrontendError:
    """Combine errors into one. Errors with equal message and location are reported once."""
    unique_errors: dict[tuple[str, str], FrontendError] = {}
    for error in errors:
        for member in (error, *error.others):
            highlight = "" if member.range is None else member.range.highlight()
            unique_errors.setdefault((member.message, highlight), member)
    for member in unique_errors.values():
        member.others = []
    first, *first.others = unique_errors.values()
    return first


def hide_internal_frames(error: FrontendError) -> FrontendError:
    """Remove the compiler's frames from the error's traceback.

    With TS_SHOW_INTERNAL=1 they remain, for debugging the compiler.
    """
    return error if os.environ.get("TS_SHOW_INTERNAL", "0") != "0" else error.with_traceback(None)


class FunctionErrors:
    """Errors found in the compilation of a function: the first error in its body, and errors of callees."""

    def __init__(self) -> None:
        self.errors: list[FrontendError] = []

    def add(self, error: FrontendError) -> None:
        """Record `error`, unless the function's own body raised it and another error is already recorded.

        Such an error may be a consequence of the recorded error. Errors of callees are always recorded.
        """
        if error.has_caller or not self.errors:
            self.errors.append(error)


def calls_in(statement: ast.stmt) -> Iterator[ast.Call]:
    """Yield the calls that a statement always executes.

    In a compound statement such as `if`, these are calls in the header, but not in the nested statements.
    """
    match statement:
        case ast.If(test=head) | ast.While(test=head) | ast.For(iter=head):
            heads: list[ast.AST] = [head]
        case ast.With(items=items):
            heads = [item.context_expr for item in items]
        case ast.FunctionDef():
            heads = []
        case _:
            heads = [statement]
    while heads:
        node = heads.pop(0)
        if isinstance(node, ast.Call):
            yield node
        # calls in operands of these nodes may not be executed
        if not isinstance(node, ast.IfExp | ast.BoolOp | ast.Lambda):
            heads.extend(ast.iter_child_nodes(node))
