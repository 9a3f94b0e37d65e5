"""Global reentrant lock (recursive mutex) under which shared tables (operators, types, code) are built.

A table is read-only after it is built. During the build, other threads can see incomplete entries, so only
one thread at a time may build. Reading a complete entry needs no lock. A thread can let another thread build
under its lock:

    with build_lock():
        Thread(target=with_build_lock_ownership(work))   # `work` runs with the lock of this thread
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar, copy_context
from functools import partial
from threading import RLock
from typing import Any, TypeVar

_T = TypeVar("_T")
_lock: Any = RLock()
# True in a thread that works on behalf of the thread that holds the lock, which waits for this thread
_helps: ContextVar[bool] = ContextVar("helps", default=False)


def build_lock() -> AbstractContextManager[Any]:
    """Return the lock as a context manager.

    In a thread that works on behalf of the thread that holds the lock, the context manager does nothing.
    """
    return nullcontext() if _helps.get() else _lock


def import_lock() -> AbstractContextManager[Any]:
    """Return a context manager that serializes lazy imports with the build lock.

    Cyclic imports, such as NumPy's, fail if two threads enter the cycle at different modules. A thread that
    is already importing a module does not wait for the build lock. Otherwise, a deadlock is possible: the
    thread that holds the lock may wait for this import.
    """
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return nullcontext()
        frame = frame.f_back  # type: ignore[assignment]
    return build_lock()


def with_build_lock_ownership(work: Callable[[], _T]) -> Callable[[], _T]:
    """Wrap `work`, so that a new thread that runs it has the build lock of this thread.

    The caller must join the thread.
    """
    context = copy_context()
    context.run(_helps.set, _helps.get() or _lock._is_owned())
    return partial(context.run, work)


def _forget() -> None:
    """In a forked child, replace the build lock, unless the thread that forked holds the lock."""
    global _lock
    if not _lock._is_owned():
        _lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
