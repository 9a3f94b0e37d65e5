"""Interfaces of RPC that distributed autograd uses. It uses no other part of RPC."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from ts._core.vm.future import Future


class Messenger(Protocol):
    """Exchange of messages with other processes, which are identified by their worker ids."""

    @property
    def worker_id(self) -> int:
        """Id of this process."""

    def can_have_id(self, worker_id: int) -> bool:
        """Return True if `worker_id` may be the id of a process."""

    def request(self, process: int, message: list[Any]) -> Future[Any]:
        """Send a request with the default timeout, and return a future of the value in the response."""

    def notify(self, process: int, message: list[Any]) -> None:
        """Send a message that arrives at least once, unless the process has left."""

    def within(self) -> AbstractContextManager[Any]:
        """Return a context that applies the limits for requests of other processes."""


class ResultWriter(Protocol):
    """Response to a request of another process."""

    def result(self, value: Any) -> None:
        """Send a value."""

    def send_result(self, future: Future[Any]) -> None:
        """Send the value or exception of a finished future."""
