"""Device memory: CuPy's pool with the counts of `torch.cuda`, and pinned memory of the host.

In: sizes, as CuPy asks for them; out: memory from its pool, and how much is and was in use on a device.

    counted = CountedPool(); cupy.cuda.set_allocator(counted.allocate)
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

BLOCK = 512  # the pool rounds sizes up to this


class CountedPool:
    """CuPy's default memory pool, with the largest use so far of each device.

    The pool knows its use only by walking over it.  So an upper bound is kept instead, which grows with
    each allocation and ignores what is given back; the pool is asked only when the bound passes the peak.
    The peak is exact.
    """

    def __init__(self) -> None:
        self.pool = cupy.get_default_memory_pool()
        self._bound: dict[int, int] = {}
        self._peak: dict[int, int] = {}
        self._peak_reserved: dict[int, int] = {}
        self._lock = threading.Lock()

    def allocate(self, size: int) -> Any:
        """Memory on the current device."""
        found = self.pool.malloc(size)
        device = int(cupy.cuda.runtime.getDevice())
        with self._lock:
            bound = self._bound.get(device, 0) + -(-size // BLOCK) * BLOCK
            if bound > self._peak.get(device, 0):
                bound = int(self.pool.used_bytes())
                self._peak[device] = max(bound, self._peak.get(device, 0))
                self._peak_reserved[device] = max(self.pool.total_bytes(), self._peak_reserved.get(device, 0))
            self._bound[device] = bound
        return found

    def allocated(self, device: int) -> int:
        """Bytes in use on a device."""
        with cupy.cuda.Device(device):
            return int(self.pool.used_bytes())

    def reserved(self, device: int) -> int:
        """Bytes that the pool holds on a device, in use or not."""
        with cupy.cuda.Device(device):
            return int(self.pool.total_bytes())

    def peak(self, device: int) -> int:
        """The most bytes in use since the start, or since `reset_peak`."""
        return max(self._peak.get(device, 0), self.allocated(device))

    def peak_reserved(self, device: int) -> int:
        """The most bytes held since the start, or since `reset_peak`."""
        return max(self._peak_reserved.get(device, 0), self.reserved(device))

    def reset_peak(self, device: int) -> None:
        """Let the peaks be what is in use and held now."""
        with self._lock:
            self._peak[device] = self._bound[device] = self.allocated(device)
            self._peak_reserved[device] = self.reserved(device)

    def release(self) -> None:
        """Give the blocks that nobody uses back to the driver, on every device."""
        for device in range(cupy.cuda.runtime.getDeviceCount()):
            with cupy.cuda.Device(device):
                self.pool.free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()


def free_and_total(device: int) -> tuple[int, int]:
    """Bytes of the device that are free, and that it has."""
    with cupy.cuda.Device(device):
        free, total = cupy.cuda.runtime.memGetInfo()
    return int(free), int(total)


def pinned(host: NDArray[Any]) -> NDArray[Any]:
    """A copy of a host array in memory that the driver cannot page out, laid out as the array is."""
    order: Sequence[int] = sorted(range(host.ndim), key=lambda d: -abs(host.strides[d]))
    made: NDArray[Any] = cupyx.empty_pinned([host.shape[d] for d in order], host.dtype)
    made = made.transpose(np.argsort(order)) if host.ndim else made
    made[...] = host
    return made


def is_pinned(host: Any) -> bool:
    """Whether the elements of a host array are in pinned memory."""
    while host is not None:
        if isinstance(host, cupy.cuda.PinnedMemoryPointer):
            return True
        host = host.obj if isinstance(host, memoryview) else getattr(host, "base", None)
    return False
