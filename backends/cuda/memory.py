"""GPU memory allocator (CuPy's caching allocator) with memory statistics, and pinned host memory.

Input: sizes in bytes. Output: memory of CuPy's pool, and the current and peak use of each device. Example for
device 0:

    counted = CountedPool()
    cupy.cuda.set_allocator(counted.allocate)
    counted.allocated(0), counted.peak(0), counted.reserved(0)
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import cupy
import cupyx
import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES = 512  # the pool rounds sizes up to multiples of BLOCK_BYTES


class CountedPool:
    """CuPy's default memory pool, with the peak use of each device.

    CuPy reports its current use slowly. Therefore, the class maintains an upper bound, which adds allocations
    and ignores deallocations. It queries the pool only if the bound exceeds the peak. The peak is exact.
    """

    def __init__(self) -> None:
        self.pool = cupy.get_default_memory_pool()
        self._bound: dict[int, int] = {}
        self._peak: dict[int, int] = {}
        self._peak_reserved: dict[int, int] = {}
        self._lock = threading.Lock()

    def allocate(self, size: int) -> Any:
        """Allocate `size` bytes on the current device, and update the peak use of the device."""
        pointer = self.pool.malloc(size)
        device = int(cupy.cuda.runtime.getDevice())
        with self._lock:
            bound = self._bound.get(device, 0) + -(-size // BLOCK_BYTES) * BLOCK_BYTES
            if bound > self._peak.get(device, 0):
                bound = int(self.pool.used_bytes())
                self._peak[device] = max(bound, self._peak.get(device, 0))
                self._peak_reserved[device] = max(self.pool.total_bytes(), self._peak_reserved.get(device, 0))
            self._bound[device] = bound
        return pointer

    def allocated(self, device: int) -> int:
        """Return the number of bytes in use on a device."""
        with cupy.cuda.Device(device):
            return int(self.pool.used_bytes())

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
