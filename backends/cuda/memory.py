"""GPU memory pools (caching allocators) with memory statistics, deferred reuse, and pinned host memory.

Input: sizes in bytes. Output: memory of a CuPy memory pool that only `ts` uses, and the current and peak use
of each device. CuPy's default pool and its process-wide allocator are not changed. Example for device 0:

    pool = CountedPool()
    with pool.allocating():
        x = cupy.empty(1000)            # x.data.mem is a Block of the pool
    pool.allocated(0), pool.peak(0), pool.reserved(0)

A pool has one free list for each stream (stream-ordered allocation). A block returns to the free list of the
stream in which it was allocated. Other streams may still use it. `record_stream` states these streams, and
the block then returns only after the work that they have queued before its release.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import cupy
import cupyx
import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES = 512  # the pool rounds sizes up to multiples of BLOCK_BYTES
_captures: list[Any] = []  # graphs under capture, in all threads. A capture forbids queries of events.


def begin_capture(graph: Any) -> None:
    """Postpone recording and querying the events of released memory until `end_capture(graph)`.

    A query of an event during a capture is an error.
    """
    _captures.append(graph)


def end_capture(graph: Any) -> None:
    """End the effect of `begin_capture`."""
    _captures.remove(graph)


class DeferredRelease:
    """References to memory that are dropped after events in streams.

    The events are recorded when the object is created, or after the capture of a graph that is active then.
    """

    def __init__(self, references: Any, streams: Iterable[Any], size: int = 0, device: int = -1) -> None:
        self.references = references
        self.size, self.device = size, device  # bytes of a released block, for the statistics
        self._streams = list(streams)
        self._events: list[Any] = []
        if not _captures:
            self._record()

    def _record(self) -> None:
        """Record an event in each stream. Objects without events have none in `_streams` afterwards."""
        while self._streams:
            device, queue = self._streams.pop()
            with cupy.cuda.Device(device):
                event = cupy.cuda.Event(disable_timing=True)
                event.record(queue)
            self._events.append(event)

    def is_completed(self) -> bool:
        """Return whether the streams have passed the events. Return False during the capture of a graph."""
        if _captures:
            return False
        self._record()
        return all(event.done for event in self._events)

    def wait(self) -> None:
        """Wait until the streams have passed the events."""
        self._record()
        for event in self._events:
            event.synchronize()


class Block(cupy.cuda.BaseMemory):  # type: ignore[misc]  # CuPy has no type annotations
    """Memory of one allocation. It returns to its pool when the last array releases it."""

    def __init__(self, pool: BlockPool, pointer: Any) -> None:
        self.ptr, self.size, self.device_id = pointer.ptr, pointer.mem.size, pointer.device_id
        self._pool = pool
        self._pointer = pointer
        self._streams: dict[tuple[int, int], Any] | None = None

    def record_stream(self, device: int, queue: Any) -> None:
        """Declare that a stream uses the memory.

        The pool reuses the memory after the work that the stream has queued when the block is released.
        """
        if self._streams is None:
            self._streams = {}
        self._streams[device, int(queue.ptr)] = queue

    def __del__(self) -> None:
        if self._streams and not sys.is_finalizing():
            streams = [(device, queue) for (device, _), queue in self._streams.items()]
            self._pool.defer(DeferredRelease(self._pointer, streams, self.size, self.device_id))


def record_stream(array: Any, device: int, queue: Any) -> None:
    """Defer the reuse of an array's memory until the work that a stream has queued at its release.

    The function has no effect on memory that another library allocated.
    """
    if isinstance(array.data.mem, Block):
        array.data.mem.record_stream(device, queue)


class BlockPool:
    """CuPy memory pool whose memory is reused after the work of all recorded streams."""

    def __init__(self) -> None:
        self.pool = cupy.cuda.MemoryPool()
        self._deferred: deque[DeferredRelease] = deque()  # `append` and `popleft` are atomic
        # stored once: each access to `self.allocate` creates a new bound method, and `allocating` compares by
        # identity
        self._allocate = self.allocate

    def allocating(self) -> AbstractContextManager[Any]:
        """Return a context manager that makes CuPy's functions allocate from this pool in this thread."""
        if cupy.cuda.get_allocator() is self._allocate:
            return nullcontext()
        context: AbstractContextManager[Any] = cupy.cuda.using_allocator(self._allocate)
        return context

    def allocate(self, size: int) -> Any:
        """Allocate `size` bytes on the current device for the current stream."""
        if self._deferred:
            self.release_completed()
        try:
            pointer = self.pool.malloc(size)
        except cupy.cuda.memory.OutOfMemoryError:
            if not self._deferred or _captures:
                raise
            self.release_deferred()
            pointer = self.pool.malloc(size)
        return cupy.cuda.MemoryPointer(Block(self, pointer), 0) if pointer.ptr else pointer

    def defer(self, release: DeferredRelease) -> None:
        """Queue `release`. Its references are dropped after its events have completed."""
        self._deferred.append(release)

    def hold(self, references: Any, *streams: tuple[int, Any]) -> None:
        """Keep objects alive until the streams have finished the work that is now queued in them."""
        self.release_completed()
        self.defer(DeferredRelease(references, streams))

    def release_completed(self) -> None:
        """Release the memory whose events have completed."""
        if _captures:
            return
        for _ in range(len(self._deferred)):
            try:
                release = self._deferred.popleft()
            except IndexError:  # another thread has removed the rest
                return
            if not release.is_completed():
                self._deferred.append(release)

    def release_deferred(self) -> None:
        """Wait for the events of all released memory, and release it."""
        while self._deferred:
            self._deferred.popleft().wait()

    def deferred_bytes(self, device: int) -> int:
        """Return the total size, in bytes, of a device's released blocks that streams may still use."""
        return sum(release.size for release in list(self._deferred) if release.device == device)


class CountedPool(BlockPool):
    """The memory pool of the backend, with the peak use of each device.

    CuPy reports its current use slowly. Therefore, the class maintains an upper bound, which adds allocations
    and ignores deallocations. It queries the pool only if the bound exceeds the peak. The peak is exact.
    """

    def __init__(self) -> None:
        super().__init__()
        self._bound: dict[int, int] = {}
        self._peak: dict[int, int] = {}
        self._peak_reserved: dict[int, int] = {}
        self._lock = threading.Lock()

    def allocate(self, size: int) -> Any:
        """Allocate `size` bytes on the current device, and update the peak use of the device."""
        pointer = super().allocate(size)
        device = int(cupy.cuda.runtime.getDevice())
        with self._lock:
            bound = self._bound.get(device, 0) + -(-size // BLOCK_BYTES) * BLOCK_BYTES
            if bound > self._peak.get(device, 0):
                bound = self._used(device)
                self._peak[device] = max(bound, self._peak.get(device, 0))
                self._peak_reserved[device] = max(self.pool.total_bytes(), self._peak_reserved.get(device, 0))
            self._bound[device] = bound
        return pointer

    def _used(self, device: int) -> int:
        """Return the number of bytes in use on a device, which must be the current device."""
        return int(self.pool.used_bytes()) - self.deferred_bytes(device)

    def allocated(self, device: int) -> int:
        """Return the number of bytes that tensors on a device use."""
        with cupy.cuda.Device(device):
            return self._used(device)

    def reserved(self, device: int) -> int:
        """Return the number of bytes that the pool has reserved on a device, used or unused."""
        with cupy.cuda.Device(device):
            return int(self.pool.total_bytes())

    def peak(self, device: int) -> int:
        """Return the maximum of `allocated` since the start or the last `reset_peak`."""
        return max(self._peak.get(device, 0), self.allocated(device))

    def peak_reserved(self, device: int) -> int:
        """Return the maximum of `reserved` since the start or the last `reset_peak`."""
        return max(self._peak_reserved.get(device, 0), self.reserved(device))

    def reset_peak(self, device: int) -> None:
        """Set the peaks of allocated and reserved memory of a device to the current amounts."""
        with self._lock:
            self._peak[device] = self._bound[device] = self.allocated(device)
            self._peak_reserved[device] = self.reserved(device)

    def release(self) -> None:
        """Return the pool's unused blocks on every device to the driver."""
        if not _captures:
            self.release_deferred()
        for device in range(cupy.cuda.runtime.getDeviceCount()):
            with cupy.cuda.Device(device):
                self.pool.free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()


def free_and_total(device: int) -> tuple[int, int]:
    """Return the free and the total memory of a device, in bytes."""
    with cupy.cuda.Device(device):
        free, total = cupy.cuda.runtime.memGetInfo()
    return int(free), int(total)


def copy_to_pinned(host: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of a host array in pinned memory, with the same order of dimensions in memory."""
    order: Sequence[int] = sorted(range(host.ndim), key=lambda d: -abs(host.strides[d]))
    copy: NDArray[Any] = cupyx.empty_pinned([host.shape[d] for d in order], host.dtype)
    copy = copy.transpose(np.argsort(order)) if host.ndim else copy
    copy[...] = host
    return copy


def is_pinned(host: Any) -> bool:
    """Return whether the elements of a host array are in pinned memory."""
    while host is not None:
        if isinstance(host, cupy.cuda.PinnedMemoryPointer):
            return True
        host = host.obj if isinstance(host, memoryview) else getattr(host, "base", None)
    return False
