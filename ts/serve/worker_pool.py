"""The processes that work: how many there are, and for what.

    pool = Pool(nursery, bounds, fresh=1, freed=..., failed=...)
    await pool.start()
    worker = pool.take(KNOWN, waited=0.01)                        None if there is none now
    worker.ask(message, told); pool.give(worker)                  or pool.lose(worker)

There are three lanes, and the system runs processes of the first rather than those of the others.  A process
belongs to the lane that first takes it; a few that are fresh are always there.  A lane has one process as
long as that keeps up, and otherwise as many as the machine has processors; the second has one more for each
that has been busy with one thing for a while.  All together are at most `bounds.workers`, and each lane can
always have one of these.  Where they are too few for that, every lane takes any.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any, Final

from ts.serve.fork_server_client import Nursery, NurseryError
from ts.serve.ipc_protocol import Channel, Message
from ts.serve.metrics import Counter, Gauge
from ts.serve.server_limits import Bounds, Refusal

KNOWN: Final = 0
NEW: Final = 1
SLOW: Final = 2
_LANES: Final = (KNOWN, NEW, SLOW)
_NICE: Final = (0, 4, 8)  # what processes of a lane leave to others
_FEW: Final = 4  # processes, for lanes of their own
_PROCESSORS: Final = os.cpu_count() or 1
_STUCK: Final = 0.3  # seconds after which a process that is busy does not count as one that will be free
_PATIENCE: Final = 0.03  # seconds that work waits before its lane has another process
_IDLE: Final = 30.0  # seconds after which a process that is not needed ends


class Worker:
    """A child, and since when it has been busy, or idle."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.since = time.monotonic()
        self.lane: int | None = None

    @property
    def nice(self) -> int:
        """What it leaves to others."""
        return 0 if self.lane is None else _NICE[self.lane]

    def ask(self, message: bytes, told: Callable[[Message | None], None]) -> None:
        """`told` gets its answer, or None if it ends before that."""
        self.since = time.monotonic()
        self._channel.ask(message, told)

    @property
    def taken(self) -> float:
        """Seconds since it was asked."""
        return time.monotonic() - self.since

    def close(self) -> None:
        """It ends, as soon as it listens."""
        self._channel.close()


class Pool:
    """All of them."""

    def __init__(
        self,
        nursery: Nursery,
        bounds: Bounds,
        *,
        fresh: int,
        freed: Callable[[], None],
        failed: Callable[[Refusal], None],
    ) -> None:
        self._nursery = nursery
        self._most = bounds.workers
        self._has_lanes = bounds.workers >= _FEW
        self._fresh = min(fresh, self._most)
        self._freed, self._failed = freed, failed
        self._idle: list[Worker] = []
        self._workers: set[Worker] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._looking: asyncio.TimerHandle | None = None
        self._is_closed = False
        self.ended = Counter(
            "ts_serve_processes_ended_total", "Processes that ended while they were working."
        )

    def metrics(self) -> list[Any]:
        """What is counted here."""
        return [
            self.ended,
            Gauge("ts_serve_processes", "Processes that are there.", lambda: len(self._workers)),
            Gauge(
                "ts_serve_processes_busy",
                "Those that are busy.",
                lambda: len(self._workers) - len(self._idle),
            ),
        ]

    @property
    def is_ready(self) -> bool:
        """Whether work can be done."""
        return bool(self._workers) or self._nursery.is_alive

    async def start(self) -> None:
        """Have processes before the first request."""
        await asyncio.gather(*(self._start_one() for _ in range(self._fresh)))

    async def close(self) -> None:
        """End all of them."""
        self._is_closed = True
        if self._looking is not None:
            self._looking.cancel()
        for worker in self._workers:
            worker.close()
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)

    def take(self, lane: int, waited: float) -> Worker | None:
        """One for work that has waited so long; None if it must wait longer."""
        worker = next((each for each in self._idle if each.lane == lane), None)
        if worker is None:
            worker = next((each for each in self._idle if each.lane is None), None)
            if not self._may_grow(lane, worker, waited):
                return None
        if worker is not None:
            self._idle.remove(worker)
            worker.lane = lane if self._has_lanes else None
            self.fill()
        return worker

    def _may_grow(self, lane: int, fresh: Worker | None, waited: float) -> bool:
        """Whether a lane may have another process, if there is one."""
        if not self._has_lanes:
            if fresh is None:
                self._start(1)
            return True
        own = [each for each in self._workers if each.lane == lane]
        others = [self._count_busy(other) for other in _LANES if other != lane]
        wanted = _PROCESSORS
        if lane == NEW:
            wanted += sum(each.taken > _STUCK for each in own)
        most = min(wanted, self._most - sum(max(1, count) for count in others))
        if len(own) >= most or (own and lane != SLOW and waited < _PATIENCE):
            self._look_again()
            return False
        if fresh is None and len(self._workers) + len(self._starting) >= self._most:
            self._make_room()
        self.fill()
        return True

    def _make_room(self) -> None:
        """End one that is idle, of a lane that has others."""
        for worker in self._idle:
            if sum(each.lane == worker.lane for each in self._workers) > 1:
                self.lose(worker)
                return

    def _look_again(self) -> None:
        if self._looking is None:
            self._looking = asyncio.get_running_loop().call_later(_PATIENCE, self._look)

    def _look(self) -> None:
        self._looking = None
        self._freed()

    def give(self, worker: Worker) -> None:
        """It is idle again."""
        worker.since = time.monotonic()
        self._idle.append(worker)

    def lose(self, worker: Worker) -> None:
        """It ends, or has ended."""
        self._workers.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        worker.close()
        self.fill()

    def fill(self) -> None:
        """Have fresh processes."""
        if not self._is_closed:
            fresh = sum(each.lane is None for each in self._idle) + len(self._starting)
            self._start(self._fresh - (fresh if self._has_lanes else len(self._workers)))

    def shrink(self) -> None:
        """End what has not been needed for long."""
        now = time.monotonic()
        for worker in self._idle[:]:
            if worker.lane is not None and now - worker.since > _IDLE:
                self.lose(worker)

    def _count_busy(self, lane: int) -> int:
        busy = self._workers.difference(self._idle)
        return sum(each.lane == lane for each in busy)

    def _start(self, count: int) -> None:
        room = self._most - len(self._workers) - len(self._starting)
        for _ in range(min(count, room)):
            task = asyncio.get_running_loop().create_task(self._start_one())
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def _start_one(self) -> None:
        try:
            worker = Worker(await self._nursery.child())
        except NurseryError as error:
            if not self._workers:
                self._failed(Refusal(503, "no_process", str(error), retry=5))
            return
        if self._is_closed:
            worker.close()
            return
        self._workers.add(worker)
        self._idle.append(worker)
        self._freed()
