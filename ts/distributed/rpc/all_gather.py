"""Coordinator of all-gathers and barriers over RPC workers.

Input: a value of each worker. Output: in each worker, a dictionary of all values by worker name. The example
is a call in a worker, after which both workers have all values:

    _all_gather(3)           {"worker0": 3, "worker1": 5}

The workers send their values to the first worker by name. This coordinator responds when it has all values.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

from ts.distributed.dist_autograd.send_recv_nodes import GradientCodec
from ts.distributed.rpc.responses import ResponseWriter
from ts.distributed.rpc.worker_directory import WorkerDirectory
from ts.distributed.wire_values import EncodedValue

Names = tuple[str, ...]


class AllGatherState:
    """Values that this process has received as the coordinator of all-gathers."""

    def __init__(self, directory: WorkerDirectory, codec: GradientCodec) -> None:
        self._directory, self._codec = directory, codec
        # names of the workers in a group -> number of all-gathers in this group that this process has started
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
        key, name = (tuple(names), sequence_number), self._directory.peer(caller).info.name
        if sorted({*key[0]}) != [*key[0]]:
            raise ValueError(f"expected sorted, distinct names of workers, got {key[0]!r:.100}")
        if name not in key[0]:
            raise ValueError(f"{name} is not in the group of this all-gather: {', '.join(key[0])}")
        value, _ = self._codec.unpack(encoded)
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
