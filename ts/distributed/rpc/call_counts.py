"""Counters of the calls that this process executes for other workers, and of its own unfinished calls."""

from __future__ import annotations

import threading
from collections import Counter

from ts.distributed.rpc.rpc_future import RpcFuture


class CallCounts:
    """Counters of calls, with a condition for waiting until no calls are active."""

    def __init__(self) -> None:
        # Name of an event -> number of occurrences. Events are the start, end or failure of an incoming call,
        # and the suspension or resumption of a script.
        self.events: Counter[str] = Counter()
        self.unfinished: set[RpcFuture] = set()  # asynchronous calls that this process has made
        self._changed = threading.Condition()
        self._waiting = 0  # number of threads that wait for a change

    @property
    def executing(self) -> int:
        """Number of incoming calls that run or are queued in this process."""
        return self.events["begun"] - self.events["done"]

    def count(self, event: str) -> None:
        """Increment the counter `event` of incoming calls."""
        with self._changed:
            self.events[event] += 1
        self._notify()

    def count_failure(self) -> None:
        """Count an incoming call that raised an error."""
        self.count("failed")

    def finish(self, future: RpcFuture) -> bool:
        """Remove a call that this process has made. Return False if it was removed before."""
        try:
            self.unfinished.remove(future)
        except KeyError:
            return False
        self._notify()
        return True

    def wait_until_idle(self, timeout: float | None, own_calls_only: bool = False) -> None:
        """Wait until no calls are active.

        If `own_calls_only`, wait only for the calls that this process has made.
        """
        with self._changed:
            self._waiting += 1
            try:
                self._changed.wait_for(
                    lambda: not self.unfinished and (own_calls_only or self.executing <= 0), timeout
                )
            finally:
                self._waiting -= 1

    def _notify(self) -> None:
        if self._waiting:
            with self._changed:
                self._changed.notify_all()
