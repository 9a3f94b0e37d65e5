"""Retry of idempotent calls with backoff while the worker is unavailable, until they time out.

The argument `retryable` enables retries:

    rpc_sync("worker1", f, args=(x,), retryable=True)

The function may run twice, because the connection may break after the function has run. Each attempt looks up
the worker again. In a cluster, a restarted worker with the same name can receive the call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ts._core.vm.future import Future
from ts.distributed.errors import WorkerUnavailableError
from ts.distributed.event_loop import call_later
from ts.distributed.rpc.options import NO_TIMEOUT
from ts.distributed.rpc.rpc_future import RpcFuture, copy_outcome

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import RpcAgent

_RETRY_BACKOFF_SECONDS: Final = (
    0.05,
    0.1,
    0.2,
    0.5,
    1.0,
)  # delays in seconds between attempts. The last delay applies to all further attempts.

# function that starts one attempt of the call, with a timeout in seconds, and returns a future
StartCall = Callable[[float], Future[Any]]


class RetryingCall:
    """Call repeated until a response arrives or its timeout passes. `future` is its result."""

    def __init__(self, agent: RpcAgent, start_call: StartCall, timeout: float) -> None:
        self.future = RpcFuture(agent.pool)
        self._agent = agent
        self._start_call = start_call
        self._deadline = None if timeout == NO_TIMEOUT else time.monotonic() + timeout
        self._attempt_count = 0
        self._start_attempt()

    def _remaining_seconds(self) -> float:
        return NO_TIMEOUT if self._deadline is None else max(self._deadline - time.monotonic(), 1e-3)

    def _start_attempt(self) -> None:
        self._attempt_count += 1
        try:
            call = self._start_call(self._remaining_seconds())
        except Exception as error:
            # no attempt was started: the worker is unknown or the arguments cannot be encoded, for example
            call = RpcFuture(self._agent.pool)
            call.set_exception(error)
        call.add_done_callback(self._on_attempt_done)

    def _on_attempt_done(self, call: Future[Any]) -> None:
        pause = _RETRY_BACKOFF_SECONDS[min(self._attempt_count, len(_RETRY_BACKOFF_SECONDS)) - 1]
        late = self._deadline is not None and time.monotonic() + pause >= self._deadline
        if not isinstance(call.exception(), WorkerUnavailableError) or late or self._agent.closed:
            copy_outcome(call, self.future)
            return
        call_later(pause, self._retry)

    def _retry(self) -> None:
        if self._agent.closed:
            self.future.set_exception(
                WorkerUnavailableError("this process shut RPC down before its call received a response")
            )
        else:
            # The event loop runs this method, so it must not block. Looking up a worker may block.
            self._agent.pool.submit(self._start_attempt)
