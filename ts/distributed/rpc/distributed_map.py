"""Parallel map over RPC workers (`distributed.map`) with load balancing and backpressure.

Input: a function and batches. Output: an iterator of the results, in the order of the batches. Example:

    for result in distributed.map(scripted, batches): ...

Each worker has up to `in_flight` batches at a time. `map` reads at most 2 * `in_flight` batches per worker in
advance. Therefore, a slow consumer of the results slows down the workers.
"""

from __future__ import annotations

import operator
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from ts._core.vm.future import Future
from ts.distributed.errors import WorkerUnavailableError
from ts.distributed.rpc.state import current
from ts.ops.rpc_ops import WorkerInfo

# A worker gets no more batches after this number of connection failures without a successful result between
# them.
_MAX_CONSECUTIVE_FAILURES: Final = 8


@dataclass(eq=False)
class _Batch:
    """Batch sent to a worker, with the future of its result."""

    arguments: tuple[Any, ...]
    worker: WorkerInfo
    future: Future[Any]


class _DistributedMap:
    def __init__(
        self, f: Any, workers: Iterable[Any] | None, in_flight: int, retryable: bool, timeout: float
    ) -> None:
        self.agent = current()
        self.f = f
        self.in_flight = in_flight
        self.retryable = retryable
        self.timeout = timeout
        if workers is None:
            selected = self.agent.directory.workers() or [self.agent.info]
        else:
            selected = [self.agent.peer(worker).info for worker in workers]
        if not selected:
            raise ValueError("map: no workers are available")
        self.workers: list[WorkerInfo] = selected
        self.busy: Counter[WorkerInfo] = Counter()
        # worker -> number of its connection failures since its last result
        self.failures: Counter[WorkerInfo] = Counter()
        # batches that were sent and whose results have not been yielded yet, in the order of the input
        self.queued_batches: deque[_Batch] = deque()
        self.changed = threading.Condition()

    def run(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the results in the order of the batches."""
        source = iter(batches)
        more = True
        while more or self.queued_batches:
            while more and len(self.queued_batches) < 2 * self.in_flight * len(self.workers):
                worker = self._least_busy_worker()
                if worker is None:
                    break
                try:
                    batch = next(source)
                except StopIteration:
                    more = False
                else:
                    arguments = batch if isinstance(batch, tuple) else (batch,)
                    self.queued_batches.append(_Batch(arguments, worker, self._call(worker, arguments)))
            if self.queued_batches and self.queued_batches[0].future.done():
                yield self._result(self.queued_batches[0])
                self.queued_batches.popleft()
            elif more or self.queued_batches:
                with self.changed:
                    while not self._can_proceed(more):
                        self.changed.wait()

    def _can_proceed(self, more: bool) -> bool:
        has_queue_space = more and len(self.queued_batches) < 2 * self.in_flight * len(self.workers)
        return (has_queue_space and self._least_busy_worker() is not None) or (
            bool(self.queued_batches) and self.queued_batches[0].future.done()
        )

    def _least_busy_worker(self) -> WorkerInfo | None:
        """Return the worker with the fewest in-flight batches (least loaded), or None if all are full."""
        best = min(self.workers, key=self.busy.__getitem__)
        return best if self.busy[best] < self.in_flight else None

    def _call(self, worker: WorkerInfo, arguments: tuple[Any, ...]) -> Future[Any]:
        with self.changed:
            self.busy[worker] += 1
        future = self.agent.call(worker, self.f, arguments, None, self.timeout)

        def on_done(future: Future[Any]) -> None:
            with self.changed:
                self.busy[worker] -= 1
                if future.exception() is None:
                    self.failures[worker] = 0
                self.changed.notify_all()

        future.add_done_callback(on_done)
        return future

    def _result(self, batch: _Batch) -> Any:
        """Wait for the result of a batch.

        If the connection breaks and `retryable` is set, send the batch to another worker.
        """
        while True:
            try:
                return batch.future.wait()
            except WorkerUnavailableError as error:
                self._record_failure(batch.worker, error)
                if not self.retryable or not self.workers:
                    raise
                batch.worker = min(self.workers, key=lambda each: (self.failures[each], self.busy[each]))
                batch.future = self._call(batch.worker, batch.arguments)

    def _record_failure(self, worker: WorkerInfo, error: WorkerUnavailableError) -> None:
        """Count a connection failure of a worker (circuit breaker).

        Stop using the worker if it refused the connection or failed too often.
        """
        self.failures[worker] += 1
        if worker in self.workers and (
            error.connection_refused or self.failures[worker] >= _MAX_CONSECUTIVE_FAILURES
        ):
            self.workers.remove(worker)


def map(
    f: Any,
    batches: Iterable[Any],
    *,
    workers: Iterable[Any] | None = None,
    in_flight: int = 2,
    retryable: bool = False,
    progress: bool | None = None,
    timeout: float = -1.0,
) -> Iterator[Any]:
    """Yield `f(*batch)` for tuples and `f(batch)` for other batches, in the order of the batches.

    f           any callee of `rpc_sync`, such as a scripted function or module, or an operator
    workers     names, ids or WorkerInfos. The default is all other workers (in a cluster, those of kind
                "worker"), or this process if there are none
    in_flight   maximum number of batches per worker
    retryable   whether a batch of a lost worker may be sent to another worker
    progress    whether to print the number of results to standard error (default: if it is a terminal)
    timeout     seconds per batch (0: no timeout, -1: the default of `init_rpc`)

    An exception of `f` is raised in place of its result. Raise RuntimeError if a worker is lost and its batch
    may not be sent again.
    """
    if in_flight < 1:
        raise ValueError(f"in_flight must be positive, got {in_flight}")
    results = _DistributedMap(f, workers, in_flight, retryable, timeout).run(batches)
    show_progress = sys.stderr.isatty() if progress is None else progress
    return _with_progress(results, operator.length_hint(batches)) if show_progress else results


def _with_progress(results: Iterator[Any], total: int) -> Iterator[Any]:
    """Yield the results, and print their number to standard error."""
    of = f"/{total}" if total else ""
    for count, result in enumerate(results, 1):
        print(f"\rmap: {count}{of}", end="", file=sys.stderr, flush=True)
        yield result
    print(file=sys.stderr)
