"""PyTorch's name for a function that runs in forked children.

register_after_fork(forget_connections)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


def register_after_fork(func: Callable[[], Any]) -> None:
    """Call `func()` in each forked child."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=func)
