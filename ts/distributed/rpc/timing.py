"""Calls as events of a profile: whom they ask, how many bytes go and come, how long they wait there.

    rpc_sync#aten::add(worker0 -> worker1)           103 us     64 bytes there, 64 back, 12.5 us in its queue
    rpc_async_jit#__torch__.f(worker0 -> worker1)    the name that PyTorch gives to calls of scripts

Only a call that somebody watches asks for the time: its message stands in another, ("timed", message).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ts._core.dispatch.recorder import Event, begin_call, end_call, is_watched
from ts.distributed.rpc.callees import title

if TYPE_CHECKING:
    from ts.ops.rref import WorkerInfo

TIMED: Final = "timed"
_MEMORY: Final = {"call": 3, "remote": 3, "method": 4, "remote_method": 4}  # where a message has its tensors


class Timing:
    """One call that is watched."""

    def __init__(self, event: Event, message: list[Any]) -> None:
        self._event = event
        self._there = _bytes(message[_MEMORY[message[0]]])

    def over(self, answered: Any) -> None:
        """The answer has come; None where there is none."""
        told = f"{self._there} bytes there"
        match answered:
            case ("value", _, memory, int(waited)):
                told += f", {_bytes(memory)} back, {waited / 1e3:.1f} us in its queue"
            case ("failed", str(kind), _):
                told += f", {kind}"
            case None:
                told += ", no answer"
        end_call(self._event, told)


def watched(form: str, callee: Any, here: WorkerInfo, to: WorkerInfo, message: list[Any]) -> Timing | None:
    """The event of a call that begins now; None where nobody watches this thread."""
    if not is_watched():
        return None
    script, name = title(callee)
    event = begin_call(f"{form}{'_jit' if script else ''}#{name}({here.name} -> {to.name})")
    return None if event is None else Timing(event, message)


def _bytes(memory: Any) -> int:
    return sum(map(len, memory))
