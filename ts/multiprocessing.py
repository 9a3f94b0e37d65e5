"""Names of `torch.multiprocessing`: Python's `multiprocessing`, through which tensors travel by value.

    queue = ts.multiprocessing.Queue()
    queue.put(ts.ones(3))               whoever gets it has a copy

Workers of a `DataLoader` share memory with the program in a way of their own (`ts/utils/data/parcels.py`).
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403
from typing import Any

_STRATEGIES = {"file_descriptor", "file_system"}
_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The names of PyTorch's ways to share memory on this system."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """The name that was set last."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Take note of a way to share memory; AssertionError for a name that is none. Nothing follows from it."""
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy}")
    _strategy = new_strategy


def __getattr__(name: str) -> Any:
    return getattr(multiprocessing, name)
