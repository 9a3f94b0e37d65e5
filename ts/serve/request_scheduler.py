"""Requests to processes: whose is next, and which of them go together.

    batcher = Batcher(nursery, bounds)
    await batcher.start()
    status, type, body = await batcher.submit(body, ("json", "json"), visitor)        Refusal if too many wait

Requests wait in four queues, in each of which clients take turns:

    known   [c d e f]  of visitors whose last requests were answered at once; they go first, and there is a
                       process that others never have
    new     [k l m]    of the others
    again   [h]        those that were there when a process ended or a batch ran out of time, one by one
    slow    [y z]      those that need more time than others may lose by it, one by one, in processes that the
                       system runs when the others have nothing to do

Nobody waits for others to come: while processes are busy requests gather, and one that is free takes a
few, with little time for each.  Whoever needs more runs again later, as slow, with all the time of a request.
What a process takes at once runs as one call with `bounds.batch`, and otherwise one after the other.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ts.serve.clients import Visitor
from ts.serve.fair_queue import Shares, Turns
from ts.serve.fork_server_client import Nursery
from ts.serve.ipc_protocol import Message, pack
from ts.serve.metrics import SIZES, Counter, Gauge, Histogram
from ts.serve.server_limits import Bounds, Refusal
from ts.serve.worker_pool import KNOWN, NEW, SLOW, Pool, Worker

_LEAST: Final = 0.2  # seconds that a request has at first, at the least
_LEAST_ALONE: Final = 0.5  # and whoever runs again alone
_STARVED: Final = 3  # times all of its time has who has had it, and not the processor
_TIMES: Final = 10  # as much as requests take may one take
_AT_FIRST: Final = 0.01  # seconds that requests take, as long as nothing is known of it
_UP: Final = 1.2  # so fast does that follow what is seen: one that is slow counts as two that are not
_DOWN: Final = 1.1
_TOGETHER: Final = 16  # requests that a process takes at once
_TOGETHER_SECONDS: Final = 0.005  # and as long as these usually take
_TOGETHER_BYTES: Final = 32 << 20
_SLOW_PART: Final = 8  # of so many requests that a client may have wait one may be slow
_TURN: Final = 4  # of so many turns one is that of visitors that are not known
_SWEEP: Final = 1.0  # seconds between looks for what has waited too long

_ENDING: Final = Refusal(503, "ending", "the server is being stopped")


class Answer(NamedTuple):
    """What goes back."""

    status: int
    type: str
    body: bytes


class _Job:
    __slots__ = ("answer", "body", "kinds", "queue", "since", "tries", "visitor")

    def __init__(self, body: bytes, kinds: tuple[str, str], visitor: Visitor) -> None:
        self.body = body
        self.kinds = kinds
        self.visitor = visitor
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.since = time.monotonic()
        self.tries = 0
        self.queue: Turns[_Job] | None = None  # where it waits

    @property
    def is_slow(self) -> bool:
        """Whether it needs more time than others may lose by it."""
        return self.tries > 1

    @property
    def is_known(self) -> bool:
        """Whether it may go first."""
        return self.visitor.is_known and not self.is_slow

    def wait(self, queue: Turns[_Job]) -> None:
        """Wait there."""
        queue.put(self.visitor.client, self)
        self.queue = queue
        self.since = time.monotonic()

    def leave(self) -> None:
        """Wait no longer."""
        if self.queue is not None:
            self.queue.discard(self.visitor.client, self)
            self.queue = None

    def refuse(self, refusal: Refusal) -> None:
        """It is not answered, and told why."""
        self.leave()
        if not self.answer.done():
            self.answer.set_exception(refusal)


class Batcher:
    """The queues."""

    def __init__(self, nursery: Nursery, bounds: Bounds, *, fresh: int = 1) -> None:
        self._bounds = bounds
        self._is_stacking = bounds.batch > 1
        shares = self._shares = Shares()
        self._known: Turns[_Job] = Turns(shares)
        self._new: Turns[_Job] = Turns(shares)
        self._again: Turns[_Job] = Turns(shares)
        self._slow: Turns[_Job] = Turns(shares)
        self._queues = (self._known, self._new, self._again, self._slow)
        self._turn = 0
        self._is_closed = False
        self._usual = _AT_FIRST  # seconds that requests take, lately
        self._sweeping: asyncio.TimerHandle | None = None
        self._pool = Pool(
            nursery,
            bounds,
            fresh=fresh,
            freed=self._dispatch,
            failed=self._refuse_all,
        )
        self._sizes = Histogram("ts_serve_batch_size", "Requests that a process took at once.", SIZES)
        self._apart = Counter("ts_serve_apart_total", "Requests that ran again.")

    def metrics(self) -> list[Any]:
        """What is counted here."""
        waiting = Gauge("ts_serve_queue", "Requests that wait.", self._count_waiting)
        slow = Gauge("ts_serve_queue_slow", "Those of them that need more time.", lambda: len(self._slow))
        return [self._sizes, self._apart, waiting, slow, *self._pool.metrics()]

    @property
    def is_ready(self) -> bool:
        """Whether requests can be answered."""
        return self._pool.is_ready

    async def start(self) -> None:
        """Have processes before the first request."""
        await self._pool.start()
        self._sweep()

    async def submit(self, body: bytes, kinds: tuple[str, str], visitor: Visitor) -> Answer:
        """The answer to a request; `kinds` are what it is, and what the answer is to be."""
        job = _Job(body, kinds, visitor)
        queue = self._known if visitor.is_known else self._new
        beside = (queue,) if visitor.is_known else (self._new, self._again)
        if sum(map(len, beside)) >= self._bounds.queue:
            raise Refusal(503, "busy", "too many requests wait already", retry=1)
        if sum(each.of(visitor.client) for each in beside) >= self._bounds.client_queue:
            raise Refusal(429, "too_many", "too many requests of this client wait already", retry=1)
        job.wait(queue)
        self._dispatch()
        try:
            return await job.answer
        finally:
            job.leave()  # who asked may have gone

    async def close(self) -> None:
        """End the processes; what is not answered by now is refused."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        self._is_closed = True
        self._refuse_all(_ENDING)
        await self._pool.close()

    # ---- the queues ----------------------------------------------------------------------------------

    def _count_waiting(self) -> int:
        return sum(map(len, self._queues))

    def _dispatch(self) -> None:
        """Give what waits to who is free."""
        self._turn += 1
        lanes = [(KNOWN, self._known), (NEW, self._again or self._new), (SLOW, self._slow)]
        if self._turn % _TURN == 0:  # where lanes share processes, all come first at times
            lanes.reverse()
        for lane, queue in lanes:
            while queue and (worker := self._pool.take(lane, queue.waited())) is not None:
                jobs = self._some(queue)
                if jobs:
                    self._begin(worker, jobs)
                else:
                    self._pool.give(worker)

    def _some(self, queue: Turns[_Job]) -> list[_Job]:
        """What a process takes of a queue."""
        most = 1
        if self._is_stacking and queue in (self._known, self._new):
            most = self._bounds.batch
        elif queue in (self._known, self._new):
            most = max(1, min(_TOGETHER, int(_TOGETHER_SECONDS / self._usual)))
        jobs: list[_Job] = []
        size = 0
        while queue and len(jobs) < most and size < _TOGETHER_BYTES:
            job = queue.pop()
            job.queue = None
            if not job.answer.done():  # who asked has just gone
                jobs.append(job)
                size += len(job.body)
        return jobs

    def _refuse_all(self, refusal: Refusal) -> None:
        for queue in self._queues:
            for job in list(queue):
                job.refuse(refusal)

    def _sweep(self) -> None:
        """Refuse what has waited too long; end processes that are not needed."""
        self._sweeping = asyncio.get_running_loop().call_later(_SWEEP, self._sweep)
        oldest = time.monotonic() - _STARVED * self._bounds.seconds - self._bounds.client_seconds
        for queue in self._queues:
            for job in [job for job in queue if job.since < oldest]:
                job.refuse(Refusal(503, "busy", "the request waited too long", retry=5))
        self._pool.shrink()

    # ---- processes -----------------------------------------------------------------------------------

    def _begin(self, worker: Worker, jobs: list[_Job]) -> None:
        """Let a process work."""
        tries = jobs[0].tries
        seconds = self._seconds(tries)
        is_last = seconds >= self._bounds.seconds and (len(jobs) == 1 or not self._is_stacking)
        self._sizes.add(len(jobs))
        asked = {
            "kinds": [job.kinds for job in jobs],
            "seconds": seconds,
            "last": is_last,
            "final": tries > 2,
            "nice": worker.nice,
            "stack": self._is_stacking,
        }

        def told(message: Message | None) -> None:
            if message is None:
                self._pool.lose(worker)
                self._pool.ended.add()
                self._after_an_end(jobs, is_last and len(jobs) == 1, worker.taken > seconds)
            else:
                try:
                    self._after_work(worker, jobs, *message)
                except Exception:
                    logging.getLogger("ts.serve").exception("requests failed")
                    self._pool.lose(worker)
            for job in jobs:
                if job.queue is None:  # nobody is left without an answer
                    job.refuse(Refusal(500, "internal", "the server failed at this request"))
            self._dispatch()

        worker.ask(pack(asked, [job.body for job in jobs]), told)

    def _after_work(
        self, worker: Worker, jobs: Sequence[_Job], head: dict[str, Any], parts: Sequence[bytes]
    ) -> None:
        if head["leaves"]:
            self._pool.lose(worker)
        else:
            self._pool.give(worker)
        answers = head["answers"]
        if all(answer.get("status") == 200 for answer in answers):
            self._learn(head["seconds"] if self._is_stacking else head["seconds"] / len(jobs))
        for job, answer, part in zip(jobs, answers, parts, strict=True):
            self._shares.charge(job.visitor.client, answer.get("seconds", head["seconds"]))
            if "apart" in answer:
                self._apart_from(job, answer["apart"] == "slow")
                continue
            if answer["status"] == 200 and not job.tries:
                job.visitor.praise()
            if not job.answer.done():
                job.answer.set_result(Answer(answer["status"], answer["type"], part))

    def _seconds(self, tries: int) -> float:
        """So many that nobody takes the time of those beside it for long; at last all that a request has."""
        if tries > 1:
            return self._bounds.seconds * (_STARVED if tries > 2 else 1)
        least = _LEAST_ALONE if tries else _LEAST
        return min(self._bounds.seconds, max(least, _TIMES * self._usual))

    def _learn(self, taken: float) -> None:
        """A few that take long, or say that they do, do not change what is usual."""
        self._usual *= _UP if taken > self._usual else 1 / _DOWN

    def _after_an_end(self, jobs: Sequence[_Job], is_last: bool, is_late: bool) -> None:
        for job in jobs:
            if len(jobs) == 1:
                job.visitor.blame()
            if not is_last:
                self._try_again(job, job.tries + 1)
            elif is_late:
                job.refuse(Refusal(504, "too_long", "the model took more time than a request may have"))
            else:
                job.refuse(
                    Refusal(500, "ended", "the process that ran the model has ended: out of memory, perhaps")
                )

    def _apart_from(self, job: _Job, is_slow: bool) -> None:
        """It was not done in its little time."""
        was_known = job.is_known
        if is_slow:
            job.visitor.blame()
        self._try_again(job, 2 if is_slow and not was_known else job.tries + 1)

    def _try_again(self, job: _Job, tries: int) -> None:
        job.tries = tries
        if job.answer.done():
            return
        self._apart.add()
        if self._is_closed:
            job.refuse(_ENDING)
        elif not job.is_slow:
            job.wait(self._again)
        elif self._slow.of(job.visitor.client) < max(1, self._bounds.client_queue // _SLOW_PART):
            job.wait(self._slow)
        else:
            message = "too many requests of this client wait that need as much time as this one"
            job.refuse(Refusal(429, "too_many", message, retry=round(self._bounds.seconds) + 1))
