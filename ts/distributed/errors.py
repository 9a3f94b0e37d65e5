"""Exceptions of distributed operations, under PyTorch's names."""

from __future__ import annotations


class DistError(RuntimeError):
    """Base class of errors of distributed operations."""


class DistBackendError(DistError):
    """Error of a collective call: the ranks called different functions, or a timeout has passed."""


class DistNetworkError(DistError):
    """Raised if another process has exited or cannot be reached."""


class DistStoreError(DistError):
    """Raised if a rendezvous fails, for example because not all processes have joined in time."""


class WorkerUnavailableError(RuntimeError):
    """Raised by a call of a worker that has exited or cannot be reached."""

    # True if the connection was refused because no process listens at the address
    connection_refused = False


class QueueEmptyError(DistStoreError):
    """Error for an empty queue in PyTorch, which `ts` never raises."""
