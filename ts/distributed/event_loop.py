"""Event loop of this process, in a background thread, for all asynchronous connections.

All functions may be called from any thread:

    run(connect("ts://127.0.0.1:4711"))         runs a coroutine in the loop and returns its result
    timer = call_later(0.5, callback)           calls `callback` in the loop after 0.5 seconds
    cancel_timer(timer)                         cancels the call
    on_event_loop()                             returns True in the thread of the loop
    non_blocking(callback)                      marks a callback that may run in the thread of the loop

Only `run` must not be called in the thread of the loop, because it waits.
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

# Entries of cancelled timers are removed if their number exceeds this number plus the number of other timers.
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
    """Return True in the thread of the event loop. Code in this thread must not wait for the event loop."""
    return threading.current_thread() is _thread


class _Timers:
    """Priority queue (binary heap) of timers.

    A new timer wakes up the event loop only if it expires before all other timers.
    """

    def __init__(self) -> None:
        # callback of each timer that has neither ended nor been cancelled
        self.callbacks: dict[int, Callable[[], Any]] = {}
        # protects the attributes below, and is reentrant, because a finalizer may start a timer at any time
        self._lock = threading.RLock()
        self._heap: list[tuple[float, int]] = []  # (time, number of the timer)
        self._numbers = itertools.count()
        self._next = math.inf  # time at which the loop calls `_call_due` next
        self._handle: asyncio.TimerHandle | None = None  # used only in the thread of the loop

    def start(self, delay: float, callback: Callable[[], Any]) -> int:
        due = time.monotonic() + delay
        with self._lock:
            number = next(self._numbers)
            self.callbacks[number] = callback
            heapq.heappush(self._heap, (due, number))
            if len(self._heap) > 2 * len(self.callbacks) + _MAX_CANCELLED_COUNT:
                self._heap = [entry for entry in self._heap if entry[1] in self.callbacks]
                heapq.heapify(self._heap)
            if due >= self._next:
                return number
            self._next = due
        loop().call_soon_threadsafe(self._schedule)
        return number

    def _schedule(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._handle = loop().call_at(self._next, self._call_due)

    def _call_due(self) -> None:
        due: list[Callable[[], Any]] = []
        with self._lock:
            now = time.monotonic()
            while self._heap and (self._heap[0][0] <= now or self._heap[0][1] not in self.callbacks):
                callback = self.callbacks.pop(heapq.heappop(self._heap)[1], None)
                due += [] if callback is None else [callback]
            self._next = self._heap[0][0] if self._heap else math.inf
        self._handle = None
        if self._next < math.inf:
            self._schedule()
        for callback in due:
            loop().call_soon(callback)


_timers = _Timers()


def call_later(delay: float, callback: Callable[[], Any]) -> int:
    """Start a timer in any thread: the event loop calls `callback` after `delay` seconds.

    Return the number of the timer.
    """
    return _timers.start(delay, callback)


def cancel_timer(number: int) -> None:
    """Cancel a timer that has not ended yet, from any thread."""
    _timers.callbacks.pop(number, None)


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
