"""Queues between processes, which share the memory of tensors in messages.

Example: `queue = SimpleQueue(ctx=multiprocessing.get_context("spawn"))`.

Queues of Python's `multiprocessing` share memory in the same way. The classes only provide PyTorch's names.
"""

from __future__ import annotations

import io
import multiprocessing.queues
import pickle
from multiprocessing.reduction import ForkingPickler
from typing import Any

from ts._core.tensor import sharing

sharing.register_reductions()


class ConnectionWrapper:
    """Connection whose messages are pickles of `multiprocessing`."""

    def __init__(self, conn: Any) -> None:
        self.conn = conn

    def send(self, obj: Any) -> None:
        """Pickle an object and send it."""
        buffer = io.BytesIO()
        ForkingPickler(buffer, pickle.HIGHEST_PROTOCOL).dump(obj)
        self.send_bytes(buffer.getvalue())

    def recv(self) -> Any:
        """Receive an object and return it."""
        return pickle.loads(self.recv_bytes())

    def __getattr__(self, name: str) -> Any:
        if "conn" in self.__dict__:
            return getattr(self.conn, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute 'conn'")


class Queue(multiprocessing.queues.Queue):  # type: ignore[type-arg]
    """`multiprocessing.Queue` with tensors in shared memory."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._reader: ConnectionWrapper = ConnectionWrapper(self._reader)
        self._writer: ConnectionWrapper = ConnectionWrapper(self._writer)
        self._send = self._writer.send
        self._recv = self._reader.recv


class SimpleQueue(multiprocessing.queues.SimpleQueue):  # type: ignore[type-arg]
    """`multiprocessing.SimpleQueue` with tensors in shared memory."""
