"""Requests to processes: a queue with a bound, and what waits goes together.

    batcher = Batcher(nursery, bounds)
    await batcher.start()
    status, type, body = await batcher.submit(body, "json", "json")        Refusal if the queue is full

Nobody waits for a batch to fill: while a process is busy requests gather, and the next one that is free
takes them.  What goes wrong in company runs again alone: whoever took too long, or ended the process, harms
no other.

    queue   [c d e f]  -- up to `batch` -->  process: [a b]      a and b as one, within a short time
                                             process: [x]        alone, with all the time of a request

There is one process as long as it keeps up.  Where requests wait there are as many as processors, and one
more for each that has been busy with one thing for a while, up to `workers`.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ts.serve.frames import pack, receive
from ts.serve.limits import Bounds, Refusal
from ts.serve.metrics import SIZES, Counter, Gauge, Histogram
from ts.serve.processes import Nursery, NurseryError

_STUCK: Final = 0.1  # seconds after which a process that is busy does not count as one that will be free
_PATIENCE: Final = 0.03  # seconds that requests wait for a process before there is another
_LEAST: Final = 0.1  # seconds that a batch has, at the least
_TIMES: Final = 10  # as much as batches take may one take
_IDLE: Final = 30.0  # seconds after which a process that is not needed ends
_BATCH_BYTES: Final = 32 << 20


class Answer(NamedTuple):
    """What goes back."""

    status: int
    type: str
    body: bytes


class _Job:
    __slots__ = ("alone", "answer", "body", "expiry", "kinds", "since")

    def __init__(self, body: bytes, kinds: tuple[str, str], answer: asyncio.Future[Answer]) -> None:
        self.body = body
        self.kinds = kinds
        self.answer = answer
        self.alone = False
        self.since = time.monotonic()
        self.expiry: asyncio.TimerHandle | None = None


class _Worker:
    """A child, and since when it has been busy."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.since = time.monotonic()


class Batcher:
    """The queue, and the processes."""

    def __init__(self, nursery: Nursery, bounds: Bounds) -> None:
        self._nursery = nursery
        self._bounds = bounds
        self._queue: deque[_Job] = deque()
        self._idle: list[_Worker] = []
        self._workers: set[_Worker] = set()
        self._starting = 0
        self._growing: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._usual = 0.0  # seconds that a batch takes, lately
        self._is_closed = False
        self.sizes = Histogram("ts_serve_batch_size", "Requests that ran as one.", SIZES)
        self.ended = Counter(
            "ts_serve_processes_ended_total", "Processes that ended while they were working."
        )
        self.apart = Counter("ts_serve_apart_total", "Requests that ran again alone, out of a batch.")

    def metrics(self) -> list[Any]:
        """What is counted here."""
        return [
            self.sizes,
            self.ended,
            self.apart,
            Gauge("ts_serve_queue", "Requests that wait.", lambda: len(self._queue)),
            Gauge("ts_serve_processes", "Processes that run the model.", lambda: len(self._workers)),
            Gauge(
                "ts_serve_processes_busy",
                "Those that are busy.",
                lambda: len(self._workers) - len(self._idle),
            ),
        ]

    @property
    def is_ready(self) -> bool:
        """Whether requests can be answered."""
        return bool(self._workers) or self._nursery.is_alive

    async def start(self) -> None:
        """Have a process before the first request."""
        await self._grow_now()

    async def submit(self, body: bytes, given: str, wanted: str) -> Answer:
        """The answer to a request."""
        if len(self._queue) >= self._bounds.queue:
            raise Refusal(503, "busy", "too many requests wait already", retry=1)
        loop = asyncio.get_running_loop()
        job = _Job(body, (given, wanted), loop.create_future())
        self._queue.append(job)
        self._dispatch()
        if not self._idle and self._queue:
            job.expiry = loop.call_later(
                self._bounds.seconds + self._bounds.client_seconds, self._expire, job
            )
            self._watch()
        return await job.answer

    async def close(self) -> None:
        """End the processes; what is not answered by now is refused."""
        self._is_closed = True
        while self._queue:
            _fail(self._queue.popleft(), Refusal(503, "ending", "the server is being stopped"))
        for worker in self._workers:
            worker.writer.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ---- the queue -----------------------------------------------------------------------------------

    def _dispatch(self) -> None:
        """Give what waits to who is free."""
        while self._queue and self._idle:
            jobs = self._next()
            if jobs:
                self._spawn(self._run(self._idle.pop(), jobs))

    def _next(self) -> list[_Job]:
        jobs: list[_Job] = []
        size = 0
        while self._queue and len(jobs) < self._bounds.batch:
            job = self._queue[0]
            if job.answer.done():  # nobody waits for it any more
                self._queue.popleft()
                continue
            if jobs and (job.alone or size + len(job.body) > _BATCH_BYTES):
                break
            jobs.append(self._queue.popleft())
            size += len(job.body)
            if job.alone:
                break
        for job in jobs:
            if job.expiry is not None:
                job.expiry.cancel()
        return jobs

    def _expire(self, job: _Job) -> None:
        _fail(job, Refusal(503, "busy", "the request waited too long", retry=5))

    # ---- processes -----------------------------------------------------------------------------------

    async def _run(self, worker: _Worker, jobs: list[_Job]) -> None:
        """Let a process work, and give it back."""
        seconds = self._bounds.seconds if len(jobs) == 1 else self._of_a_batch()
        worker.since = time.monotonic()
        self.sizes.add(len(jobs))
        try:
            asked = {"kinds": [job.kinds for job in jobs], "seconds": seconds}
            worker.writer.write(pack(asked, [job.body for job in jobs]))
            head, parts = await receive(worker.reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            self._lose(worker)
            self.ended.add()
            self._after_an_end(jobs, time.monotonic() - worker.since > seconds)
        else:
            taken = time.monotonic() - worker.since
            if head["leaves"]:
                self._lose(worker)
            else:
                self._idle.append(worker)
            answers = head["answers"]
            if all(answer.get("status") == 200 for answer in answers):
                self._usual += (taken - self._usual) / 8
            for job, answer, part in reversed([*zip(jobs, answers, parts, strict=True)]):
                if "apart" in answer:
                    self._again(job)
                elif not job.answer.done():
                    job.answer.set_result(Answer(answer["status"], answer["type"], part))
            if not head["leaves"]:
                asyncio.get_running_loop().call_later(_IDLE, self._end_idle, worker, worker.since)
        self._dispatch()
        self._watch()

    def _of_a_batch(self) -> float:
        """Short, so that nobody takes the time of those beside it for long."""
        return min(self._bounds.seconds, max(_LEAST, _TIMES * self._usual))

    def _after_an_end(self, jobs: Sequence[_Job], is_late: bool) -> None:
        for job in reversed(jobs):
            if len(jobs) > 1:
                self._again(job)
            elif is_late:
                _fail(job, Refusal(504, "too_long", "the model took more time than a request may have"))
            else:
                _fail(
                    job,
                    Refusal(500, "ended", "the process that ran the model has ended: out of memory, perhaps"),
                )

    def _again(self, job: _Job) -> None:
        job.alone = True
        self.apart.add()
        self._queue.appendleft(job)

    def _lose(self, worker: _Worker) -> None:
        self._workers.discard(worker)
        worker.writer.close()

    def _end_idle(self, worker: _Worker, since: float) -> None:
        """End a process that has done nothing since then, unless it is the last."""
        if worker.since == since and worker in self._idle and len(self._workers) > 1:
            self._idle.remove(worker)
            self._lose(worker)

    def _watch(self) -> None:
        """Look in a moment whether there are enough processes."""
        if self._queue and self._growing is None and not self._is_closed:
            delay = _PATIENCE if self._workers else 0.0
            self._growing = asyncio.get_running_loop().call_later(delay, self._grow)

    def _grow(self) -> None:
        self._growing = None
        if not self._queue or self._idle or self._is_closed:
            return
        now = time.monotonic()
        stuck = sum(now - worker.since > _STUCK for worker in self._workers)
        most = min(self._bounds.workers, stuck + (os.cpu_count() or 1))
        if now - self._queue[0].since > _PATIENCE:
            wanted = -(-len(self._queue) // self._bounds.batch)
            for _ in range(min(wanted, most - len(self._workers) - self._starting)):
                self._spawn(self._grow_now())
        self._watch()

    async def _grow_now(self) -> None:
        self._starting += 1
        try:
            worker = _Worker(*await self._nursery.child())
        except NurseryError as error:
            while self._queue and not self._workers:
                _fail(self._queue.popleft(), Refusal(503, "no_process", str(error), retry=5))
            return
        finally:
            self._starting -= 1
        if self._is_closed:
            worker.writer.close()
            return
        self._workers.add(worker)
        self._idle.append(worker)
        self._dispatch()
        self._watch()

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _fail(job: _Job, refusal: Refusal) -> None:
    if not job.answer.done():
        job.answer.set_exception(refusal)
