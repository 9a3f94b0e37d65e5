"""Whose turn it is: what waits, by client.

    shares = Shares()
    turns = Turns(shares)
    turns.put("10.0.0.7", job)
    turns.waited()                      seconds since there was nothing to wait for, or something was taken
    shares.charge("10.0.0.7", 0.25)
    turns.pop()                         the first of the client that has had the least of late

A client that asks for more than others waits for itself: it has its own queue, and others do not stand in it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

_HALF: Final = 10.0  # seconds after which what a client has had counts half
_MOST: Final = 4096  # clients that are remembered

T = TypeVar("T")


class Shares:
    """Seconds of work that each client has had of late."""

    def __init__(self) -> None:
        self._had: dict[str, tuple[float, float]] = {}  # seconds, and when that was so

    def charge(self, client: str, seconds: float) -> None:
        """It has had that much more."""
        had = self.of(client) + seconds
        self._had.pop(client, None)
        self._had[client] = had, time.monotonic()
        if len(self._had) > _MOST:
            del self._had[next(iter(self._had))]  # who was served longest ago

    def of(self, client: str) -> float:
        """What it has had."""
        had, when = self._had.get(client, (0.0, 0.0))
        return had * 0.5 ** ((time.monotonic() - when) / _HALF) if had else 0.0


class Turns(Generic[T]):
    """A queue in which clients take turns; what one client waits for keeps its order."""

    def __init__(self, shares: Shares) -> None:
        self._shares = shares
        self._waiting: dict[str, deque[T]] = {}
        self._count = 0
        self._since = 0.0  # when something was taken, or the first came

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        for waiting in self._waiting.values():
            yield from waiting

    def of(self, client: str) -> int:
        """How much of it is a client's."""
        return len(self._waiting.get(client, ()))

    def waited(self) -> float:
        """For how many seconds nothing has been taken of what waits."""
        return time.monotonic() - self._since if self._count else 0.0

    def put(self, client: str, item: T) -> None:
        """Wait."""
        if not self._count:
            self._since = time.monotonic()
        self._waiting.setdefault(client, deque()).append(item)
        self._count += 1

    def discard(self, client: str, item: T) -> None:
        """It waits no longer, if it did."""
        queue = self._waiting.get(client)
        if queue is None or item not in queue:
            return
        queue.remove(item)
        self._count -= 1
        if not queue:
            del self._waiting[client]

    def pop(self) -> T:
        """What is next; IndexError if nothing waits."""
        if not self._waiting:
            raise IndexError("nothing waits")
        client = next(iter(self._waiting))
        if len(self._waiting) > 1:
            client = min(self._waiting, key=self._shares.of)
        queue = self._waiting.pop(client)
        item = queue.popleft()
        self._count -= 1
        self._since = time.monotonic()
        if queue:
            self._waiting[client] = queue  # behind those that have had as much
        return item
