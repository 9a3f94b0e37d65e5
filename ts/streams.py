"""Streams: where a device queues its work.

>>> Stream(device="cpu")
torch.Stream device_type=cpu, device_index=-1, stream_id=0

The CPU has one, which runs everything in order.
"""

from __future__ import annotations

from ts import devices


class Stream:
    """The queue of that number on a device. Scripts pass streams on (`torch.Stream` in annotations)."""

    def __init__(self, device: devices.device | str = "cpu", stream_id: int = 0) -> None:
        self.device = devices.device(device)
        self.stream_id = stream_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return (self.device, self.stream_id) == (other.device, other.stream_id)

    def __hash__(self) -> int:
        return hash((self.device, self.stream_id))

    def __repr__(self) -> str:
        index = -1 if self.device.index is None else self.device.index
        place = f"device_type={self.device.type}, device_index={index}"
        return f"torch.Stream {place}, stream_id={self.stream_id}"
