"""Request scheduler (multilevel feedback queue) with fair queues, time limits and dynamic batching.

The example runs one request, and returns its response:

    scheduler = RequestScheduler(fork_server, limits)
    await scheduler.start()
    status, type, body = await scheduler.submit(body, ("json", "json"), client)

Each of the four queues is a `FairQueue`:

    trusted     requests of clients whose latest requests were fast. They have priority and a reserved worker
    untrusted   requests of other clients
    retry       requests after a worker exited or a batch exceeded its time limit (one at a time)
    slow        requests that exceeded a short time limit (one at a time, in low-priority workers)

An idle worker gets several queued requests in one message, with a short time limit for each. Requests that
exceed the short limit are retried in the slow queue with the full limit. If `limits.batch` is above 1, the
requests of a message run as one call of the model.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ts.serve.clients import Client
from ts.serve.fair_queue import ClientUsage, FairQueue
from ts.serve.fork_server_client import ForkServer
from ts.serve.ipc_protocol import Message, pack
from ts.serve.metrics import SIZE_BUCKETS, Counter, Gauge, Histogram
from ts.serve.server_limits import HTTPError, ServerLimits
from ts.serve.worker_pool import SLOW, TRUSTED, UNTRUSTED, Worker, WorkerPool

_MIN_FIRST_ATTEMPT_SECONDS: Final = 0.2
_MIN_RETRY_SECONDS: Final = 0.5
# limit of elapsed time in the last attempt, divided by the time limit of a request
_WALL_CLOCK_FACTOR: Final = 3
_FIRST_ATTEMPT_FACTOR: Final = 10  # time limit of an attempt as a multiple of the usual latency
_INITIAL_LATENCY_SECONDS: Final = 0.01  # latency estimate before the first response
# A request that is slower than the estimated latency multiplies the estimate by the growth factor. Other
# requests divide it by the decay factor. The growth factor is about the square of the decay factor. In
# equilibrium, one of three requests is therefore slower.
_LATENCY_GROWTH: Final = 1.2
_LATENCY_DECAY: Final = 1.1
_MAX_BATCH_REQUESTS: Final = 16
_MAX_BATCH_SECONDS: Final = 0.005  # maximum estimated latency of all requests of a batch
_MAX_BATCH_BYTES: Final = 32 << 20
_SLOW_QUEUE_DIVISOR: Final = 8  # a client may have `client_queue` / 8 requests in the slow queue
_UNTRUSTED_FIRST_INTERVAL: Final = 4  # every fourth dispatch begins with the queue of lowest priority
_TIMEOUT_SCAN_INTERVAL_SECONDS: Final = 1.0

_SHUTDOWN_ERROR: Final = HTTPError(503, "ending", "the server is shutting down")


class Response(NamedTuple):
    """Status, media type and body of an HTTP response."""

    status: int
    type: str
    body: bytes


class _PendingRequest:
    __slots__ = ("attempts", "body", "client", "kinds", "queue", "response", "since")

    def __init__(self, body: bytes, kinds: tuple[str, str], client: Client) -> None:
        self.body = body
        self.kinds = kinds
        self.client = client
        self.response: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self.since = time.monotonic()
        self.attempts = 0  # number of failed attempts. From 2 on, the request belongs to the slow queue
        self.queue: FairQueue[_PendingRequest] | None = None

    @property
    def is_slow(self) -> bool:
        """True if the request exceeded a short time limit, so that its next attempt has the full limit."""
        return self.attempts > 1

    @property
    def is_trusted(self) -> bool:
        """True if the request has the priority of trusted clients."""
        return self.client.is_trusted and not self.is_slow

    def enqueue(self, queue: FairQueue[_PendingRequest]) -> None:
        """Append the request to a queue."""
        queue.put(self.client.name, self)
        self.queue = queue
        self.since = time.monotonic()

    def dequeue(self) -> None:
        """Remove the request from its queue, if it is queued."""
        if self.queue is not None:
            self.queue.discard(self.client.name, self)
            self.queue = None

    def fail(self, error: HTTPError) -> None:
        """Dequeue the request and respond with an error, unless it already has a response."""
        self.dequeue()
        if not self.response.done():
            self.response.set_exception(error)


class RequestScheduler:
    """Queues of pending requests, and their dispatch to the worker pool."""

    def __init__(self, fork_server: ForkServer, limits: ServerLimits, *, spare_workers: int = 1) -> None:
        self._limits = limits
        self._is_stacking = limits.batch > 1
        usage = self._usage = ClientUsage()
        self._trusted: FairQueue[_PendingRequest] = FairQueue(usage)
        self._untrusted: FairQueue[_PendingRequest] = FairQueue(usage)
        self._retry: FairQueue[_PendingRequest] = FairQueue(usage)
        self._slow: FairQueue[_PendingRequest] = FairQueue(usage)
        self._queues = (self._trusted, self._untrusted, self._retry, self._slow)
        self._dispatch_count = 0
        self._is_closed = False
        self._usual_seconds = _INITIAL_LATENCY_SECONDS  # estimated latency of a request
        self._scan_timer: asyncio.TimerHandle | None = None
        self._pool = WorkerPool(
            fork_server,
            limits,
            spare_workers=spare_workers,
            on_available=self._dispatch,
            on_failure=self._fail_all,
        )
        self._batch_sizes = Histogram(
            "ts_serve_batch_size", "Requests per message to a worker.", SIZE_BUCKETS
        )
        self._retries = Counter("ts_serve_apart_total", "Retries of requests.")

    def metrics(self) -> list[Any]:
        """Return the metrics of the queues and of the worker pool."""
        queued = Gauge("ts_serve_queue", "Queued requests.", self._count_queued)
        slow = Gauge(
            "ts_serve_queue_slow", "Queued requests that need the full time.", lambda: len(self._slow)
        )
        return [self._batch_sizes, self._retries, queued, slow, *self._pool.metrics()]

    @property
    def is_ready(self) -> bool:
        """True if a worker process exists or can be started."""
        return self._pool.is_ready

    async def start(self) -> None:
        """Start the worker pool and the periodic scan for timeouts."""
        await self._pool.start()
        self._scan_timeouts()

    async def submit(self, body: bytes, kinds: tuple[str, str], client: Client) -> Response:
        """Run a request and return the response, or reject it if a queue is full (load shedding).

        `kinds` are the formats of the request and the response. Raises HTTPError if a queue is full, on a
        timeout, or if the worker exits.
        """
        request = _PendingRequest(body, kinds, client)
        queue = self._trusted if client.is_trusted else self._untrusted
        counted_queues = (queue,) if client.is_trusted else (self._untrusted, self._retry)
        if sum(map(len, counted_queues)) >= self._limits.queue:
            raise HTTPError(503, "busy", "too many requests are queued", retry_seconds=1)
        if sum(each.count_items(client.name) for each in counted_queues) >= self._limits.client_queue:
            raise HTTPError(429, "too_many", "too many requests of this client are queued", retry_seconds=1)
        request.enqueue(queue)
        self._dispatch()
        try:
            return await request.response
        finally:
            request.dequeue()  # if the client has disconnected, the request is still in a queue

    async def close(self) -> None:
        """Fail all queued requests and close the workers."""
        if self._scan_timer is not None:
            self._scan_timer.cancel()
        self._is_closed = True
        self._fail_all(_SHUTDOWN_ERROR)
        await self._pool.close()

    def _count_queued(self) -> int:
        return sum(map(len, self._queues))

    def _dispatch(self) -> None:
        """Send queued requests to idle workers, so that the queue of lowest priority does not starve."""
        self._dispatch_count += 1
        queues = [(TRUSTED, self._trusted), (UNTRUSTED, self._retry or self._untrusted), (SLOW, self._slow)]
        # If all classes share the workers, the queue of lowest priority must sometimes be first, else it
        # would starve.
        if self._dispatch_count % _UNTRUSTED_FIRST_INTERVAL == 0:
            queues.reverse()
        for priority_class, queue in queues:
            while queue and (worker := self._pool.acquire(priority_class, queue.idle_seconds())) is not None:
                requests = self._pop_batch(queue)
                if requests:
                    self._run(worker, requests)
                else:
                    self._pool.release(worker)

    def _pop_batch(self, queue: FairQueue[_PendingRequest]) -> list[_PendingRequest]:
        """Remove and return the requests of the next worker message (dynamic batching, micro-batching)."""
        max_requests = 1
        if self._is_stacking and queue in (self._trusted, self._untrusted):
            max_requests = self._limits.batch
        elif queue in (self._trusted, self._untrusted):
            max_requests = max(1, min(_MAX_BATCH_REQUESTS, int(_MAX_BATCH_SECONDS / self._usual_seconds)))
        requests: list[_PendingRequest] = []
        size = 0
        while queue and len(requests) < max_requests and size < _MAX_BATCH_BYTES:
            request = queue.pop()
            request.queue = None
            # The response of a queued request is only done if the client has disconnected.
            if not request.response.done():
                requests.append(request)
                size += len(request.body)
        return requests

    def _fail_all(self, error: HTTPError) -> None:
        for queue in self._queues:
            for request in list(queue):
                request.fail(error)

    def _scan_timeouts(self) -> None:
        """Fail requests that have been queued for too long, and close idle workers."""
        loop = asyncio.get_running_loop()
        self._scan_timer = loop.call_later(_TIMEOUT_SCAN_INTERVAL_SECONDS, self._scan_timeouts)
        oldest = time.monotonic() - _WALL_CLOCK_FACTOR * self._limits.seconds - self._limits.client_seconds
        for queue in self._queues:
            for request in [request for request in queue if request.since < oldest]:
                request.fail(HTTPError(503, "busy", "the request was queued for too long", retry_seconds=5))
        self._pool.shrink()

    def _run(self, worker: Worker, requests: list[_PendingRequest]) -> None:
        """Send requests to a worker. On its response, complete the requests or queue them again."""
        attempts = requests[0].attempts
        seconds = self._time_limit(attempts)
        is_last = seconds >= self._limits.seconds and (len(requests) == 1 or not self._is_stacking)
        self._batch_sizes.add(len(requests))
        header = {
            "kinds": [request.kinds for request in requests],
            "seconds": seconds,
            "last": is_last,
            "final": attempts > 2,
            "nice": worker.nice,
            "stack": self._is_stacking,
        }

        def on_response(message: Message | None) -> None:
            if message is None:
                self._pool.discard(worker)
                self._pool.unexpected_exits.add()
                self._handle_exit(requests, is_last and len(requests) == 1, worker.busy_seconds > seconds)
            else:
                try:
                    self._handle_results(worker, requests, *message)
                except Exception:
                    logging.getLogger("ts.serve").exception("requests failed")
                    self._pool.discard(worker)
            for request in requests:
                # Requests without a response that were not queued again fail here.
                if request.queue is None:
                    request.fail(HTTPError(500, "internal", "internal server error"))
            self._dispatch()

        worker.request(pack(header, [request.body for request in requests]), on_response)

    def _handle_results(
        self,
        worker: Worker,
        requests: Sequence[_PendingRequest],
        header: dict[str, Any],
        bodies: Sequence[bytes],
    ) -> None:
        if header["exits"]:
            self._pool.discard(worker)
        else:
            self._pool.release(worker)
        results = header["results"]
        if all(result.get("status") == 200 for result in results):
            self._update_latency(
                header["seconds"] if self._is_stacking else header["seconds"] / len(requests)
            )
        for request, result, body in zip(requests, results, bodies, strict=True):
            self._usage.add(request.client.name, result.get("seconds", header["seconds"]))
            if "retry" in result:
                self._handle_timeout(request, result["retry"] == "slow")
                continue
            if result["status"] == 200 and not request.attempts:
                request.client.record_success()
            if not request.response.done():
                request.response.set_result(Response(result["status"], result["type"], body))

    def _time_limit(self, attempts: int) -> float:
        """Return the time limit in seconds of the next attempt, after `attempts` failed ones.

        For the first two attempts, the limit is a multiple of the usual latency. The third attempt has the
        full limit of a request. A later attempt has `_WALL_CLOCK_FACTOR` times the full limit, because the
        request did not get the processor.
        """
        if attempts > 1:
            return self._limits.seconds * (_WALL_CLOCK_FACTOR if attempts > 2 else 1)
        min_seconds = _MIN_RETRY_SECONDS if attempts else _MIN_FIRST_ATTEMPT_SECONDS
        return min(self._limits.seconds, max(min_seconds, _FIRST_ATTEMPT_FACTOR * self._usual_seconds))

    def _update_latency(self, seconds: float) -> None:
        """Adjust the latency estimate (a percentile).

        It changes by a constant factor, so that outliers have little effect.
        """
        self._usual_seconds *= _LATENCY_GROWTH if seconds > self._usual_seconds else 1 / _LATENCY_DECAY

    def _handle_exit(self, requests: Sequence[_PendingRequest], is_last: bool, is_late: bool) -> None:
        """Handle the exit of a worker process: queue its requests again, or fail them if `is_last`.

        If `is_late`, the error states that the time limit was exceeded, otherwise that the process exited.
        """
        for request in requests:
            if len(requests) == 1:
                request.client.record_slow()
            if not is_last:
                self._enqueue_retry(request, request.attempts + 1)
            elif is_late:
                message = "the request exceeded its time limit"
                request.fail(HTTPError(504, "too_long", message))
            else:
                message = "the worker process exited during the request, possibly out of memory"
                request.fail(HTTPError(500, "ended", message))

    def _handle_timeout(self, request: _PendingRequest, is_slow: bool) -> None:
        """Queue a request again if its worker asked for a retry.

        `is_slow` is True if the request used up a short time limit and therefore needs the full limit.
        """
        was_trusted = request.is_trusted
        if is_slow:
            request.client.record_slow()
        self._enqueue_retry(request, 2 if is_slow and not was_trusted else request.attempts + 1)

    def _enqueue_retry(self, request: _PendingRequest, attempts: int) -> None:
        request.attempts = attempts
        if request.response.done():
            return
        self._retries.add()
        if self._is_closed:
            request.fail(_SHUTDOWN_ERROR)
        elif not request.is_slow:
            request.enqueue(self._retry)
        elif self._slow.count_items(request.client.name) < max(
            1, self._limits.client_queue // _SLOW_QUEUE_DIVISOR
        ):
            request.enqueue(self._slow)
        else:
            message = "too many slow requests of this client are queued"
            retry_seconds = round(self._limits.seconds) + 1
            request.fail(HTTPError(429, "too_many", message, retry_seconds=retry_seconds))
