"""The cuda backend: devices, transfers, and which kernel runs for an operator.

In: host arrays, shapes, operator records; out: CuPy arrays and kernels.  The kernel of a record is, in this
order: an override, the record's on host copies (`host.OPERATORS`), one launch of its CUDA expression, its
own with CuPy for `xp`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any

import cupy
import numpy as np
from numpy.typing import NDArray

from ..base import Array, Backend, Kernel
from . import graphs, groups, host, memory, pointwise
from .namespace import CudaNamespace
from .philox import Philox


class CudaBackend(Backend):
    """CuPy on the devices of the CUDA runtime."""

    name = "cuda"
    numbered = True
    array_type = cupy.ndarray

    def __init__(self) -> None:
        super().__init__()
        try:
            self._count = int(cupy.cuda.runtime.getDeviceCount())
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise RuntimeError(f"device 'cuda' is not usable here: {error}") from error
        if self._count == 0:
            raise RuntimeError("device 'cuda' is not usable here: no GPU was found")
        self.pool = memory.CountedPool()
        cupy.cuda.set_allocator(self.pool.allocate)
        self.streams = [Philox() for _ in range(self._count)]
        self.xp = CudaNamespace()
        self.xp.random_stream = self.random_stream

    # ---- devices

    def device_count(self) -> int:
        return self._count

    def current_device(self) -> int:
        return int(cupy.cuda.runtime.getDevice())

    def set_device(self, device: int) -> None:
        """Let new arrays of this thread go to a device."""
        cupy.cuda.Device(self.checked(device)).use()

    def device_of(self, array: Array) -> int:
        return int(array.device.id)

    def synchronize(self, device: int = -1) -> None:
        with self.on(device):
            cupy.cuda.runtime.deviceSynchronize()

    def checked(self, device: int) -> int:
        """The number of a device, the current one for -1; an invalid one fails in PyTorch's words."""
        number = self.current_device() if device < 0 else device
        if number >= self._count:
            raise RuntimeError(f"CUDA error: invalid device ordinal: cuda:{number}, of {self._count} devices")
        return number

    def on(self, device: int) -> AbstractContextManager[Any]:
        number = self.checked(device)
        if number == self.current_device():
            return nullcontext()
        context: AbstractContextManager[Any] = cupy.cuda.Device(number)
        return context

    def properties(self, device: int) -> SimpleNamespace:
        """What the CUDA runtime says about a device, under PyTorch's names."""
        about = cupy.cuda.runtime.getDeviceProperties(self.checked(device))
        return SimpleNamespace(
            name=about["name"].decode(),
            major=about["major"],
            minor=about["minor"],
            total_memory=about["totalGlobalMem"],
            multi_processor_count=about["multiProcessorCount"],
            max_threads_per_multi_processor=about["maxThreadsPerMultiProcessor"],
            warp_size=about["warpSize"],
            is_integrated=about["integrated"],
        )

    def can_access(self, device: int, peer: int) -> bool:
        """Whether a device reads the memory of another one directly."""
        one, other = self.checked(device), self.checked(peer)
        return bool(cupy.cuda.runtime.deviceCanAccessPeer(one, other))

    def free_and_total(self, device: int) -> tuple[int, int]:
        """Bytes of the device that are free, and that it has."""
        return memory.free_and_total(device)

    # ---- arrays

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any], device: int = -1) -> Array:
        with self.on(device):
            return cupy.empty(shape, dtype)

    def from_host(self, host: NDArray[Any], device: int = -1, non_blocking: bool = False) -> Array:
        with self.on(device):
            kept = graphs.brought(host)
            if kept is not None:
                return kept
            return cupy.array(host, order="K", blocking=not (non_blocking and memory.is_pinned(host)))

    def to_host(self, array: Array, non_blocking: bool = False) -> NDArray[Any]:
        graphs.refuse_waiting()
        with self.on(self.device_of(array)):
            if not non_blocking:
                made: NDArray[Any] = cupy.asnumpy(array, order="A")
                return made
            out = memory.pinned(np.empty(array.shape, array.dtype))
            return cupy.asnumpy(array, out=out, blocking=False)  # type: ignore[no-any-return]

    def move(self, array: Array, device: int) -> Array:
        with self.on(device):
            return cupy.asarray(array)

    def pin(self, array: NDArray[Any]) -> NDArray[Any]:
        return array if memory.is_pinned(array) else memory.pinned(array)

    def is_pinned(self, array: NDArray[Any]) -> bool:
        return memory.is_pinned(array)

    # ---- random numbers

    def random_stream(self) -> Philox:
        """The stream of the current device."""
        return self.streams[self.current_device()]

    def new_stream(self) -> Philox:
        return Philox()

    def manual_seed(self, seed: int) -> None:
        for stream in self.streams:
            stream.seed(seed)

    # ---- kernels

    def group(self, program: Any) -> Callable[[Sequence[Any]], dict[int, Any] | None]:
        return groups.Group(self, program)

    def own_kernel(self, record: Any) -> Kernel | None:
        if record.name in host.OPERATORS:
            return host.operator(record.name, record.kernel)
        return pointwise.launcher(record)


def backend() -> CudaBackend:
    """The backend of this process's devices."""
    return CudaBackend()
