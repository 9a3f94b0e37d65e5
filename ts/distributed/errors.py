"""What goes wrong between processes, under PyTorch's names."""

from __future__ import annotations


class DistError(RuntimeError):
    """Something between processes failed."""


class DistBackendError(DistError):
    """Processes did not do the same, or one of them took too long."""


class DistNetworkError(DistError):
    """A process has gone, or cannot be reached."""


class DistStoreError(DistError):
    """The processes did not come together."""


class WorkerUnavailableError(RuntimeError):
    """A process that was called is no longer there, or cannot be reached."""

    refused = False  # whether nobody listens there


class QueueEmptyError(DistStoreError):
    """Nothing is there. Nothing here raises it."""
