"""Measurement of RPC calls, for the profiler and for the dashboard of a cluster.

The profiler shows one event for each call. The event of a scripted callee has the same name as in PyTorch:

    profiler event                                   time       description
    rpc_sync#aten::add(worker0 -> worker1)           103 us     64 bytes sent, 64 received, 12.5 us queued
    rpc_async_jit#__torch__.f(worker0 -> worker1)    190 us     scripted callee

A profiled call is sent as ("timed", message). The callee then measures the time that the call was queued. For
dask's dashboard, the next heartbeat to the scheduler contains `WorkerDirectory.finished_calls`.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ts._core.dispatch.profiler_recorder import Event, begin_call, end_call, is_watched
from ts.distributed.rpc.callable_registry import profile_name

if TYPE_CHECKING:
    from ts.distributed.rpc.peers import Peer
    from ts.distributed.rpc.worker_directory import WorkerDirectory

TIMED: Final = "timed"
_BUFFERS_INDEX: Final = {
    "call": 3,
    "remote": 3,
    "method": 4,
    "remote_method": 4,
}  # kind of a message -> index of the tensor buffers in the message


class DashboardTask(NamedTuple):
    """Running call that the dashboard will show. `begun` is its start time in seconds."""

    finished_calls: deque[list[Any]]
    name: str
    address: str
    begun: float


class Timing:
    """Measurement of one call for the profiler, the dashboard or both."""

    def __init__(self, event: Event | None, message: list[Any], task: DashboardTask | None) -> None:
        self._event = event
        self._request_bytes = _total_bytes(message[_BUFFERS_INDEX[message[0]]])
        self._task = task

    def wrap_request(self, message: list[Any]) -> list[Any]:
        """Return the message to send.

        If the call is profiled, the message is wrapped to request the queueing time.
        """
        return message if self._event is None else [TIMED, message]

    def finish(self, response: Any) -> None:
        """Record the end of the call. `response` is None if the connection broke."""
        if self._task is not None:
            finished_calls, name, address, start = self._task
            finished_calls.append(
                [name, address, start, time.time(), response is None or response[0] == "failed"]
            )
        if self._event is not None:
            end_call(self._event, self._describe_response(response))

    def _describe_response(self, response: Any) -> str:
        description = f"{self._request_bytes} bytes sent"
        match response:
            case ("value", _, memory, int(waited)):
                description += f", {_total_bytes(memory)} received, {waited / 1e3:.1f} us queued"
            case ("failed", str(kind), _):
                description += f", {kind}"
            case None:
                description += ", no response"
        return description


def start_timing(
    form: str, callee: Any, members: WorkerDirectory, to: Peer, message: list[Any]
) -> Timing | None:
    """Start to measure a call by the API function `form` ("rpc_sync", "rpc_async" or "rpc_remote").

    Return None if neither a profiler nor a dashboard is active.
    """
    finished_calls = members.finished_calls
    if finished_calls is None and not is_watched():
        return None
    script, name = profile_name(callee)
    event_name = f"{form}{'_jit' if script else ''}#{name}({members.info.name} -> {to.info.name})"
    display_name = name.removeprefix("__torch__.")
    task = (
        None
        if finished_calls is None
        else DashboardTask(finished_calls, display_name, to.address, time.time())
    )
    return Timing(begin_call(event_name), message, task)


def _total_bytes(memory: Any) -> int:
    return sum(map(len, memory))
