"""API of `torch.cpu`: device and stream functions for the CPU.

Example of three functions:

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
    """Return True, because a CPU always exists."""
    return True


def is_initialized() -> bool:
    """Return True, because the CPU needs no initialization."""
    return True


def device_count() -> int:
    """Return 1, because all cores form a single device."""
    return 1


def current_device() -> str:
    """Return the name of the device on which tensors are created."""
    return "cpu"


def set_device(device: Any) -> None:
    """Ignore the device, because the CPU is a single device."""


def synchronize(device: Any = None) -> None:
    """Do nothing, because CPU operators run synchronously."""


def stream(stream: Stream | None) -> AbstractContextManager[None]:
    """Return a context manager that does nothing, because the CPU has a single stream."""
    return nullcontext()


def __getattr__(name: str) -> Any:
    if name == "amp":
        return importlib.import_module("ts.cpu.amp")
    return names_for(__name__)(name)
