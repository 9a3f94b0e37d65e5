"""Iterators over the batches of a loader.

`SingleProcessIterator(loader)` creates batches in its own process, and `MultiProcessingIterator(loader)` in
worker processes. Each worker has its own pipe, and the loader notices at once if a worker dies. With
`in_order`, the loader reads only from the worker that creates the next batch.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import time
import warnings
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any, NoReturn

import ts
from ts.utils.data.batch_transport import MAX_QUEUED_BYTES, BatchReceiver
from ts.utils.data.collate import map_leaves
from ts.utils.data.exception_wrapper import ExceptionWrapper
from ts.utils.data.fetch import FetchSettings, make_fetcher
from ts.utils.data.worker import EXHAUSTED, SHUTDOWN_TIMEOUT_SECONDS, Job, Task, work


class Batches(Iterator[Any]):
    """Base class of single-process and multi-process batch iterators.

    It determines the order of indices and the seeds, pins memory, and issues warnings.
    """

    # The iterator must not refer to the loader, because with `persistent_workers` the loader refers to the
    # iterator, and both would form a reference cycle.

    def __init__(self, loader: Any) -> None:
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._fetch_settings = FetchSettings(
            loader.dataset,
            loader._by_index,
            loader.batch_sampler is not None,
            loader.collate_fn,
            loader.drop_last,
        )
        self._pins_memory = _pins_memory(loader)
        self._indices = iter(self._index_sampler)
        self._base_seed = int(ts.empty((), dtype=ts.int64).random_(generator=loader.generator).item())
        self._count = 0
        self._length = loader._last_length

    def start(self, length: int | None) -> None:
        """Start an epoch. `length` is the length that an iterable data set declares, if any."""
        self._indices = iter(self._index_sampler)
        self._count = 0
        self._length = length

    def _next(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        batch = self._next()
        self._count += 1
        if self._length is not None and self._count > self._length:
            self._warn()
        return map_leaves(_pin_value, batch) if self._pins_memory else batch

    def _warn(self) -> None:
        message = (
            f"Length of IterableDataset {self._fetch_settings.dataset} was reported to be {self._length}"
            f"(when accessing len(dataloader)), but {self._count} samples have been fetched. "
        )
        if self._num_workers > 0:
            message += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
            )
        warnings.warn(message, stacklevel=3)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


def _pins_memory(loader: Any) -> bool:
    if not loader.pin_memory:
        return False
    if loader.pin_memory_device:
        warnings.warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,"
            f"ignore pin_memory_device='{loader.pin_memory_device}'.",
            stacklevel=5,
        )
    if ts.cuda.is_available():
        return True
    warnings.warn(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory "
        "won't be used.",
        stacklevel=5,
    )
    return False


def _pin_value(value: Any) -> Any:
    return value.pin_memory() if hasattr(value, "pin_memory") else value


class SingleProcessIterator(Batches):
    """Iterator that creates each batch in this process when it is requested."""

    def __init__(self, loader: Any) -> None:
        if loader.timeout:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        super().__init__(loader)
        self._fetch = make_fetcher(self._fetch_settings)

    def _next(self) -> Any:
        return self._fetch(next(self._indices))


class MultiProcessingIterator(Batches):
    """Iterator of a prefetching loader (producer-consumer): worker processes create batches in advance.

    Each worker creates up to `prefetch_factor` batches in advance.
    """

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._prefetch = 2 if loader.prefetch_factor is None else loader.prefetch_factor
        if self._prefetch <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._timeout = loader.timeout
        self._in_order = loader.in_order
        self._is_persistent = loader.persistent_workers
        self._epoch = -1
        self._workers: list[_Worker] = []
        self._close = weakref.finalize(self, _terminate, self._workers, os.getpid())
        context = loader.multiprocessing_context or multiprocessing
        for worker_id in range(loader.num_workers):
            job = Job(
                self._fetch_settings,
                self._base_seed,
                loader.worker_init_fn,
                worker_id,
                loader.num_workers,
                MAX_QUEUED_BYTES // self._prefetch,
            )
            self._workers.append(_Worker(context, job))
        self.start(loader._last_length)

    def start(self, length: int | None) -> None:
        """Start an epoch with persistent workers.

        Batches of the previous epoch are discarded when they arrive.
        """
        super().start(length)
        self._epoch += 1
        for worker in self._workers:
            worker.is_active, worker.queued_tasks = True, 0
        self._worker_cycle = itertools.cycle(self._workers)
        self._order: deque[_Worker] = deque()
        for _ in range(self._prefetch * len(self._workers)):
            self._send_next_task()

    def _send_next_task(self) -> None:
        """Send the next index, if any, to the next active worker, if any."""
        try:
            index = next(self._indices)
        except StopIteration:
            return
        active = sum(worker.is_active for worker in self._workers)
        for worker in itertools.islice(self._worker_cycle, len(self._workers)):
            if not worker.is_active:
                continue
            if self._in_order or worker.queued_tasks < self._max_tasks() // active:
                worker.send(Task(self._epoch, index, worker.inbox.pop_released_segments()))
                self._order.append(worker)
                return

    def _max_tasks(self) -> int:
        return self._prefetch * len(self._workers)

    def _next(self) -> Any:
        while worker := self._pop_next_worker():
            header, inline_buffers = message = self._receive(worker)
            if header.label[0] != self._epoch:
                worker.inbox.discard(message)
                self._order.appendleft(worker)
                worker.queued_tasks += 1
                continue
            if header.label[1] == EXHAUSTED:
                worker.is_active = False
                self._send_next_task()
                continue
            batch = worker.inbox.open(message)
            del message, inline_buffers
            self._send_next_task()
            if isinstance(batch, ExceptionWrapper):
                batch.reraise()
            return batch
        if not self._is_persistent:
            self._close()
        raise StopIteration

    def _pop_next_worker(self) -> _Worker | None:
        """Remove the worker that creates the next batch from the order, and return it.

        Return None if no worker is active.
        """
        self._order = deque(worker for worker in self._order if worker.is_active)
        if not self._order:
            return None
        if self._in_order:
            worker = self._order.popleft()
        else:
            worker = self._wait_for_first_ready(list(dict.fromkeys(self._order)))
            self._order.remove(worker)
        worker.queued_tasks -= 1
        return worker

    def _receive(self, worker: _Worker) -> Any:
        self._wait_for_first_ready([worker])
        try:
            return worker.inbox.receive()
        except (EOFError, OSError):
            worker.has_died()

    def _wait_for_first_ready(self, workers: list[_Worker]) -> _Worker:
        """Return the first worker from which data has arrived.

        Raise RuntimeError on timeout or if a worker has died.
        """
        timeout = self._timeout or None
        for worker in workers:
            if worker.connection.poll():
                return worker
        events = {event: w for w in workers for event in (w.connection, w.process.sentinel)}
        ready = wait(list(events), timeout)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        for event in ready:
            if isinstance(event, Connection):
                return events[event]
        failed = events[ready[0]]
        if failed.connection.poll():  # before it died, the worker may have sent messages: read them first
            return failed
        failed.has_died()


class _Worker:
    """State of a worker in the main process: its process, connection and number of queued tasks."""

    def __init__(self, context: Any, job: Job) -> None:
        self.connection, worker_connection = multiprocessing.Pipe()
        _open_connections.add(self.connection)
        self.inbox = BatchReceiver(self.connection)
        self.is_active = True  # True if the worker may have more samples in this epoch
        self.queued_tasks = 0  # number of tasks whose batches were not read yet
        self.process = context.Process(target=work, args=(worker_connection, job), daemon=True)
        try:
            self.process.start()
        finally:
            worker_connection.close()

    def send(self, task: Task) -> None:
        """Send a task, and count it as queued."""
        self.queued_tasks += 1
        try:
            self.connection.send_bytes(ForkingPickler.dumps(tuple(task)))
        except (BrokenPipeError, ConnectionResetError):
            self.has_died()

    def has_died(self) -> NoReturn:
        """Raise RuntimeError with PyTorch's message for a worker that has exited."""
        self.process.join(SHUTDOWN_TIMEOUT_SECONDS)
        pid, code = self.process.pid, self.process.exitcode
        if code is not None and code < 0:
            cause = f"is killed by signal: {signal.strsignal(-code)}. "
        else:
            cause = (
                f"exited unexpectedly with exit code {code}. Details are lost due to multiprocessing. "
                "Rerunning with num_workers=0 may give better error trace."
            )
        raise RuntimeError(f"DataLoader worker (pid(s) {pid}) exited unexpectedly") from RuntimeError(
            f"DataLoader worker (pid {pid}) {cause}"
        )


# Ends of the pipes to workers that belong to this process
_open_connections: weakref.WeakSet[Connection] = weakref.WeakSet()


def _close_inherited_pipes() -> None:
    """Close the pipes of the parent in a forked child.

    If a child kept the pipes open, the workers at their other ends would not notice the exit of the parent.
    """
    for connection in list(_open_connections):
        connection.close()
    _open_connections.clear()


os.register_at_fork(after_in_child=_close_inherited_pipes)


def _terminate(workers: list[_Worker], owner: int) -> None:
    """Terminate the workers. Kill each worker that does not exit in time."""
    if os.getpid() != owner:
        return  # in a forked child: the workers belong to its parent
    for worker in workers:
        with suppress(OSError):  # the worker may have exited already
            worker.connection.send_bytes(b"")
        worker.connection.close()
    deadline = time.monotonic() + SHUTDOWN_TIMEOUT_SECONDS + 1
    for worker in workers:
        worker.process.join(max(0.0, deadline - time.monotonic()))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        worker.process.close()
