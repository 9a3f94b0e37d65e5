"""Symbolic versions of the builtins `max`, `min` and `math.pow`, which add no guards.

The example calls `max` with and without the symbolic version. The size of x is the symbol s0:

    with symbolic_builtins():
        max(x.shape[0], 3)            the symbolic number sym_max(s0, 3)
    max(x.shape[0], 3)                s0 or 3, with a guard

As in PyTorch, a call with more than two numbers still adds guards.
"""

from __future__ import annotations

import builtins
import functools
import math
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import ts
from ts._core.tensor.sym_types import SymNumber
from ts._core.thread.context import current_tracer
from ts.module_names import is_own

_lock: Final = threading.Lock()
_ORIGINALS: Final[dict[str, Callable[..., Any]]] = {"max": builtins.max, "min": builtins.min, "pow": math.pow}
_context_count = 0


@contextmanager
def symbolic_builtins() -> Iterator[None]:
    """Replace `max`, `min` and `math.pow` by their symbolic versions while the context is active.

    Contexts may nest and run in several threads.
    """
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def _count(increment: int) -> None:
    global _context_count
    with _lock:
        _context_count += increment
        for name, function in (_ORIGINALS if _context_count == 0 else _SYMBOLIC).items():
            setattr(math if name == "pow" else builtins, name, function)


def _is_user_call() -> bool:
    """Return True if user code calls the builtin in a thread that records an export.

    User code is any code outside of `ts`.
    """
    tracer = current_tracer()
    is_export = tracer is not None and tracer.is_export
    return is_export and not is_own(sys._getframe(2).f_globals.get("__name__"))


def _binary_builtin(name: str, of_symbols: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    plain = _ORIGINALS[name]

    def pair(x: Any, y: Any) -> Any:
        symbols = isinstance(x, SymNumber) or isinstance(y, SymNumber)
        return of_symbols(x, y) if symbols and _is_number(x) and _is_number(y) else plain(x, y)

    def function(*args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) > 2 or not _is_user_call():
            return plain(*args, **kwargs)
        if len(args) == 2:
            return pair(*args)
        items: list[Any] = list(*args)
        return functools.reduce(pair, items) if items else plain(items)

    function.__name__ = name
    return function


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float | SymNumber)


def _pow(x: Any, y: Any, /) -> Any:
    if (isinstance(x, SymNumber) or isinstance(y, SymNumber)) and _is_user_call():
        return x**y
    return _ORIGINALS["pow"](x, y)


_SYMBOLIC: Final = {
    "max": _binary_builtin("max", ts.sym_max),
    "min": _binary_builtin("min", ts.sym_min),
    "pow": _pow,
}
