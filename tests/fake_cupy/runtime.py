"""`cupy.cuda`: two devices, recording streams, events and memory pools."""

import itertools
import types

import numpy as np

from tests.fake_cupy import cublas, graph_capture
from tests.fake_cupy.array import (
    API, BaseMemory, MemoryPointer, MemoryPool, OutOfMemoryError, current_device, default_pool, get_allocator,
    set_allocator, using_allocator,
)  # fmt: skip

DEVICES = 2
TOTAL = 1 << 34


class CUDARuntimeError(RuntimeError):
    """An error of the CUDA runtime."""


def current():
    return current_device[0]


class Device:
    """Context manager that sets the current device."""

    def __init__(self, device=None):
        self.id = current() if device is None else int(device)
        if self.id >= DEVICES:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self._before = []

    def use(self):
        current_device[0] = self.id

    def __enter__(self):
        self._before.append(current())
        self.use()
        return self

    def __exit__(self, *unused):
        current_device[0] = self._before.pop()


_clock = itertools.count(1)
_streams = [{}]  # device -> the current stream
_enclosing_streams = {}  # device -> the current streams of enclosing `with` blocks; leaving one discards calls of `use`, as in CuPy


class Stream:
    """A synchronous queue that records the order of waits in `waited`."""

    null = None

    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None):
        self.ptr = 0 if null else next(_clock) * 16
        self.device_id = current()
        self.done = True
        self.waited = []

    def use(self):
        self._check()
        _streams[0][current()] = self

    def __enter__(self):
        self._check()
        _enclosing_streams.setdefault(current(), []).append(self)
        self.use()
        return self

    def __exit__(self, *unused):
        blocks = _enclosing_streams[current()]
        blocks.pop()
        _streams[0][current()] = blocks[-1] if blocks else Stream.null

    def _check(self):
        if self.ptr and self.device_id not in (-1, current()):
            raise RuntimeError(f"The device that the stream is created on ({self.device_id}) does not match {current()}")

    @graph_capture.reject_capture
    def synchronize(self):
        pass

    def record(self, event=None):
        event = Event(disable_timing=True) if event is None else event
        event.record(self)
        return event

    def wait_event(self, event):
        self.waited.append(event)

    def begin_capture(self, mode=None):
        if not self.ptr:
            raise RuntimeError("cannot capture on the default (legacy) stream")
        graph_capture.recordings.append([])

    def end_capture(self):
        return graph_capture.Graph(graph_capture.recordings.pop())

    def is_capturing(self):
        return graph_capture.current() is not None


Stream.null = Stream(null=True)


class ExternalStream(Stream):
    """A stream created by another library."""

    def __init__(self, ptr, device_id=-1):
        super().__init__()
        self.ptr, self.device_id = ptr, device_id


stalled_streams = set()  # addresses of streams whose work does not finish, for tests


class Event:
    """Event whose time is the sequence number of its recording."""

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.ptr = next(_clock) * 16
        self.timed, self.at, self._stream = not disable_timing, None, None

    @property
    def done(self):
        assert graph_capture.current() is None, "a query of an event invalidates a capture"
        return self._stream not in stalled_streams

    def record(self, stream=None):
        stream = get_current_stream() if stream is None else stream
        stream._check()
        self.at, self._stream = next(_clock), stream.ptr

    def synchronize(self):
        stalled_streams.discard(self._stream)


def get_current_stream(device_id=-1):
    return _streams[0].get(current() if device_id < 0 else device_id, Stream.null)


def get_elapsed_time(start, end):
    assert start.timed and end.timed
    return float(end.at - start.at)


MemoryPool.current_stream = lambda: get_current_stream().ptr


def get_default_memory_pool():
    return default_pool


def get_default_pinned_memory_pool():
    return types.SimpleNamespace(free_all_blocks=lambda: None)


class PinnedMemoryPointer(bytearray):
    """Owner of the memory of a pinned array."""


def empty_pinned(shape, dtype=float, order="C"):
    count = int(np.prod(shape, dtype=np.int64))
    memory = PinnedMemoryPointer(max(count * np.dtype(dtype).itemsize, 1))
    return np.frombuffer(memory, dtype, count).reshape(shape, order=order)


def properties(device):
    assert 0 <= device < DEVICES
    return {
        "name": b"Double of a GPU", "major": 8, "minor": 0, "totalGlobalMem": TOTAL, "multiProcessorCount": 4,
        "maxThreadsPerMultiProcessor": 1024, "warpSize": 32, "integrated": 0,
    }  # fmt: skip


def module():
    """Create the fake `cupy.cuda`, which contains only names that CuPy has."""
    runtime = types.ModuleType("cupy.cuda.runtime")
    memory = types.ModuleType("cupy.cuda.memory")
    memory.OutOfMemoryError = OutOfMemoryError
    device = types.ModuleType("cupy.cuda.device")
    device.get_cublas_handle = lambda: cublas.HANDLE
    cuda = types.ModuleType("cupy.cuda")
    replaced = {
        runtime: {
            "getDeviceCount": lambda: DEVICES, "getDevice": current, "deviceSynchronize": graph_capture.reject_capture(lambda: None),
            "getDeviceProperties": properties, "deviceCanAccessPeer": lambda a, b: a != b,
            "memGetInfo": lambda: (TOTAL - default_pool.used_bytes(), TOTAL), "CUDARuntimeError": CUDARuntimeError,
            "CUDA_R_32F": 0, "CUDA_R_16F": 2, "CUDA_R_16BF": 14,
        },
        cuda: {
            "runtime": runtime, "Device": Device, "Stream": Stream, "ExternalStream": ExternalStream, "Event": Event,
            "get_current_stream": get_current_stream, "get_elapsed_time": get_elapsed_time,
            "device": device, "memory": memory, "BaseMemory": BaseMemory, "MemoryPointer": MemoryPointer,
            "get_allocator": get_allocator, "set_allocator": set_allocator, "using_allocator": using_allocator, "MemoryPool": MemoryPool,
            "PinnedMemoryPointer": PinnedMemoryPointer, "Graph": graph_capture.Graph,
        },
    }  # fmt: skip
    for function, names in replaced.items():
        unknown = set(names) - set(API["modules"][function.__name__])
        assert not unknown, f"{function.__name__} has no {unknown}"
        function.__dict__.update(names)
    return cuda
