"""CUDA devices, under the names of `torch.cuda`.

    if ts.cuda.is_available():
        x = ts.rand(3, device="cuda")
        ts.cuda.synchronize()

Asking never fails: without CuPy or a GPU there are no devices.  What needs a device raises RuntimeError and
says what to install.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from ts import backends
from ts.devices import device as Device


def is_available() -> bool:
    """Whether a CUDA device can be used here."""
    return device_count() > 0


def device_count() -> int:
    """The number of CUDA devices."""
    count: int = backends.get("cuda").device_count() if "cuda" in backends.available() else 0
    return count


def current_device() -> int:
    """The number of the device that new tensors go to."""
    number: int = backends.get("cuda").current_device()
    return number


def synchronize(device: Device | str | int | None = None) -> None:
    """Wait for everything queued on a device, the current one by default."""
    backends.get("cuda").synchronize(_number(device))


def device(device: Device | str | int) -> AbstractContextManager[Any]:
    """A context in which a device is the current one."""
    context: AbstractContextManager[Any] = backends.get("cuda").on(_number(device))
    return context


def _number(device: Any) -> int:
    """The number of a device; -1, the current one, for None or a device without number."""
    if device is None:
        return -1
    if isinstance(device, int):
        return device
    found = device if isinstance(device, Device) else Device(device)
    if found.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {found}")
    return -1 if found.index is None else int(found.index)
