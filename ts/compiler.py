"""`ts.compile` and what programs ask of the compiler behind it.

    model = ts.compile(model)                 the model itself, and a warning that says so
    ts.compiler.is_compiling()                False; True while `ts.export.export` runs a program

Nothing is compiled behind a program's back: `ts.jit.script` and `ts.jit.trace` compile, when they are called.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ts._core.thread.once import warn_once


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """A function or module that computes the same: itself.  Without one, a decorator.

    The first call says so, but for those that want nothing else (`disable=True`, `backend="eager"`).
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if not disable and backend != "eager":
        warn_once(
            "compile",
            "ts.compile gives back what it is given, which runs as it is: "
            "`ts.jit.script` and `ts.jit.trace` compile.",
        )
    if model is None:
        return lambda model: model
    return model


class _Exports(threading.local):
    depth = 0  # of exports that the thread is in


_exports = _Exports()


@contextmanager
def exporting() -> Iterator[None]:
    """Let `is_exporting()` be True for this thread within the block."""
    _exports.depth += 1
    try:
        yield
    finally:
        _exports.depth -= 1


def is_compiling() -> bool:
    """Return whether the calling program is being compiled or exported."""
    return is_exporting()


def is_dynamo_compiling() -> bool:
    """Return whether PyTorch's reader of bytecode compiles the calling program: False, as there is none."""
    return False


def is_exporting() -> bool:
    """Return whether the calling program is being exported (`ts.export.export`)."""
    return _exports.depth > 0


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A function that is never compiled: itself.  Without one, a decorator."""
    return (lambda fn: fn) if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """The function itself."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """The function itself."""
    return fn


def cudagraph_mark_step_begin() -> None:
    """Say that a step begins; nobody needs to know."""


def reset() -> None:
    """Forget what was compiled: nothing was."""
