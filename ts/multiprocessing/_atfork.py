"""Registration of at-fork handlers, which run in forked child processes: `register_after_fork`.

register_after_fork(forget_connections)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


def register_after_fork(func: Callable[[], Any]) -> None:
    """Register `func`, which is called in each forked child process."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=func)
