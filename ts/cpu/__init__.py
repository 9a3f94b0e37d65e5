"""The CPU as a device, under the names of `torch.cpu`.

>>> ts.cpu.is_available(), ts.cpu.device_count(), ts.cpu.current_device()
(True, 1, 'cpu')
"""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ts.devices import Stream
from ts.unsupported import names_for


def is_available() -> bool:
    """Whether there is a CPU."""
    return True


def is_initialized() -> bool:
    """Whether it is ready."""
    return True


def device_count() -> int:
    """How many there are: all cores are one device."""
    return 1


def current_device() -> str:
    """The device that new tensors go to."""
    return "cpu"


def set_device(device: Any) -> None:
    """There is one: nothing changes."""


def synchronize(device: Any = None) -> None:
    """Wait for what was queued: nothing is, operators run when they are called."""


def stream(stream: Stream | None) -> AbstractContextManager[None]:
    """The block that runs on a stream; the CPU has one."""
    return nullcontext()


def __getattr__(name: str) -> Any:
    if name == "amp":
        return importlib.import_module("ts.cpu.amp")
    return names_for(__name__)(name)
