"""Processes that share tensors: Python's `multiprocessing`, with PyTorch's additions.

Example:

    queue = ts.multiprocessing.SimpleQueue()
    queue.put(ts.ones(3))                       # both processes share the memory
    ts.multiprocessing.spawn(train, args=(model.share_memory(),), nprocs=4)

In messages and process arguments, a tensor is a file descriptor instead of its elements.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
import threading
from multiprocessing import *  # noqa: F403
from typing import Any

from ts._core.tensor import sharing
from ts.multiprocessing import pool, queue, reductions
from ts.multiprocessing.spawn import (
    ENV_VAR_PARALLEL_START as ENV_VAR_PARALLEL_START,
)
from ts.multiprocessing.spawn import (
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,  # hides the submodule of this name as an attribute, but its import still works
    start_processes,
)

init_reductions = reductions.init_reductions

__all__ = [
    "ProcessContext", "ProcessExitedException", "ProcessRaisedException", "SpawnContext",
    "get_all_sharing_strategies", "get_sharing_strategy", "pool", "queue", "reductions",
    "set_sharing_strategy", "spawn", "start_processes", *multiprocessing.__all__,
]  # fmt: skip


def get_all_sharing_strategies() -> set[str]:
    """Return the names of the sharing strategies of this system."""
    return set(sharing.STRATEGIES)


def get_sharing_strategy() -> str:
    """Return the current sharing strategy."""
    return sharing.get_strategy()


def set_sharing_strategy(new_strategy: str) -> None:
    """Set the sharing strategy for new shared memory. Raise AssertionError for an unknown name.

    With "file_descriptor", processes pass descriptors of open files. Files cannot remain after the processes
    end, but the sender must run until the tensor is received. With "file_system", processes pass names of
    files.
    """
    sharing.set_strategy(new_strategy)


def _set_thread_name(name: str) -> None:
    """Set the name of the calling thread in the operating system, which `top` shows."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError), open(_thread_name_file(), "w") as file:
            file.write(name)
    else:
        threading.current_thread().name = name


def _get_thread_name() -> str:
    """Return the name of the calling thread in the operating system."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError), open(_thread_name_file()) as file:
            return file.read().rstrip("\n")
    return threading.current_thread().name


def _thread_name_file() -> str:
    return f"/proc/self/task/{threading.get_native_id()}/comm"


def __getattr__(name: str) -> Any:
    return getattr(multiprocessing, name)


init_reductions()
