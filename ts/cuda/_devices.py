"""What the modules of `ts.cuda` share: the backend, and devices as their functions take them.

>>> number(1), number("cuda:2"), number(None)
(1, 2, -1)
"""

from __future__ import annotations

from typing import Any

from ts import backends, devices

Device = devices.device | str | int | None


def usable() -> bool:
    """Whether there is a CUDA device."""
    return "cuda" in backends.available()


def backend() -> Any:
    """The cuda backend; RuntimeError where there is no device."""
    return backends.get("cuda")


def number(device: Device) -> int:
    """The number of a device; -1, the current one, for None or a device without number."""
    if device is None:
        return -1
    if isinstance(device, int):
        return device
    found = device if isinstance(device, devices.device) else devices.device(device)
    if found.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {found}")
    return -1 if found.index is None else int(found.index)


def checked(device: Device) -> int:
    """The number of a device that exists, the current one by default."""
    return int(backend().device_ordinal(number(device)))
