"""Exceptions of distributed operations, under PyTorch's names."""

from __future__ import annotations


class DistError(RuntimeError):
    """Something between processes failed."""


class DistBackendError(DistError):
    """Error of a collective: mismatched calls of the ranks, or a timeout."""


class DistNetworkError(DistError):
    """A process has gone, or cannot be reached."""


class DistStoreError(DistError):
    """The processes did not come together."""


class WorkerUnavailableError(RuntimeError):
    """Error of a call to a worker that has exited or cannot be reached."""

    refused = False  # whether the connection was refused


class QueueEmptyError(DistStoreError):
    """Nothing is there. Nothing here raises it."""
