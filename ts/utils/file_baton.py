"""File lock: one process creates the file and works, and all others wait for the removal of the file.

In the example, only one of several processes calls `build`:

    baton = FileBaton("/tmp/build.lock")
    if baton.try_acquire():
        try: build()
        finally: baton.release()
    else:
        baton.wait()
"""

from __future__ import annotations

import logging
import os
import time

from ts.unsupported import names_for

__getattr__ = names_for(__name__)
logger = logging.getLogger("torch.utils.file_baton")


class FileBaton:
    """Lock that a process holds by creating a lock file.

    wait_seconds        time between checks of the file
    warn_after_seconds  waiting time after which a warning is logged (None: no warning)
    """

    def __init__(
        self, lock_file_path: str, wait_seconds: float = 0.1, warn_after_seconds: float | None = None
    ) -> None:
        self.lock_file_path = lock_file_path
        self.wait_seconds = wait_seconds
        self.warn_after_seconds = warn_after_seconds
        self.fd: int | None = None

    def try_acquire(self) -> bool:
        """Create the file. Return False if it exists."""
        try:
            self.fd = os.open(self.lock_file_path, os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            return False
        return True

    def wait(self) -> None:
        """Wait until the file does not exist."""
        start, has_warned = time.monotonic(), False
        while os.path.exists(self.lock_file_path):
            time.sleep(self.wait_seconds)
            waited = time.monotonic() - start
            if self.warn_after_seconds is not None and not has_warned and waited > self.warn_after_seconds:
                logger.warning("Waited on lock file %s for %.0f seconds", self.lock_file_path, waited)
                has_warned = True

    def release(self) -> None:
        """Remove the file."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None
        os.remove(self.lock_file_path)
