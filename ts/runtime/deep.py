"""Programs that are nested deeply: a stack for the compiler's recursion.

In: a piece of work that recurses over syntax or graphs. Out: its result; or a `NestingError`, never a bare
`RecursionError`.

    with_deep_stack(lambda: compile(text))

The work is tried where it is. If Python's recursion limit ends it, it is done once more on a thread with a
stack of its own, large enough for a limit far above Python's: 10,000 operators in one expression compile.
Ctrl-C reaches the work there, and what the program is limited to holds. Python's limit is the same for all
threads, so it is back to what it was when the last of such threads is through.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

from ts._core.vm import recursion
from ts._core.vm.on_thread import on_thread
from ts.errors import NestingError

_T = TypeVar("_T")
_STACK_BYTES: Final = 512 << 20  # address space: what is not used is never allocated
_RECURSION_LIMIT: Final = 60_000
_deep: ContextVar[bool] = ContextVar("deep", default=False)  # this is such a thread
_changing = threading.Lock()  # what is set for the whole process
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_changing._at_fork_reinit)  # type: ignore[attr-defined]
_threads = 0  # that need the limit
_limit_before = 0


def with_deep_stack(work: Callable[[], _T]) -> _T:
    """Do `work`, which may be begun twice and so must leave nothing behind when it fails."""
    try:
        return work()
    except (RecursionError, NestingError):
        if _deep.get():
            raise
    return _on_deep_stack(work)


def _on_deep_stack(work: Callable[[], _T]) -> _T:
    def run() -> _T:
        _deep.set(True)
        try:
            with _raised_limit():
                return work()
        except RecursionError:
            raise NestingError("the program is nested too deeply; split it into functions") from None

    return on_thread(run, "ts-deep-stack", _STACK_BYTES)


@contextmanager
def _raised_limit() -> Iterator[None]:
    global _threads, _limit_before
    with _changing:
        if not _threads:
            _limit_before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_limit_before, _RECURSION_LIMIT))
        _threads += 1
    recursion.allow(_RECURSION_LIMIT)
    try:
        yield
    finally:
        with _changing:
            _threads -= 1
            if not _threads:
                sys.setrecursionlimit(_limit_before)
