"""Synchronous execution of a function on a new thread with a given stack size.

Input: a function, a thread name and a stack size in bytes. Output: the result of the function, or its
exception. Example:

    run_on_new_thread(lambda: compile(text), "ts-deep-stack", 512 << 20)

The function inherits the limits and the build lock of the calling thread. Ctrl-C first interrupts the
function, and then raises KeyboardInterrupt in the calling thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TypeVar

from ts._core.value.build_lock import with_build_lock_ownership
from ts._core.vm import recursion_limit
from ts._core.vm.inherited import ThreadContextSnapshot
from ts.errors import NestingError

_T = TypeVar("_T")
# This lock is held while a thread is started with its own stack size, because the stack size is a setting of
# the whole process
_starting = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_starting._at_fork_reinit)  # type: ignore[attr-defined]


def run_on_new_thread(work: Callable[[], _T], name: str, stack_bytes: int = 0) -> _T:
    """Return `work()`, run on a new thread. If `stack_bytes` is 0, the stack has its default size."""
    results: list[_T] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append(inherited.run(work))
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    inherited = ThreadContextSnapshot()
    thread = threading.Thread(target=with_build_lock_ownership(run), name=name, daemon=True)
    try:
        _start(thread, stack_bytes)
        done.wait()
    except BaseException:
        # An exception such as KeyboardInterrupt has interrupted the wait. If the new thread has started,
        # interrupt it and wait until it ends.
        if thread.ident is not None:
            recursion_limit.interrupt(thread.ident)
            while thread.is_alive() and not done.wait(0.01):
                pass
        raise
    if errors:
        raise errors[0]
    return results[0]


def _start(thread: threading.Thread, stack_bytes: int) -> None:
    with _starting:
        before = threading.stack_size(stack_bytes)
        try:
            thread.start()
        except RuntimeError:
            raise NestingError("not enough memory for the stack of a deeply nested program") from None
        finally:
            threading.stack_size(before)
