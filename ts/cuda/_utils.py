"""Index of a CUDA device, under the names of `torch.cuda._utils`.

Input: a device. Output: its index. Example:

>>> _get_device_index("cuda:1")
1
"""

from __future__ import annotations

from typing import Any

from ts import devices
from ts.cuda._devices import backend, usable


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> Any:
    """Return the index of a GPU, or -1 for the CPU if `allow_cpu`. Raise ValueError for other devices.

    If `optional`, a missing device or index means the current GPU, and the result is None if there is no GPU.
    """
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        device = devices.device(device)
    if isinstance(device, devices.device):
        if device.type == "cpu" and allow_cpu:
            return -1
        if device.type != "cuda":
            kinds = "cuda or cpu" if allow_cpu else "cuda"
            raise ValueError(f"Expected a {kinds} device, but got: {device}")
        if device.index is not None:
            return device.index
    if optional and (device is None or isinstance(device, devices.device)):
        return backend().device_ordinal(-1) if usable() else None
    raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")


def gpu_index(device: Any) -> int:
    """Return the index of a GPU. Raise ValueError for a CPU device."""
    if isinstance(device, int):
        return device
    device = devices.device(device)
    if device.type == "cpu":
        raise ValueError(f"Expected a non cpu device, but got: {device}")
    return 0 if device.index is None else int(device.index)
