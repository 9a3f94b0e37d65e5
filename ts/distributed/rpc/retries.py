"""Calls that may be made again: while their process cannot be reached, until their time is over.

    rpc_sync("worker1", f, args=(x,), retryable=True)

A call that failed because a connection broke may have run, so only what may run twice is to be declared so.
The process is looked up again each time: in a cluster, one that was started again under the name gets the
call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ts._core.vm.future import Future
from ts.distributed.errors import Gone
from ts.distributed.loop import loop
from ts.distributed.rpc.futures import RpcFuture, pass_on
from ts.distributed.rpc.options import NO_TIMEOUT

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import Agent

_PAUSES: Final = (0.05, 0.1, 0.2, 0.5, 1.0)  # seconds before each further try; the last for all that follow

Try = Callable[[float], Future[Any]]  # one call, which may take so many seconds


class Retried:
    """A call, until it has been answered."""

    def __init__(self, agent: Agent, begin: Try, timeout: float) -> None:
        self.future = RpcFuture(agent)
        self._agent = agent
        self._begin = begin
        self._until = None if timeout == NO_TIMEOUT else time.monotonic() + timeout
        self._tries = 0
        self._try()

    def _left(self) -> float:
        return NO_TIMEOUT if self._until is None else max(self._until - time.monotonic(), 1e-3)

    def _try(self) -> None:
        self._tries += 1
        try:
            call = self._begin(self._left())
        except Exception as error:  # of a process that is looked for, or of arguments
            call = RpcFuture(self._agent)
            call.set_exception(error)
        call.add_done_callback(self._over)

    def _over(self, call: Future[Any]) -> None:
        pause = _PAUSES[min(self._tries, len(_PAUSES)) - 1]
        late = self._until is not None and time.monotonic() + pause >= self._until
        if not isinstance(call.exception(), Gone) or late or self._agent.closed:
            pass_on(call, self.future)
            return
        loop().call_soon_threadsafe(loop().call_later, pause, self._again)

    def _again(self) -> None:
        if self._agent.closed:
            self.future.set_exception(Gone("this process left the others before its call was answered"))
        else:
            self._agent.pool.submit(self._try)  # who looks for a process may wait
