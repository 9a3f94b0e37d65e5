"""Streams and events, under the names of `torch.cuda`, implemented in `ts.backends.cuda.streams`.

In the example, `exp` runs concurrently with work of the current stream:

    side = ts.cuda.Stream()
    side.wait_stream(ts.cuda.current_stream())
    with ts.cuda.stream(side):
        y = x.exp()
    ts.cuda.current_stream().wait_stream(side)
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib import import_module
from types import TracebackType
from typing import Any

from ts.cuda._devices import Device, backend, checked, usable


def _streams() -> Any:
    backend()  # raises RuntimeError if CuPy or a GPU is missing
    return import_module("ts.backends.cuda.streams")


class _OnDevice(type):
    """Metaclass of classes whose instances are objects of the CUDA backend's class of the same name."""

    def __instancecheck__(cls, x: Any) -> bool:
        return usable() and isinstance(x, getattr(_streams(), cls.__name__))


class Stream(metaclass=_OnDevice):
    """`Stream(device=None, priority=0)`: queue of work on a device."""

    def __new__(cls, device: Device = None, priority: int = 0) -> Any:
        """Return a stream of the CUDA backend. The default device is the current one."""
        return _streams().Stream(checked(device), priority=priority)


class ExternalStream(metaclass=_OnDevice):
    """`ExternalStream(address, device=None)`: stream that another library created."""

    def __new__(cls, stream_ptr: int, device: Device = None) -> Any:
        """Return a stream for the address of a `cudaStream_t` that another library owns."""
        return _streams().external_stream(stream_ptr, checked(device))


class Event(metaclass=_OnDevice):
    """`Event(enable_timing=False, blocking=False, interprocess=False)`: marker in a stream."""

    def __new__(cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> Any:
        """Return an event of the CUDA backend, not yet recorded."""
        return _streams().Event(enable_timing, blocking, interprocess)


class StreamContext:
    """Context manager that selects the current stream. None has no effect."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self._entered: list[AbstractContextManager[Any]] = []

    def __enter__(self) -> None:
        if self.stream is not None:
            context = _streams().current(self.stream)
            context.__enter__()
            self._entered.append(context)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._entered:
            self._entered.pop().__exit__(kind, error, trace)


def stream(stream: Any) -> StreamContext:
    """Return a context manager that selects `stream` as the current stream."""
    return StreamContext(stream)


def current_stream(device: Device = None) -> Any:
    """Return the current stream of a device, to which this thread's work on the device is queued."""
    return _streams().current_stream(checked(device))


def default_stream(device: Device = None) -> Any:
    """Return the default stream of a device."""
    return _streams().default_stream(checked(device))


def set_stream(stream: Any) -> None:
    """Select the current stream of the stream's device. None has no effect."""
    if stream is not None:
        _streams().set_stream(stream)
