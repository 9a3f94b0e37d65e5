"""Large stack for deep recursion of the compiler.

`run_with_large_stack(lambda: compile(text))` returns the result of the function. Beyond Python's
recursion limit, it is called again in a thread with a large stack and a higher limit. The higher
limit suffices for 10,000 operators in one expression. Beyond it, `NestingError` is raised. The higher limit
applies to the whole process until the last such thread ends.
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
# stack size of the thread. The system allocates its pages when they are first used.
_STACK_BYTES: Final = 512 << 20
_RECURSION_LIMIT: Final = 60_000
_is_deep_stack: ContextVar[bool] = ContextVar("deep", default=False)  # True in a thread with a large stack
# held while the recursion limit of the process and `_thread_count` are changed
_limit_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit_lock._at_fork_reinit)  # type: ignore[attr-defined]
_thread_count = 0  # number of running threads that need the higher recursion limit
_limit_before = 0


def run_with_large_stack(work: Callable[[], _T]) -> _T:
    """Return `work()`, if necessary computed with a large stack.

    `work` may be called a second time after it has failed, so it must not have side effects.
    """
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
