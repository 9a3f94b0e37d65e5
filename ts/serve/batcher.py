"""Requests to processes: a queue with a bound, and what waits goes together.

    batcher = Batcher(nursery, bounds)
    await batcher.start()
    status, type, body = await batcher.submit(body, "json", "json")        Refusal if the queue is full

Nobody waits for a batch to fill: while a process is busy requests gather, and the next one that is free
takes them.  Together they have little time.  Whoever was there when that ran out, or the process ended, runs
again alone; whoever needs more time even then waits apart for all the time of a request, and such requests
are never in all processes at once:

    new     [c d e f]  -- up to `batch` -->  process: [a b]      a and b as one, within a short time
    again   [h]        -- one by one ----->  process: [g]        alone, within a short time
    slow    [y z]      -- one by one ----->  process: [x]        alone, with all the time of a request

Without batches every request runs once, alone, in the order in which they came.

There is one process as long as it keeps up.  Where requests wait there are as many as processors, and one
more for each that has been busy with one thing for a while, up to `workers`.
"""

from __future__ import annotations

import asyncio
import logging
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
_LEAST_ALONE: Final = 0.25  # and whoever runs again alone
_TIMES: Final = 10  # as much as batches take may one take
_IDLE: Final = 30.0  # seconds after which a process that is not needed ends
_BATCH_BYTES: Final = 32 << 20


class Answer(NamedTuple):
    """What goes back."""

    status: int
    type: str
    body: bytes


class _Job:
    __slots__ = ("answer", "body", "expiry", "kinds", "tries")

    def __init__(self, body: bytes, kinds: tuple[str, str], answer: asyncio.Future[Answer]) -> None:
        self.body = body
        self.kinds = kinds
        self.answer = answer
        self.tries = 0
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
        self._new: deque[_Job] = deque()
        self._again: deque[_Job] = deque()
        self._slow: deque[_Job] = deque()
        self._slow_running = 0
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
            Gauge("ts_serve_queue", "Requests that wait.", lambda: self._waiting),
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

    @property
    def _waiting(self) -> int:
        return len(self._new) + len(self._again) + len(self._slow)

    async def start(self) -> None:
        """Have a process before the first request."""
        await self._grow_now()

    async def submit(self, body: bytes, given: str, wanted: str) -> Answer:
        """The answer to a request."""
        if self._waiting >= self._bounds.queue:
            raise Refusal(503, "busy", "too many requests wait already", retry=1)
        loop = asyncio.get_running_loop()
        job = _Job(body, (given, wanted), loop.create_future())
        self._new.append(job)
        self._dispatch()
        if self._new:
            self._will_expire(job)
            self._watch()
        return await job.answer

    async def close(self) -> None:
        """End the processes; what is not answered by now is refused."""
        self._is_closed = True
        self._refuse_all(Refusal(503, "ending", "the server is being stopped"))
        for worker in self._workers:
            worker.writer.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ---- the queue -----------------------------------------------------------------------------------

    def _dispatch(self) -> None:
        """Give what waits to who is free."""
        while self._idle:
            jobs = self._next()
            if not jobs:
                return
            for job in jobs:
                if job.expiry is not None:
                    job.expiry.cancel()
            self._spawn(self._run(self._idle.pop(), jobs))

    def _next(self) -> list[_Job]:
        """What runs next, as one; nothing if nothing may."""
        for queue in (self._new, self._again, self._slow):
            while queue and queue[0].answer.done():  # nobody waits for it any more
                queue.popleft()
        is_turn = self._slow_running == 0 or not (self._new or self._again)
        if self._slow and is_turn and self._slow_running < max(1, self._bounds.workers - 1):
            return [self._slow.popleft()]
        if self._again:
            return [self._again.popleft()]
        jobs: list[_Job] = []
        size = 0
        while self._new and len(jobs) < self._bounds.batch:
            if jobs and size + len(self._new[0].body) > _BATCH_BYTES:
                break
            job = self._new.popleft()
            if not job.answer.done():
                jobs.append(job)
                size += len(job.body)
        return jobs

    def _will_expire(self, job: _Job) -> None:
        delay = self._bounds.seconds + self._bounds.client_seconds
        job.expiry = asyncio.get_running_loop().call_later(delay, self._expire, job)

    def _refuse_all(self, refusal: Refusal) -> None:
        for queue in (self._new, self._again, self._slow):
            while queue:
                _fail(queue.popleft(), refusal)

    def _expire(self, job: _Job) -> None:
        _fail(job, Refusal(503, "busy", "the request waited too long", retry=5))

    # ---- processes -----------------------------------------------------------------------------------

    async def _run(self, worker: _Worker, jobs: list[_Job]) -> None:
        """Let a process work; whatever happens, nobody is left without an answer."""
        try:
            await self._work(worker, jobs)
        except Exception:
            logging.getLogger("ts.serve").exception("requests failed")
            self._lose(worker)
            for job in jobs:
                _fail(job, Refusal(500, "internal", "the server failed at this request"))
        self._dispatch()
        self._watch()

    async def _work(self, worker: _Worker, jobs: list[_Job]) -> None:
        is_slow = jobs[0].tries > 1
        self._slow_running += is_slow
        is_last = is_slow or self._bounds.batch == 1
        seconds = self._bounds.seconds if is_last else self._of_a_batch(jobs[0].tries > 0)
        worker.since = time.monotonic()
        self.sizes.add(len(jobs))
        try:
            kinds = [job.kinds for job in jobs]
            asked = {"kinds": kinds, "seconds": seconds, "last": is_last, "slow": is_slow}
            worker.writer.write(pack(asked, [job.body for job in jobs]))
            head, parts = await receive(worker.reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            self._lose(worker)
            self.ended.add()
            self._after_an_end(jobs, is_last, time.monotonic() - worker.since > seconds)
        else:
            taken = time.monotonic() - worker.since
            leaves = head["leaves"] or is_slow  # it has let others go first, and cannot take that back
            if leaves:
                self._lose(worker)
            else:
                self._idle.append(worker)
            answers = head["answers"]
            if all(answer.get("status") == 200 for answer in answers):
                self._usual += (taken - self._usual) / 8
            for job, answer, part in zip(jobs, answers, parts, strict=True):
                if "apart" in answer:
                    self._try_again(job)
                elif not job.answer.done():
                    job.answer.set_result(Answer(answer["status"], answer["type"], part))
            if not leaves:
                asyncio.get_running_loop().call_later(_IDLE, self._end_idle, worker, worker.since)
        finally:
            self._slow_running -= is_slow

    def _of_a_batch(self, is_alone: bool) -> float:
        """Short, so that nobody takes the time of those beside it for long."""
        least = _LEAST_ALONE if is_alone else _LEAST
        return min(self._bounds.seconds, max(least, _TIMES * self._usual))

    def _after_an_end(self, jobs: Sequence[_Job], is_last: bool, is_late: bool) -> None:
        for job in jobs:
            if not is_last:
                self._try_again(job)
            elif is_late:
                _fail(job, Refusal(504, "too_long", "the model took more time than a request may have"))
            else:
                _fail(
                    job,
                    Refusal(500, "ended", "the process that ran the model has ended: out of memory, perhaps"),
                )

    def _try_again(self, job: _Job) -> None:
        job.tries += 1
        self.apart.add()
        (self._slow if job.tries > 1 else self._again).append(job)
        self._will_expire(job)

    def _lose(self, worker: _Worker) -> None:
        self._workers.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        worker.writer.close()

    def _end_idle(self, worker: _Worker, since: float) -> None:
        """End a process that has done nothing since then, unless it is the last."""
        if worker.since == since and worker in self._idle and len(self._workers) > 1:
            self._lose(worker)

    def _watch(self) -> None:
        """Look in a moment whether there are enough processes."""
        if self._waiting and self._growing is None and not self._is_closed:
            delay = _PATIENCE if self._workers else 0.0
            self._growing = asyncio.get_running_loop().call_later(delay, self._grow)

    def _grow(self) -> None:
        self._growing = None
        if not self._waiting or self._is_closed:
            return
        now = time.monotonic()
        stuck = sum(now - worker.since > _STUCK for worker in self._workers)
        most = min(self._bounds.workers, stuck + (os.cpu_count() or 1))
        if not self._idle:  # as many as were asked for when this was to be looked at
            wanted = -(-len(self._new) // self._bounds.batch) + len(self._again) + len(self._slow)
            for _ in range(min(wanted, most - len(self._workers) - self._starting)):
                self._spawn(self._grow_now())
        self._watch()

    async def _grow_now(self) -> None:
        self._starting += 1
        try:
            worker = _Worker(*await self._nursery.child())
        except NurseryError as error:
            if not self._workers:
                self._refuse_all(Refusal(503, "no_process", str(error), retry=5))
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
