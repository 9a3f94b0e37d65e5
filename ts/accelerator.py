"""API of the accelerator, independent of its type. The accelerator is CUDA if it is available.

The example selects a device:

    device = ts.accelerator.current_accelerator() if ts.accelerator.is_available() else "cpu"

Functions that need a device raise RuntimeError if there is none.
"""

from __future__ import annotations

from typing import Any

from ts import cuda
from ts.devices import device as Device


def is_available() -> bool:
    """Return True if an accelerator is available."""
    return cuda.is_available()


def device_count() -> int:
    """Return the number of devices."""
    return cuda.device_count()


def current_accelerator(check_available: bool = False) -> Device | None:
    """Return the accelerator's device type, as a device without index, or None if no accelerator exists.

    `check_available` has no effect, because `ts` finds only accelerators that are available.
    """
    return Device("cuda") if cuda.is_available() else None


def _require_cuda() -> None:
    if not cuda.is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")


def current_device_index() -> int:
    """Return the index of the device on which this thread creates tensors."""
    _require_cuda()
    return cuda.current_device()


def set_device_index(device: Any, /) -> None:
    """Select the device on which this thread creates tensors."""
    _require_cuda()
    cuda.set_device(device)


def synchronize(device: Any = None, /) -> None:
    """Wait for all work that is queued on a device."""
    _require_cuda()
    cuda.synchronize(device)


def empty_cache() -> None:
    """Release the unused memory of the device memory pool."""
    _require_cuda()
    cuda.empty_cache()
