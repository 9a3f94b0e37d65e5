"""One function over many batches, by the processes that call each other.

    for result in distributed.map(scripted, batches):          results in the order of the batches

Each process has `in_flight` batches at once, and no more are taken from `batches` than twice as many as all
have: who reads results slowly, or whose batches come slowly, holds the others back.  A batch of a process
that goes is given to another one, where the function may be called twice (`retryable=True`).
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
from ts.distributed.errors import Gone
from ts.distributed.rpc.state import current
from ts.ops.rref import WorkerInfo

_FAILURES: Final = 8  # connections to one process that break, with no result between them


@dataclass(eq=False)
class _Batch:
    """A batch on its way."""

    arguments: tuple[Any, ...]
    worker: WorkerInfo
    future: Future[Any]


class _Map:
    def __init__(
        self, f: Any, workers: Iterable[Any] | None, in_flight: int, retryable: bool, timeout: float
    ) -> None:
        self.agent = current()
        self.f = f
        self.in_flight = in_flight
        self.retryable = retryable
        self.timeout = timeout
        if workers is None:
            chosen = self.agent.members.workers() or [self.agent.info]
        else:
            chosen = [self.agent.peer(worker).info for worker in workers]
        if not chosen:
            raise ValueError("map has no workers")
        self.workers: list[WorkerInfo] = chosen
        self.busy: Counter[WorkerInfo] = Counter()
        self.failures: Counter[WorkerInfo] = Counter()  # one after the other, of connections
        self.waiting: deque[_Batch] = deque()  # in the order of the batches
        self.changed = threading.Condition()

    def run(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The results in order."""
        source = iter(batches)
        more = True
        while more or self.waiting:
            while more and len(self.waiting) < 2 * self.in_flight * len(self.workers):
                worker = self._free()
                if worker is None:
                    break
                try:
                    batch = next(source)
                except StopIteration:
                    more = False
                else:
                    arguments = batch if isinstance(batch, tuple) else (batch,)
                    self.waiting.append(_Batch(arguments, worker, self._call(worker, arguments)))
            if self.waiting and self.waiting[0].future.done():
                yield self._result(self.waiting[0])
                self.waiting.popleft()
            elif more or self.waiting:
                with self.changed:
                    while not self._may_go_on(more):
                        self.changed.wait()

    def _may_go_on(self, more: bool) -> bool:
        room = more and len(self.waiting) < 2 * self.in_flight * len(self.workers)
        return (room and self._free() is not None) or (bool(self.waiting) and self.waiting[0].future.done())

    def _free(self) -> WorkerInfo | None:
        """The process with the fewest batches, if it takes another one."""
        best = min(self.workers, key=self.busy.__getitem__)
        return best if self.busy[best] < self.in_flight else None

    def _call(self, worker: WorkerInfo, arguments: tuple[Any, ...]) -> Future[Any]:
        with self.changed:
            self.busy[worker] += 1
        future = self.agent.call(worker, self.f, arguments, None, self.timeout)

        def over(future: Future[Any]) -> None:
            with self.changed:
                self.busy[worker] -= 1
                if future.exception() is None:
                    self.failures[worker] = 0
                self.changed.notify_all()

        future.add_done_callback(over)
        return future

    def _result(self, batch: _Batch) -> Any:
        """The result of a batch; if its process has gone, or the connection broke, it is given to another, or
        to the same again, where it may."""
        while True:
            try:
                return batch.future.wait()
            except Gone as gone:
                self._failed(batch.worker, gone)
                if not self.retryable or not self.workers:
                    raise
                batch.worker = min(self.workers, key=lambda each: (self.failures[each], self.busy[each]))
                batch.future = self._call(batch.worker, batch.arguments)

    def _failed(self, worker: WorkerInfo, gone: Gone) -> None:
        """Give no more to a process where nobody listens, or whose connection breaks again and again."""
        self.failures[worker] += 1
        if worker in self.workers and (gone.refused or self.failures[worker] >= _FAILURES):
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
    """The results of `f(*batch)`, or `f(batch)` of what is no tuple, in the order of the batches.

    f           what `rpc_sync` takes: a scripted function or module, an operator
    workers     the processes, by name, number or WorkerInfo; without them all but this one, or a cluster's
                workers
    in_flight   batches that a process has at once
    retryable   whether a batch may be given to another process when its own has gone
    progress    a count on standard error; without it, where that is a terminal
    timeout     seconds that a batch may take; 0: any number, -1: as `init_rpc` was told

    What `f` raises is raised in the place of its result.  RuntimeError where a process goes and may not be
    replaced.
    """
    if in_flight < 1:
        raise ValueError(f"in_flight must be positive, got {in_flight}")
    results = _Map(f, workers, in_flight, retryable, timeout).run(batches)
    shown = sys.stderr.isatty() if progress is None else progress
    return _counted(results, operator.length_hint(batches)) if shown else results


def _counted(results: Iterator[Any], total: int) -> Iterator[Any]:
    """The results, with a line that says how many there are."""
    of = f"/{total}" if total else ""
    for count, result in enumerate(results, 1):
        print(f"\rmap: {count}{of}", end="", file=sys.stderr, flush=True)
        yield result
    print(file=sys.stderr)
