"""Worker process of a data loader: receives tasks through a pipe and sends batches.

Input: tasks in order. A `Task` contains an epoch, an index, and the numbers of segments that the main process
has released. Output: for each task, a message with a batch, a failure or `EXHAUSTED`.

A separate thread reads the tasks, so the main process never waits for a busy worker. If the main process
closes the pipe or exits, the worker has `SHUTDOWN_TIMEOUT_SECONDS` to finish its batch.
"""

from __future__ import annotations

import os
import pickle
import random
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, Final, NamedTuple

import numpy as np

import ts
from ts.utils.data.batch_transport import BatchSender, pickle_value
from ts.utils.data.exception_wrapper import ExceptionWrapper
from ts.utils.data.fetch import FetchSettings, make_fetcher

SHUTDOWN_TIMEOUT_SECONDS: Final = 5.0  # time for a worker to exit before it is killed
EXHAUSTED: Final = "exhausted"  # `BatchHeader.state` of the last message of an epoch


class Task(NamedTuple):
    """Request for a batch."""

    epoch: int
    index: Any
    released_segments: list[int]


class BatchHeader(NamedTuple):
    """Description of a worker's message. `state` is `EXHAUSTED` after the worker's last sample."""

    epoch: int
    state: str = ""


@dataclass(frozen=True)
class Job:
    """Arguments with which a worker process starts."""

    fetch_settings: FetchSettings
    base_seed: int
    init_fn: Callable[[int], None] | None
    id: int
    num_workers: int
    in_pipe: int


@dataclass(frozen=True)
class WorkerInfo:
    """Description of a worker for user code in it: id, number of workers, seed, copy of the data set."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Return the `WorkerInfo` of the current worker process, or None in any other process.

    An iterable data set can read it to divide its samples among the workers.
    """
    return _info


def work(connection: Connection, job: Job) -> None:
    """Create batches until the main process closes the pipe."""
    signal.signal(signal.SIGINT, _ignore_interrupt)
    _seed_worker(job)
    tasks = _TaskQueue(connection)
    outbox = BatchSender(connection, job.in_pipe)
    batches = _BatchProducer(job)
    for task in iter(tasks.next, None):
        outbox.reuse_segments(task.released_segments)
        label, buffers = batches.run_task(task)
        try:
            outbox.send(label, buffers)
        except (BrokenPipeError, ConnectionResetError):
            return  # the main process has closed the pipe


def _ignore_interrupt(signal_number: int, frame: Any) -> None:
    """Ignore Ctrl-C: the main process ends its workers itself."""


def _seed_worker(job: Job) -> None:
    """Seed the random number generators as PyTorch does, and use one thread."""
    global _info
    ts.set_num_threads(1)
    seed = job.base_seed + job.id
    random.seed(seed)
    ts.manual_seed(seed)
    np.random.seed(generate_state(job.base_seed, job.id))
    _info = WorkerInfo(job.id, job.num_workers, seed, job.fetch_settings.dataset)


def generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Return four integers that seed NumPy's generator in a worker (seed derivation)."""
    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return [int(word) for word in np.random.SeedSequence(words).generate_state(4)]


class _BatchProducer:
    """Creates the batches of a worker. Exceptions of user code become failures."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._epoch = -1
        self._is_exhausted = False
        self._fetch: Any = None
        self._failed = self._catch_exceptions(lambda: job.init_fn and job.init_fn(job.id))[1]

    def run_task(self, task: Task) -> tuple[BatchHeader, list[Any]]:
        """Run a task. Return the message's header, and its pickled content.

        The content is a batch, a failure, or None with the state `EXHAUSTED`.
        """
        if task.epoch != self._epoch:
            self._epoch, self._is_exhausted, self._fetch = task.epoch, False, None
        if self._is_exhausted:
            return BatchHeader(task.epoch, EXHAUSTED), pickle_value(None)
        failed, self._failed = self._failed, None
        if failed is not None:
            return BatchHeader(task.epoch), pickle_value(failed)
        buffers, failed = self._catch_exceptions(lambda: self._pack(task.index))
        if self._is_exhausted:
            return BatchHeader(task.epoch, EXHAUSTED), pickle_value(None)
        return BatchHeader(task.epoch), _packed_failure(failed) if failed else buffers

    def _pack(self, index: Any) -> Any:
        if self._fetch is None:
            self._fetch = make_fetcher(self._job.fetch_settings)
        try:
            batch = self._fetch(index)
        except StopIteration:
            if self._job.fetch_settings.by_index:
                raise
            self._is_exhausted = True
            return None
        return pickle_value(batch)

    def _catch_exceptions(self, function: Callable[[], Any]) -> tuple[Any, ExceptionWrapper | None]:
        try:
            return function(), None
        except Exception:
            return None, ExceptionWrapper(where=f"in DataLoader worker process {self._job.id}")


def _packed_failure(failure: ExceptionWrapper) -> list[Any]:
    """Pickle a failure. If its exception class cannot be pickled, replace the class by RuntimeError."""
    try:
        return pickle_value(failure)
    except Exception:  # the class cannot be pickled, for example because it was defined in a function
        failure.exc_msg = f"{failure.exc_type.__name__} in {failure.exc_msg}"
        failure.exc_type = RuntimeError
        return pickle_value(failure)


class _TaskQueue:
    """Queue of received tasks, which a thread reads from the pipe."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._queue: SimpleQueue[Any] = SimpleQueue()
        self._is_closed = False
        self._parent_pid = os.getppid()
        threading.Thread(target=self._read, name="ts loader tasks", daemon=True).start()

    def next(self) -> Task | None:
        """Return the next task, or None when the worker has to exit."""
        data = self._queue.get()
        return None if self._is_closed else Task(*pickle.loads(data))

    def _read(self) -> None:
        try:
            while True:
                while not self._connection.poll(SHUTDOWN_TIMEOUT_SECONDS):
                    # If another forked process has the pipe open, the exit of the parent does not close the
                    # pipe.
                    if os.getppid() != self._parent_pid:
                        raise EOFError
                data = self._connection.recv_bytes()
                if not data:
                    break
                self._queue.put(data)
        except (EOFError, OSError):
            pass  # the main process has exited
        self._is_closed = True
        self._queue.put(None)
        time.sleep(SHUTDOWN_TIMEOUT_SECONDS)
        os._exit(1)
