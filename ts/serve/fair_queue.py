"""Fair queueing (fair queuing, fair-share scheduling) with one FIFO per client.

The queue returns an item of the client with the smallest usage. If a client sends many requests, the requests
of other clients are not delayed. The example enqueues a request, adds 0.25 seconds to a client's usage, and
dequeues the next item:

    usage = ClientUsage()
    queue = FairQueue(usage)
    queue.put("10.0.0.7", request)
    usage.add("10.0.0.7", 0.25)
    queue.pop()
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

_USAGE_HALF_LIFE_SECONDS: Final = 10.0
_MAX_TRACKED_CLIENTS: Final = 4096

T = TypeVar("T")


class ClientUsage:
    """Recent processor seconds of each client, with exponential decay."""

    def __init__(self) -> None:
        # dict from client name to (processor seconds, time of the last update), ordered by this time, oldest
        # first
        self._usage: dict[str, tuple[float, float]] = {}

    def add(self, client: str, seconds: float) -> None:
        """Add processor seconds to the usage of a client."""
        usage = self.get(client) + seconds
        self._usage.pop(client, None)
        self._usage[client] = usage, time.monotonic()
        if len(self._usage) > _MAX_TRACKED_CLIENTS:
            del self._usage[next(iter(self._usage))]

    def get(self, client: str) -> float:
        """Return the decayed usage of a client in seconds, or 0 for an unknown client."""
        usage, updated = self._usage.get(client, (0.0, 0.0))
        return usage * 0.5 ** ((time.monotonic() - updated) / _USAGE_HALF_LIFE_SECONDS) if usage else 0.0


class FairQueue(Generic[T]):
    """Queue with one FIFO per client. `pop` serves the client with the smallest recent usage."""

    def __init__(self, usage: ClientUsage) -> None:
        self._usage = usage
        self._queues: dict[str, deque[T]] = {}
        self._count = 0
        self._last_progress = 0.0  # time of the last `pop`, or of a later `put` into the empty queue

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        for queue in self._queues.values():
            yield from queue

    def count_items(self, client: str) -> int:
        """Return the number of queued items of a client."""
        return len(self._queues.get(client, ()))

    def idle_seconds(self) -> float:
        """Return the seconds since the last `pop`, or since the queue became non-empty if this is later.

        For an empty queue, return 0.
        """
        return time.monotonic() - self._last_progress if self._count else 0.0

    def put(self, client: str, item: T) -> None:
        """Append an item to the queue of a client."""
        if not self._count:
            self._last_progress = time.monotonic()
        self._queues.setdefault(client, deque()).append(item)
        self._count += 1

    def discard(self, client: str, item: T) -> None:
        """Remove a queued item of a client. Ignore an item that is not queued."""
        queue = self._queues.get(client)
        if queue is None or item not in queue:
            return
        queue.remove(item)
        self._count -= 1
        if not queue:
            del self._queues[client]

    def pop(self) -> T:
        """Remove and return the next item. Raise IndexError if the queue is empty."""
        if not self._queues:
            raise IndexError("pop from an empty queue")
        client = next(iter(self._queues))
        if len(self._queues) > 1:
            client = min(self._queues, key=self._usage.get)
        queue = self._queues.pop(client)
        item = queue.popleft()
        self._count -= 1
        self._last_progress = time.monotonic()
        if queue:
            # Move the client to the end, because `min` selects the first of several clients with equal usage.
            self._queues[client] = queue
        return item
