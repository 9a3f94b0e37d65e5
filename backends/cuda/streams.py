"""CUDA streams and events with the interface of `torch.cuda`.

Input: a device. Output: streams whose work may run concurrently. They are CuPy streams, so code that calls
CuPy shares the current stream. Example:

    s = Stream(0)
    with current(s):            # work in this block is queued in s
        y = x + 1
    current_stream(0).wait_stream(s)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cupy

from ts import devices


class Stream:
    """A queue of work on a device. Work in different streams may run concurrently."""

    def __init__(self, device: int, queue: Any = None, priority: int = 0) -> None:
        self.device = devices.device("cuda", device)
        if queue is None:
            with cupy.cuda.Device(device):
                queue = cupy.cuda.Stream(non_blocking=True, priority=priority or None)
        self.queue = queue  # CuPy's stream object
        self.priority = priority

    @property
    def cuda_stream(self) -> int:
        """Address of the stream in the CUDA runtime."""
        return int(self.queue.ptr)

    @property
    def stream_id(self) -> int:
        """Address of the stream in the CUDA runtime, an alias of `cuda_stream` as in PyTorch."""
        return self.cuda_stream

    def synchronize(self) -> None:
        """Wait until the device has finished all work queued in the stream (stream synchronization)."""
        self.queue.synchronize()

    def query(self) -> bool:
        """Return whether the device has finished all work that is queued in the stream."""
        return bool(self.queue.done)

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event in the stream, and return it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Make work that is queued later in this stream wait for an event."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Make work that is queued later in this stream wait for the work now queued in `stream`."""
        self.wait_event(stream.record_event())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return (self.device, self.cuda_stream) == (other.device, other.cuda_stream)

    def __hash__(self) -> int:
        return hash((self.device, self.cuda_stream))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class Event:
    """Marker in a stream. Programs can wait for it, and measure the time between two events."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.enable_timing = enable_timing
        self._blocking = blocking
        self._interprocess = interprocess
        # CuPy's event. The first call of `record` creates it on the device of the stream.
        self._mark: Any = None

    def record(self, stream: Stream | None = None) -> None:
        """Record the event in a stream (by default the current stream), and replace an earlier recording."""
        stream = current_stream(int(cupy.cuda.runtime.getDevice())) if stream is None else stream
        with cupy.cuda.Device(stream.device.index):
            if self._mark is None:
                self._mark = cupy.cuda.Event(
                    block=self._blocking,
                    disable_timing=not self.enable_timing,
                    interprocess=self._interprocess,
                )
            self._mark.record(stream.queue)

    def wait(self, stream: Stream | None = None) -> None:
        """Make work that is queued later in a stream wait for this event."""
        if self._mark is not None:  # An event that was never recorded counts as completed, as in CUDA.
            stream = current_stream(int(cupy.cuda.runtime.getDevice())) if stream is None else stream
            stream.queue.wait_event(self._mark)

    def query(self) -> bool:
        """Return whether the device has passed the event."""
        return self._mark is None or bool(self._mark.done)

    def synchronize(self) -> None:
        """Wait until the device has passed the event."""
        if self._mark is not None:
            self._mark.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Return the time between two events in ms.

        The device must have passed both. Create both with `enable_timing`.
        """
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._mark is None or end_event._mark is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if not (self.query() and end_event.query()):
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        return float(cupy.cuda.get_elapsed_time(self._mark, end_event._mark))

    def __repr__(self) -> str:
        return f"<torch.cuda.Event {'uninitialized' if self._mark is None else hex(int(self._mark.ptr))}>"


def current_stream(device: int) -> Stream:
    """Return the current stream of a device."""
    with cupy.cuda.Device(device):
        return Stream(device, cupy.cuda.get_current_stream())


def default_stream(device: int) -> Stream:
    """Return the default stream of a device."""
    return Stream(device, cupy.cuda.Stream.null)


def external_stream(address: int, device: int) -> Stream:
    """Wrap a stream of another library, given its address."""
    return Stream(device, cupy.cuda.ExternalStream(address, device))


def set_stream(stream: Stream) -> None:
    """Make `stream` the current stream of its device."""
    with cupy.cuda.Device(stream.device.index):
        stream.queue.use()


@contextmanager
def current(stream: Stream | None) -> Iterator[Stream | None]:
    """Make `stream` the current stream of its device within a `with` block, or do nothing if it is None."""
    if stream is None:
        yield None
        return
    with cupy.cuda.Device(stream.device.index):
        before = (
            cupy.cuda.get_current_stream()
        )  # the previous stream, which is restored after the `with` block
        stream.queue.use()
        try:
            yield stream
        finally:
            # Select the device again, because code in the `with` block may have made another device current.
            with cupy.cuda.Device(stream.device.index):
                before.use()
