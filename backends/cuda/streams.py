"""Streams and events: the queues of a device, and marks in them, as `torch.cuda` has them.

In: a device; out: queues that run beside each other.

    s = Stream(0)
    with current(s):            what is computed here is queued in s
        y = x + 1
    current_stream(0).wait_stream(s)

The streams are CuPy's, so code that uses CuPy directly and `ts` see the same current stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cupy

from ts import devices


class Stream:
    """A queue of work on a device; work in different streams may run at the same time."""

    def __init__(self, device: int, queue: Any = None, priority: int = 0) -> None:
        self.device = devices.device("cuda", device)
        if queue is None:
            with cupy.cuda.Device(device):
                queue = cupy.cuda.Stream(non_blocking=True, priority=priority or None)
        self.queue = queue  # the stream of CuPy
        self.priority = priority

    @property
    def cuda_stream(self) -> int:
        """The address that the CUDA runtime knows the stream by."""
        return int(self.queue.ptr)

    @property
    def stream_id(self) -> int:
        return self.cuda_stream

    def synchronize(self) -> None:
        """Wait until everything in the queue is done."""
        self.queue.synchronize()

    def query(self) -> bool:
        """Whether everything in the queue is done."""
        return bool(self.queue.done)

    def record_event(self, event: Event | None = None) -> Event:
        """Put a mark into the queue; the mark."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """What is queued from now on starts when the mark is passed."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """What is queued from now on starts when what is in `stream` now is done."""
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
    """A mark in a queue: it can be waited for, and the time between two be taken."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.enable_timing = enable_timing
        self._blocking = blocking
        self._interprocess = interprocess
        self._mark: Any = None  # made when it is first recorded, on the device of that stream

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark into a queue, the current one by default; an earlier place of it is forgotten."""
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
        """What is queued in the stream from now on starts when the mark is passed."""
        if self._mark is not None:  # a mark that was never recorded counts as passed
            stream = current_stream(int(cupy.cuda.runtime.getDevice())) if stream is None else stream
            stream.queue.wait_event(self._mark)

    def query(self) -> bool:
        """Whether the mark is passed."""
        return self._mark is None or bool(self._mark.done)

    def synchronize(self) -> None:
        """Wait until the mark is passed."""
        if self._mark is not None:
            self._mark.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds between two marks, both passed and made with `enable_timing`."""
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
    """The stream that work on a device goes to."""
    with cupy.cuda.Device(device):
        return Stream(device, cupy.cuda.get_current_stream())


def default_stream(device: int) -> Stream:
    """The stream that every device has."""
    return Stream(device, cupy.cuda.Stream.null)


def external_stream(address: int, device: int) -> Stream:
    """A stream that another library made."""
    return Stream(device, cupy.cuda.ExternalStream(address, device))


def set_stream(stream: Stream) -> None:
    """Let work on the stream's device go to it from now on."""
    with cupy.cuda.Device(stream.device.index):
        stream.queue.use()


@contextmanager
def current(stream: Stream | None) -> Iterator[Stream | None]:
    """The block in which work goes to `stream`, on its device; nothing changes where it is None."""
    if stream is None:
        yield None
        return
    with cupy.cuda.Device(stream.device.index):
        before = cupy.cuda.get_current_stream()  # CuPy's own blocks end with the stream of the block around
        stream.queue.use()
        try:
            yield stream
        finally:
            with cupy.cuda.Device(stream.device.index):  # the block may have chosen another
                before.use()
