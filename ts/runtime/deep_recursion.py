"""Large stack for deep recursion of the compiler.

In: a function that recurses over syntax or graphs. Out: its result, or `NestingError` instead of a bare
`RecursionError`.

    run_with_large_stack(lambda: compile(text))

The function is first called on the current stack. If it reaches Python's recursion limit, it is called again
on a thread with a large stack and a raised limit: 10,000 operators in one expression compile. Ctrl-C
interrupts it there too, and `ts.limits` apply. Python's limit is process-wide; it is restored when the last
such thread ends.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

from ts._core.vm import recursion_limit
from ts._core.vm.run_on_new_thread import run_on_new_thread
from ts.errors import NestingError

_T = TypeVar("_T")
_STACK_BYTES: Final = 512 << 20  # address space: unused pages are never allocated
_RECURSION_LIMIT: Final = 60_000
_is_deep_stack: ContextVar[bool] = ContextVar("deep", default=False)  # true on a thread with a large stack
_limit_lock = threading.Lock()  # protects the process-wide recursion limit
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit_lock._at_fork_reinit)  # type: ignore[attr-defined]
_thread_count = 0  # threads that need the raised limit
_limit_before = 0


def run_with_large_stack(work: Callable[[], _T]) -> _T:
    """Return `work()`, which may be called twice, so it must not leave side effects when it fails."""
    try:
        return work()
    except (RecursionError, NestingError):
        if _is_deep_stack.get():
            raise
    return _on_deep_stack(work)


def _on_deep_stack(work: Callable[[], _T]) -> _T:
    def run() -> _T:
        _is_deep_stack.set(True)
        try:
            with _raised_limit():
                return work()
        except RecursionError:
            raise NestingError("the program is nested too deeply; split it into functions") from None

    return run_on_new_thread(run, "ts-deep-stack", _STACK_BYTES)


@contextmanager
def _raised_limit() -> Iterator[None]:
    global _thread_count, _limit_before
    with _limit_lock:
        if not _thread_count:
            _limit_before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_limit_before, _RECURSION_LIMIT))
        _thread_count += 1
    recursion_limit.allow(_RECURSION_LIMIT)
    try:
        yield
    finally:
        with _limit_lock:
            _thread_count -= 1
            if not _thread_count:
                sys.setrecursionlimit(_limit_before)
