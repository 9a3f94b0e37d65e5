"""All-gather and barrier over RPC workers: `_all_gather`, `_barrier`.

    _all_gather(3)           {"worker0": 3, "worker1": 5} in both workers, after both have called it

The workers send their values to a coordinator, the first worker by name, which responds when it has all
values.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ts.distributed.rpc.options import UNSET_RPC_TIMEOUT
from ts.distributed.rpc.responses import ResponseWriter
from ts.distributed.rpc.state import current
from ts.distributed.wire_values import EncodedValue

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import RpcAgent

Names = tuple[str, ...]


class AllGatherState:
    """Values that this process has received as the coordinator of all-gathers."""

    def __init__(self, agent: RpcAgent) -> None:
        self._agent = agent
        # names of the workers of a group -> number of all-gathers that this process has started in the group
        self._sequence_numbers: Counter[Names] = Counter()
        self._received: dict[tuple[Names, int], dict[str, tuple[Any, ResponseWriter, int]]] = {}
        self._lock = threading.Lock()

    def sequence_number(self, names: Names) -> int:
        """Return the number of this process's next all-gather in the group `names`."""
        with self._lock:
            self._sequence_numbers[names] += 1
            return self._sequence_numbers[names]

    def receive(
        self, names: Any, sequence_number: int, encoded: EncodedValue, response: ResponseWriter, caller: int
    ) -> None:
        """Store the value of a worker. After the last value, respond to all workers of the group.

        Raise ValueError if `names` is not sorted or does not contain the caller.
        """
        members = self._agent.directory
        key, name = (tuple(names), sequence_number), members.peer(caller).info.name
        if sorted({*key[0]}) != [*key[0]]:
            raise ValueError(f"expected sorted, distinct names of workers, got {key[0]!r:.100}")
        if name not in key[0]:
            raise ValueError(f"{name} is not in the group of this all-gather: {', '.join(key[0])}")
        value = self._agent.deserialize(encoded)
        with self._lock:
            received = self._received.setdefault(key, {})
            received[name] = value, response, caller
            if len(received) < len(key[0]):
                return
            del self._received[key]
        values = {each: received[each][0] for each in key[0]}
        for _, writer, _ in received.values():
            writer.result(values)

    def forget(self, process: int) -> None:
        """Discard the stored values of a process that has left."""
        with self._lock:
            for key, received in list(self._received.items()):
                for name in [name for name, (*_, caller) in received.items() if caller == process]:
                    del received[name]
                if not received:
                    del self._received[key]


def _all_gather(
    obj: Any, worker_names: Iterable[str] | None = None, timeout: float = UNSET_RPC_TIMEOUT
) -> dict[str, Any]:
    """Gather a value from each worker of a group, and return a dict from worker names to values.

    All workers of the group must call this function, in the same order.

    worker_names    names of the group's workers (default: all workers)
    timeout         seconds after which missing values raise a RuntimeError
    """
    agent = current()
    if worker_names is None:
        worker_names = [agent.info.name, *(info.name for info in agent.directory.workers())]
    names = tuple(sorted(set(worker_names)))
    # look up all workers before anything is sent: an unknown name raises RuntimeError
    peers = [agent.peer(name) for name in names]
    if agent.info.name not in names:
        raise AssertionError(f"{agent.info.name} is not contained by {set(names)}.")
    message = [
        "gather",
        list(names),
        agent.all_gather_state.sequence_number(names),
        *agent.serialize(peers[0], obj),
    ]
    values: dict[str, Any] = agent.submit(peers[0], message, agent.timeout(timeout)).wait()
    return values


def _barrier(worker_names: Iterable[str]) -> None:
    """Block until all workers of a group have called this function."""
    _all_gather(None, worker_names)
