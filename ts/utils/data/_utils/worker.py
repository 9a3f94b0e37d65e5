"""The workers of a loader, as far as programs ask for them."""

from ts.utils.data.worker import WorkerInfo, get_worker_info

__all__ = ["WorkerInfo", "get_worker_info"]
