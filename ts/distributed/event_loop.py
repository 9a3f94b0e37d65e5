"""Event loop of this process, in a background thread, for all asynchronous connections.

run(connect("ts://127.0.0.1:4711"))         run a coroutine from another thread and return the result
on_event_loop()                             True in the thread of the loop
non_blocking(callback)                      callback that may run in the thread of the loop
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None


def loop() -> asyncio.AbstractEventLoop:
    """Return the event loop, whose thread the first call starts."""
    global _loop, _thread
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(target=_loop.run_forever, name="ts.distributed", daemon=True)
            _thread.start()
        return _loop


def run(work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
    """Run a coroutine in the loop and return its result. Raise TimeoutError after `timeout` seconds."""
    if on_event_loop():
        work.close()
        raise RuntimeError("a blocking function was called in the event loop's thread")
    future = asyncio.run_coroutine_threadsafe(work, loop())
    try:
        return future.result(timeout)
    except BaseException:
        future.cancel()
        raise


def on_event_loop() -> bool:
    """Return True if the current thread runs the event loop, so it must not block until the loop responds."""
    return threading.current_thread() is _thread


def _forget() -> None:
    """Discard the loop in a forked child process, where its thread does not exist."""
    global _loop, _thread, _lock
    _lock = threading.Lock()
    _loop = _thread = None


os.register_at_fork(after_in_child=_forget)


class non_blocking:
    """Non-blocking callback of a future, which may run in the thread that completes the future."""

    def __init__(self, callback: Callable[[Any], Any]) -> None:
        self._callback = callback

    def __call__(self, future: Any) -> None:
        """Call the callback with the completed future."""
        self._callback(future)
