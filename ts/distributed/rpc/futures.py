"""Results of calls that are not there yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ts._core.vm.execution import Execution
from ts._core.vm.future import Future
from ts.distributed.loop import at_once, inside

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import Agent


class RpcFuture(Future[Any]):
    """The result of a call. What is to be done with it is done in a thread that may wait and call in turn."""

    def __init__(self, agent: Agent) -> None:
        super().__init__()
        self.agent = agent
        self.limit = 0.0  # seconds that its call may take

    def call(self, callback: Callable[[Any], Any]) -> None:
        """Run a callback; a program that waits goes to the threads of programs."""
        wakes = isinstance(getattr(callback, "__self__", None), Execution)
        if inside() and not wakes and not isinstance(callback, at_once):
            self.agent.pool.submit(super().call, callback)
        else:
            super().call(callback)


def pass_on(finished: Future[Any], to: Future[Any]) -> None:
    """Give another future what a finished one holds."""
    error = finished.exception()
    if error is None:
        to.set_result(finished.value())
    else:
        to.set_exception(error)


def mapped(agent: Agent, future: Future[Any], convert: Callable[[Any], Any]) -> RpcFuture:
    """A future of what another one holds, converted; its errors as they are."""
    found = RpcFuture(agent)

    def give(finished: Future[Any]) -> None:
        try:
            value = convert(finished.value())
        except Exception as error:  # for whoever waits
            found.set_exception(error)
        else:
            found.set_result(value)

    future.add_done_callback(give)
    return found
