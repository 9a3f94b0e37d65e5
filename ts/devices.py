"""Device and stream objects.

A device is a type name and an index. A stream is a number on a device. Examples:

    >>> from ts.devices import device
    >>> device("cuda:0"), device("cuda", 1).index, device("cpu") == device(device("cpu"))
    (device(type='cuda', index=0), 1, True)

    >>> with device("meta"): ts.ones(2).device
    device(type='meta')

`ts.backends` determines on which devices arrays can be created. This module imports no module of `ts` except
`ts._core.late_binding`, so that every module of `ts` can import `ts.devices` without an import cycle.
"""

from __future__ import annotations

import re
from typing import Any, Final, final

from ts._core.late_binding import resolve

# Device types of PyTorch, in the order in which PyTorch's error message lists them. `extra_types` contains
# the types of other backends.
TYPES: Final = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla",
    "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip
extra_types: set[str] = set()
_SPELLING = r"([a-zA-Z_]+)(?::([1-9]\d*|0))?\Z"


@final
class device:
    """Device of a tensor, created from "cuda:1", from "cuda" and 1, from an accelerator index or a device."""

    __slots__ = ("index", "type")

    def __init__(self, type: str | int | device, index: int | None = None) -> None:
        name: str
        if isinstance(type, device):
            name, index = type.type, type.index
        elif isinstance(type, int):
            name, index = "cuda", type
        elif not isinstance(type, str):
            raise TypeError(
                f"device(): argument 'type' (position 1) must be str, not {type.__class__.__name__}"
            )
        elif index is None:
            name, index = _parse(type)
        elif ":" in type:
            raise RuntimeError(
                f"type (string) must not include an index because index was passed explicitly: {type}"
            )
        else:
            name = type
        _check_type(name, name)
        if index is not None and index < 0:
            raise RuntimeError(f"Device index must not be negative, got {index}")
        self.type: str = name
        self.index: int | None = index

    def __repr__(self) -> str:
        index_text = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index_text})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (str(self),)

    def __enter__(self) -> device:
        """Make this device the default device of factory functions in the block."""
        resolve("default_device_mode").push_device(self)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        resolve("default_device_mode").pop_device()


def _parse(spelling: str) -> tuple[str, int | None]:
    if not spelling:
        raise RuntimeError("Device string must not be empty")
    if spelling in TYPES:
        return spelling, None
    match = re.match(_SPELLING, spelling)
    if match is None:
        raise RuntimeError(f"Invalid device string: '{spelling}'")
    _check_type(match[1], spelling)
    return match[1], None if match[2] is None else int(match[2])


def _check_type(type: str, spelling: str) -> None:
    if type in TYPES or type in extra_types:
        return
    installed = _installed_device_types()
    if type in installed:
        extra_types.add(type)
        return
    raise RuntimeError(
        f"Expected one of {', '.join(TYPES)} device type at start of device string: {spelling}"
        + (f" (additional installed backends: {', '.join(installed)})" if installed else "")
    )


def _installed_device_types() -> list[str]:
    """Return the device types of installed backend packages, for errors about unknown device types."""
    from importlib.metadata import entry_points  # imported at first use, because the import is slow

    return sorted({entry.name for entry in entry_points(group="ts.backends")} - set(TYPES))


def as_device(x: Any) -> device:
    """Convert a `device=` argument to a device. None means the CPU."""
    if x is None:
        return CPU
    return x if isinstance(x, device) else device(x)


CPU: Final = device("cpu")


class Stream:
    """Stream with a device and a number.

    A script can pass a stream on (type `torch.Stream`), but not use it.
    """

    def __init__(self, device: device | str = "cpu", stream_id: int = 0) -> None:
        self.device = as_device(device)
        self.stream_id = stream_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return (self.device, self.stream_id) == (other.device, other.stream_id)

    def __hash__(self) -> int:
        return hash((self.device, self.stream_id))

    def __repr__(self) -> str:
        index = -1 if self.device.index is None else self.device.index
        device_fields = f"device_type={self.device.type}, device_index={index}"
        return f"torch.Stream {device_fields}, stream_id={self.stream_id}"
