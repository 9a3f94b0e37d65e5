"""`ts.compile` and the API of `torch.compiler`.

`ts.compile` compiles nothing. It warns and returns the model itself. Use `ts.jit.script` or `ts.jit.trace` to
compile a model. `ts.compiler.is_compiling()` returns True only while `ts.export.export` runs a program.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ts._core.thread.warnings import warn_once
from ts.frontend.compile_directives import is_scripting


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
    """Return the function or module unchanged. Without an argument, return a decorator.

    The first call warns that nothing is compiled, except with `disable=True` or `backend="eager"`.
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if not disable and backend != "eager":
        warn_once(
            "compile",
            "ts.compile does not compile and returns its argument unchanged; "
            "use `ts.jit.script` or `ts.jit.trace`.",
        )
    if model is None:
        return lambda model: model
    return model


class _Exports(threading.local):
    depth = 0  # number of exports that have begun and not ended in this thread


_exports = _Exports()


@contextmanager
def exporting() -> Iterator[None]:
    """Context manager in which `is_exporting()` is True for this thread."""
    _exports.depth += 1
    try:
        yield
    finally:
        _exports.depth -= 1


def is_compiling() -> bool:
    """Return True while `ts.export.export` runs the calling program, but False in scripts."""
    return is_exporting()


def is_dynamo_compiling() -> bool:
    """Return False, because `ts` does not have TorchDynamo."""
    return False


def is_exporting() -> bool:
    """Return True while `ts.export.export` runs the calling program, but False in scripts."""
    if is_scripting():
        return False
    return _exports.depth > 0


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return `fn` unchanged, because `ts` compiles only on request. Without `fn`, return a decorator."""
    return (lambda fn: fn) if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """Return the function unchanged."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """Return the function unchanged."""
    return fn


def cudagraph_mark_step_begin() -> None:
    """Do nothing. This function exists for compatibility."""


def reset() -> None:
    """Do nothing, because `ts.compile` caches no compiled code."""
