"""Event loop of this process, in a background thread, for all asynchronous connections.

run(connect("ts://127.0.0.1:4711"))         run a coroutine from another thread and return the result
call_later(0.5, callback).cancel()          timer that calls the callback in the loop, started in any thread
on_event_loop()                             True in the thread of the loop
non_blocking(callback)                      callback that may run in the thread of the loop
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import os
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

T = TypeVar("T")

# Cancelled timers are removed from the heap if there are more than this number and more than active timers.
_MAX_CANCELLED_COUNT: Final = 100

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


class Timer:
    """Timer that was started by `call_later`."""

    def __init__(self, timers: _Timers, callback: Callable[[], Any]) -> None:
        self._timers = timers
        self.callback: Callable[[], Any] | None = callback  # None after the timer has ended

    def cancel(self) -> None:
        """Do not call the callback, unless its call has begun."""
        if self.callback is not None:
            self.callback = None
            self._timers.count_cancelled()


class _Timers:
    """Heap of timers. The loop is woken only for a timer that ends before all others."""

    def __init__(self) -> None:
        # protects the attributes below, and is reentrant, because a finalizer may cancel a timer at any time
        self._lock = threading.RLock()
        self._heap: list[tuple[float, int, Timer]] = []  # (time, number, timer)
        self._numbers = itertools.count()
        self._cancelled = 0  # number of timers in the heap that are cancelled
        self._next = math.inf  # time at which the loop calls `_call_due` next
        self._handle: asyncio.TimerHandle | None = None  # used only in the thread of the loop

    def start(self, delay: float, callback: Callable[[], Any]) -> Timer:
        timer, due = Timer(self, callback), time.monotonic() + delay
        with self._lock:
            heapq.heappush(self._heap, (due, next(self._numbers), timer))
            if due >= self._next:
                return timer
            self._next = due
        loop().call_soon_threadsafe(self._schedule)
        return timer

    def count_cancelled(self) -> None:
        with self._lock:
            self._cancelled += 1
            if self._cancelled > _MAX_CANCELLED_COUNT and 2 * self._cancelled > len(self._heap):
                self._heap = [entry for entry in self._heap if entry[2].callback is not None]
                heapq.heapify(self._heap)
                self._cancelled = 0

    def _schedule(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._handle = loop().call_at(self._next, self._call_due)

    def _call_due(self) -> None:
        due: list[Timer] = []
        with self._lock:
            now = time.monotonic()
            while self._heap and (self._heap[0][0] <= now or self._heap[0][2].callback is None):
                due.append(heapq.heappop(self._heap)[2])
            self._cancelled -= sum(timer.callback is None for timer in due)
            self._next = self._heap[0][0] if self._heap else math.inf
        self._handle = None
        if self._next < math.inf:
            self._schedule()
        for timer in due:
            callback, timer.callback = timer.callback, None
            if callback is not None:
                loop().call_soon(callback)


_timers = _Timers()


def call_later(delay: float, callback: Callable[[], Any]) -> Timer:
    """Let the event loop call `callback` after `delay` seconds. This function may be called in any thread."""
    return _timers.start(delay, callback)


def _forget() -> None:
    """Discard the loop in a forked child process, where its thread does not exist."""
    global _loop, _thread, _lock, _timers
    _lock = threading.Lock()
    _loop = _thread = None
    _timers = _Timers()


os.register_at_fork(after_in_child=_forget)


class non_blocking:
    """Non-blocking callback of a future, which may run in the thread that completes the future."""

    def __init__(self, callback: Callable[[Any], Any]) -> None:
        self._callback = callback

    def __call__(self, future: Any) -> None:
        """Call the callback with the completed future."""
        self._callback(future)
