"""Access to the CUDA backend, and conversion of device arguments, for the modules of `ts.cuda`.

Each device argument in the example is converted to an index. The index -1 is the current device:

>>> device_index(1), device_index("cuda:2"), device_index(None)
(1, 2, -1)
"""

from __future__ import annotations

from typing import Any

from ts import backends, devices

Device = devices.device | str | int | None


def usable() -> bool:
    """Return True if CuPy and a CUDA device are available."""
    return "cuda" in backends.available()


def backend() -> Any:
    """Return the CUDA backend. Raise RuntimeError without CuPy or a device."""
    return backends.get("cuda")


def device_index(device: Device) -> int:
    """Return the index of a CUDA device.

    Return -1, the current device, for None or a device without index.
    """
    if device is None:
        return -1
    if isinstance(device, int):
        return device
    parsed = device if isinstance(device, devices.device) else devices.device(device)
    if parsed.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {parsed}")
    return -1 if parsed.index is None else int(parsed.index)


def checked(device: Device) -> int:
    """Return the index of a device (default: the current one). Raise RuntimeError if it does not exist."""
    return int(backend().device_ordinal(device_index(device)))
