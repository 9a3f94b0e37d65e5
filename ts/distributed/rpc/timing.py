"""Calls as events of a profile, and as bars of a cluster's dashboard.

    rpc_sync#aten::add(worker0 -> worker1)           103 us     64 bytes there, 64 back, 12.5 us in its queue
    rpc_async_jit#__torch__.f(worker0 -> worker1)    the name that PyTorch gives to calls of scripts

Only a call that a profiler watches asks for the time: its message stands in another, ("timed", message).
Where a cluster shows pages of dask, calls that are over go on a trail, which its scheduler is told of.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ts._core.dispatch.recorder import Event, begin_call, end_call, is_watched
from ts.distributed.rpc.callees import title

if TYPE_CHECKING:
    from ts.distributed.rpc.members import Members
    from ts.distributed.rpc.peers import Peer

TIMED: Final = "timed"
_MEMORY: Final = {"call": 3, "remote": 3, "method": 4, "remote_method": 4}  # where a message has its tensors


class Bar(NamedTuple):
    """What a dashboard shows of a call."""

    trail: deque[list[Any]]
    name: str
    address: str
    begun: float


class Timing:
    """One call that is watched."""

    def __init__(self, event: Event | None, message: list[Any], bar: Bar | None) -> None:
        self._event = event
        self._there = _bytes(message[_MEMORY[message[0]]])
        self._bar = bar

    def asking(self, message: list[Any]) -> list[Any]:
        """What is sent for a message."""
        return message if self._event is None else [TIMED, message]

    def over(self, answered: Any) -> None:
        """The answer has come; None where there is none."""
        if self._bar is not None:
            trail, name, address, begun = self._bar
            trail.append([name, address, begun, time.time(), answered is None or answered[0] == "failed"])
        if self._event is not None:
            end_call(self._event, self._told(answered))

    def _told(self, answered: Any) -> str:
        told = f"{self._there} bytes there"
        match answered:
            case ("value", _, memory, int(waited)):
                told += f", {_bytes(memory)} back, {waited / 1e3:.1f} us in its queue"
            case ("failed", str(kind), _):
                told += f", {kind}"
            case None:
                told += ", no answer"
        return told


def watched(form: str, callee: Any, members: Members, to: Peer, message: list[Any]) -> Timing | None:
    """The timing of a call that begins now; None where nobody wants it."""
    trail = members.trail
    if trail is None and not is_watched():
        return None
    script, name = title(callee)
    how = f"{form}{'_jit' if script else ''}#{name}({members.info.name} -> {to.info.name})"
    shown = name.removeprefix("__torch__.")
    bar = None if trail is None else Bar(trail, shown, to.address, time.time())
    return Timing(begin_call(how), message, bar)


def _bytes(memory: Any) -> int:
    return sum(map(len, memory))
