"""Worker functions of data loaders under PyTorch's private names, for programs with custom workers."""

from __future__ import annotations

import os

from ts.unsupported import names_for
from ts.utils.data.worker import WorkerInfo, get_worker_info
from ts.utils.data.worker import generate_state as _generate_state

__all__ = ["ManagerWatchdog", "WorkerInfo", "_generate_state", "get_worker_info"]
__getattr__ = names_for(__name__)


class ManagerWatchdog:
    """Watchdog that tells whether the parent process is alive (liveness check)."""

    def __init__(self) -> None:
        self.manager_pid = os.getppid()
        self.manager_dead = False

    def is_alive(self) -> bool:
        """Return True if the parent process is still alive."""
        if not self.manager_dead:
            self.manager_dead = os.getppid() != self.manager_pid
        return not self.manager_dead
