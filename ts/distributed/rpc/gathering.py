"""Values of several processes, which each of them gets: `_all_gather`, and `_barrier` without values.

    _all_gather(3)           {"worker0": 3, "worker1": 5}, in both processes when both have called it

All send theirs to the first by name, which answers when the last has come.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ts.distributed.rpc.answers import Answer
from ts.distributed.rpc.options import UNSET_RPC_TIMEOUT
from ts.distributed.rpc.state import current
from ts.distributed.values import Parcel

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import Agent

Names = tuple[str, ...]


class Gatherings:
    """What has come so far to this process, as the first by name."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._turns: Counter[Names] = Counter()  # of this process, in each group
        self._come: dict[tuple[Names, int], dict[str, tuple[Any, Answer, int]]] = {}
        self._lock = threading.Lock()

    def turn(self, names: Names) -> int:
        """The how manieth time this process gathers with these."""
        with self._lock:
            self._turns[names] += 1
            return self._turns[names]

    def come(self, names: Any, turn: int, parcel: Parcel, asked: Answer, caller: int) -> None:
        """A value of another process; all are answered with the last."""
        members = self._agent.members
        key, name = (tuple(names), turn), members.peer(caller).info.name
        if sorted({*key[0]}) != [*key[0]]:
            raise ValueError(f"no names of processes: {key[0]!r:.100}")
        if name not in key[0]:
            raise ValueError(f"{name} is none of those that gather: {', '.join(key[0])}")
        value = self._agent.unpacked(parcel)
        with self._lock:
            there = self._come.setdefault(key, {})
            there[name] = value, asked, caller
            if len(there) < len(key[0]):
                return
            del self._come[key]
        found = {each: there[each][0] for each in key[0]}
        for _, answer, _ in there.values():
            answer.result(found)

    def forget(self, process: int) -> None:
        """A process has gone, and waits for nobody."""
        with self._lock:
            for key, there in list(self._come.items()):
                for name in [name for name, (*_, caller) in there.items() if caller == process]:
                    del there[name]
                if not there:
                    del self._come[key]


def _all_gather(
    obj: Any, worker_names: Iterable[str] | None = None, timeout: float = UNSET_RPC_TIMEOUT
) -> dict[str, Any]:
    """What each process of a group gives, by their names; all have to call it, in one order.

    worker_names    the group; all processes without
    timeout         seconds; RuntimeError where not all have come by then
    """
    agent = current()
    if worker_names is None:
        worker_names = [agent.info.name, *(info.name for info in agent.members.workers())]
    names = tuple(sorted(set(worker_names)))
    peers = [agent.peer(name) for name in names]  # RuntimeError for a name of nobody
    if agent.info.name not in names:
        raise AssertionError(f"{agent.info.name} is not contained by {set(names)}.")
    message = ["gather", list(names), agent.gatherings.turn(names), *agent.packed(peers[0], obj)]
    found: dict[str, Any] = agent.submit(peers[0], message, agent.timeout(timeout)).wait()
    return found


def _barrier(worker_names: Iterable[str]) -> None:
    """Wait until all of a group have come."""
    _all_gather(None, worker_names)
