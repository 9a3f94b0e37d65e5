"""Exceptions of distributed operations, under PyTorch's names."""

from __future__ import annotations


class DistError(RuntimeError):
    """Something between processes failed."""


class DistBackendError(DistError):
    """Error of a collective: mismatched calls of the ranks, or a timeout."""


class DistNetworkError(DistError):
    """Error of a process that has exited or is unreachable."""


class DistStoreError(DistError):
    """Error of an incomplete rendezvous."""


class WorkerUnavailableError(RuntimeError):
    """Error of a call to a worker that has exited or cannot be reached."""

    refused = False  # whether the connection was refused


class QueueEmptyError(DistStoreError):
    """Error of an empty queue in PyTorch; `ts` does not raise it."""
