"""Process pool of pre-forked worker processes, divided into priority classes.

The example gets a worker of class TRUSTED, sends a message to it, and releases it. `acquire` returns None if
no worker may run the work yet:

    pool = WorkerPool(fork_server, limits, spare_workers=1, on_available=..., on_failure=...)
    await pool.start()
    worker = pool.acquire(TRUSTED, wait_seconds=0.01)
    worker.request(message, on_response)
    pool.release(worker)

The first request of a worker determines its class, and thereby its nice level. A class has a single worker as
long as this worker keeps up with the requests. Otherwise, it has at most one worker per processor. UNTRUSTED
gets an additional worker for each worker that is busy with one message for `_STUCK_AFTER_SECONDS`.

The pool has at most `limits.workers` workers. One worker is reserved for each class. If the pool has fewer
than `_MIN_WORKERS_FOR_CLASSES` workers, all classes share all workers.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any, Final

from ts.serve.fork_server_client import ForkServer, ForkServerError
from ts.serve.ipc_protocol import IpcChannel, Message
from ts.serve.metrics import Counter, Gauge
from ts.serve.server_limits import HTTPError, ServerLimits

TRUSTED: Final = 0
UNTRUSTED: Final = 1
SLOW: Final = 2
_PRIORITY_CLASSES: Final = (TRUSTED, UNTRUSTED, SLOW)
_NICE_LEVELS: Final = (0, 4, 8)  # nice levels of the classes TRUSTED, UNTRUSTED and SLOW
_MIN_WORKERS_FOR_CLASSES: Final = 4
_PROCESSOR_COUNT: Final = os.cpu_count() or 1
_STUCK_AFTER_SECONDS: Final = 0.3
# If a request of TRUSTED or UNTRUSTED has waited for this time, the class gets another worker. This is also
# the interval at which attempts to get a worker are repeated.
_SPAWN_DELAY_SECONDS: Final = 0.03
_IDLE_TIMEOUT_SECONDS: Final = 30.0


class Worker:
    """Worker process: its channel, and the time of its last change between busy and idle."""

    def __init__(self, channel: IpcChannel) -> None:
        self._channel = channel
        self.since = time.monotonic()
        self.priority_class: int | None = None

    @property
    def nice(self) -> int:
        """Nice level of the worker's priority class."""
        return 0 if self.priority_class is None else _NICE_LEVELS[self.priority_class]

    def request(self, message: bytes, on_response: Callable[[Message | None], None]) -> None:
        """Send a message. Call `on_response` with the response, or with None if the process exits."""
        self.since = time.monotonic()
        self._channel.request(message, on_response)

    @property
    def busy_seconds(self) -> float:
        """Seconds since the last message was sent to this worker."""
        return time.monotonic() - self.since

    def close(self) -> None:
        """Close the channel. The worker process exits when it tries to read its next request."""
        self._channel.close()


class WorkerPool:
    """Worker processes of all priority classes."""

    def __init__(
        self,
        fork_server: ForkServer,
        limits: ServerLimits,
        *,
        spare_workers: int,
        on_available: Callable[[], None],
        on_failure: Callable[[HTTPError], None],
    ) -> None:
        self._fork_server = fork_server
        self._max_workers = limits.workers
        self._has_classes = limits.workers >= _MIN_WORKERS_FOR_CLASSES
        self._spare_workers = min(spare_workers, self._max_workers)
        self._on_available, self._on_failure = on_available, on_failure
        self._idle: list[Worker] = []
        self._workers: set[Worker] = set()
        self._spawn_tasks: set[asyncio.Task[None]] = set()
        self._retry_timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        self.unexpected_exits = Counter(
            "ts_serve_processes_ended_total", "Worker processes that exited during a request."
        )

    def metrics(self) -> list[Any]:
        """Return the metrics of the pool."""
        return [
            self.unexpected_exits,
            Gauge("ts_serve_processes", "Worker processes.", lambda: len(self._workers)),
            Gauge(
                "ts_serve_processes_busy",
                "Worker processes that are busy.",
                lambda: len(self._workers) - len(self._idle),
            ),
        ]

    @property
    def is_ready(self) -> bool:
        """True if a worker process exists or the fork server is alive."""
        return bool(self._workers) or self._fork_server.is_alive

    async def start(self) -> None:
        """Start the spare workers."""
        await asyncio.gather(*(self._spawn_worker() for _ in range(self._spare_workers)))

    async def close(self) -> None:
        """Close all workers and cancel the start of further workers."""
        self._is_closed = True
        if self._retry_timer is not None:
            self._retry_timer.cancel()
        for worker in self._workers:
            worker.close()
        for task in self._spawn_tasks:
            task.cancel()
        await asyncio.gather(*self._spawn_tasks, return_exceptions=True)

    def acquire(self, priority_class: int, wait_seconds: float) -> Worker | None:
        """Return an idle worker for a queue that has waited `wait_seconds`, and mark the worker as busy.

        Return None if the queue must wait longer. The pool calls `on_available` when a call may succeed.
        """
        worker = next((each for each in self._idle if each.priority_class == priority_class), None)
        if worker is None:
            worker = next((each for each in self._idle if each.priority_class is None), None)
            if not self._may_get_worker(priority_class, worker, wait_seconds):
                return None
        if worker is not None:
            self._idle.remove(worker)
            worker.priority_class = priority_class if self._has_classes else None
            self.spawn_spares()
        return worker

    def _may_get_worker(self, priority_class: int, spare: Worker | None, wait_seconds: float) -> bool:
        """Return True if a priority class may get another worker, and start new spare workers.

        Otherwise, schedule a call of `on_available`.
        """
        if not self._has_classes:
            if spare is None:
                self._spawn(1)
            return True
        own = [each for each in self._workers if each.priority_class == priority_class]
        others = [self._count_busy(other) for other in _PRIORITY_CLASSES if other != priority_class]
        max_own = _PROCESSOR_COUNT
        if priority_class == UNTRUSTED:
            max_own += sum(each.busy_seconds > _STUCK_AFTER_SECONDS for each in own)
        max_own = min(max_own, self._max_workers - sum(max(1, count) for count in others))
        if len(own) >= max_own or (own and priority_class != SLOW and wait_seconds < _SPAWN_DELAY_SECONDS):
            self._schedule_retry()
            return False
        if spare is None and len(self._workers) + len(self._spawn_tasks) >= self._max_workers:
            self._evict_idle_worker()
        self.spawn_spares()
        return True

    def _evict_idle_worker(self) -> None:
        """Close one idle worker whose priority class has other workers."""
        for worker in self._idle:
            if sum(each.priority_class == worker.priority_class for each in self._workers) > 1:
                self.discard(worker)
                return

    def _schedule_retry(self) -> None:
        if self._retry_timer is None:
            self._retry_timer = asyncio.get_running_loop().call_later(_SPAWN_DELAY_SECONDS, self._retry)

    def _retry(self) -> None:
        self._retry_timer = None
        self._on_available()

    def release(self, worker: Worker) -> None:
        """Add a worker to the idle workers of its priority class."""
        worker.since = time.monotonic()
        self._idle.append(worker)

    def discard(self, worker: Worker) -> None:
        """Close a worker that is no longer needed or that has exited."""
        self._workers.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        worker.close()
        self.spawn_spares()

    def spawn_spares(self) -> None:
        """Start workers until the pool has the required number of spare workers."""
        if not self._is_closed:
            spare_count = sum(each.priority_class is None for each in self._idle) + len(self._spawn_tasks)
            self._spawn(self._spare_workers - (spare_count if self._has_classes else len(self._workers)))

    def shrink(self) -> None:
        """Close workers that have been idle for `_IDLE_TIMEOUT_SECONDS` (idle timeout, scale down)."""
        now = time.monotonic()
        for worker in self._idle[:]:
            if worker.priority_class is not None and now - worker.since > _IDLE_TIMEOUT_SECONDS:
                self.discard(worker)

    def _count_busy(self, priority_class: int) -> int:
        busy = self._workers.difference(self._idle)
        return sum(each.priority_class == priority_class for each in busy)

    def _spawn(self, count: int) -> None:
        capacity = self._max_workers - len(self._workers) - len(self._spawn_tasks)
        for _ in range(min(count, capacity)):
            task = asyncio.get_running_loop().create_task(self._spawn_worker())
            self._spawn_tasks.add(task)
            task.add_done_callback(self._spawn_tasks.discard)

    async def _spawn_worker(self) -> None:
        try:
            worker = Worker(await self._fork_server.fork())
        except ForkServerError as error:
            if not self._workers:
                self._on_failure(HTTPError(503, "no_process", str(error), retry_seconds=5))
            return
        if self._is_closed:
            worker.close()
            return
        self._workers.add(worker)
        self._idle.append(worker)
        self._on_available()
