"""CUDA backend: devices, host-device transfers, and the selection of the kernel of an operator.

Input: host arrays, shapes, or operator records. Output: CuPy arrays, or kernels. The kernel of an operator is
the first that exists in this list:

    an override
    the operator's Python kernel on copies in host memory, for operators in `cpu_fallback.OPERATORS`
    a kernel that is generated from the CUDA expression of the operator record
    the operator's Python kernel with CuPy as `xp`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import SimpleNamespace
from typing import Any

import cupy
import cupyx
import numpy as np
from numpy.typing import NDArray

from ..base import Array, Backend, Kernel
from . import (
    attention,
    cpu_fallback,
    cuda_graphs,
    embedding,
    fusion_groups,
    memory,
    pointwise_launch,
)
from .namespace import CudaNamespace
from .philox import Philox


class _DeviceContext:
    """Context manager that makes a device current, and then enters the context manager of an allocator."""

    def __init__(self, device: Any, allocating: AbstractContextManager[Any]) -> None:
        self._device, self._allocating = device, allocating

    def __enter__(self) -> None:
        self._device.__enter__()
        self._allocating.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._allocating.__exit__(*error)
        self._device.__exit__(*error)


class CudaBackend(Backend):
    """Backend for the devices of the CUDA runtime, on CuPy arrays."""

    name = "cuda"
    numbered = True
    array_type = cupy.ndarray

    def __init__(self) -> None:
        super().__init__()
        try:
            self._count = int(cupy.cuda.runtime.getDeviceCount())
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise RuntimeError(f"device 'cuda' is not available:  {error}") from error
        if self._count == 0:
            raise RuntimeError("device 'cuda' is not available:  no GPU was found")
        self.pool = memory.CountedPool()
        self.streams = [Philox() for _ in range(self._count)]
        self.xp = CudaNamespace()
        self.xp.random_stream = self.random_stream

    # ---- devices

    def device_count(self) -> int:
        """Return the number of CUDA devices that the process sees."""
        return self._count

    def current_device(self) -> int:
        """Return the index of the CUDA device that is current in this thread."""
        return int(cupy.cuda.runtime.getDevice())

    def set_device(self, device: int) -> None:
        """Make `device` the current device of this thread."""
        cupy.cuda.Device(self.device_ordinal(device)).use()

    def device_of(self, array: Array) -> int:
        """Return the index of the device whose memory contains the array."""
        return int(array.device.id)

    def synchronize(self, device: int = -1) -> None:
        """Wait until `device` (-1: the current device) has finished the work of all streams."""
        with self.on(device):
            cupy.cuda.runtime.deviceSynchronize()

    def device_ordinal(self, device: int) -> int:
        """Return `device`, or the current device for -1. Raise RuntimeError if no such device exists."""
        ordinal = self.current_device() if device < 0 else device
        if ordinal >= self._count:
            raise RuntimeError(
                f"CUDA error: invalid device ordinal: cuda:{ordinal}, of {self._count} devices"
            )
        return ordinal

    def on(self, device: int) -> AbstractContextManager[Any]:
        """Return a context manager that makes `device` current and CuPy allocate from the pool of `ts`.

        During the capture of a CUDA graph, CuPy allocates from the pool of the graph instead.
        """
        ordinal = self.device_ordinal(device)
        allocating = nullcontext() if cuda_graphs.capturing() is not None else self.pool.allocating()
        if ordinal == self.current_device():
            return allocating
        return _DeviceContext(cupy.cuda.Device(ordinal), allocating)

    def properties(self, device: int) -> SimpleNamespace:
        """Return the CUDA runtime's device properties under PyTorch's names."""
        properties = cupy.cuda.runtime.getDeviceProperties(self.device_ordinal(device))
        return SimpleNamespace(
            name=properties["name"].decode(),
            major=properties["major"],
            minor=properties["minor"],
            total_memory=properties["totalGlobalMem"],
            multi_processor_count=properties["multiProcessorCount"],
            max_threads_per_multi_processor=properties["maxThreadsPerMultiProcessor"],
            warp_size=properties["warpSize"],
            is_integrated=properties["integrated"],
        )

    def can_access(self, device: int, peer: int) -> bool:
        """Return whether `device` can read the memory of `peer` directly (peer-to-peer access)."""
        one, other = self.device_ordinal(device), self.device_ordinal(peer)
        return bool(cupy.cuda.runtime.deviceCanAccessPeer(one, other))

    def free_and_total(self, device: int) -> tuple[int, int]:
        """Return the free and the total memory of a device, in bytes."""
        return memory.free_and_total(device)

    # ---- arrays

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any], device: int = -1) -> Array:
        """Return an uninitialized CuPy array on `device` (-1: the current device)."""
        with self.on(device):
            return cupy.empty(shape, dtype)

    def from_host(self, host: NDArray[Any], device: int = -1, non_blocking: bool = False) -> Array:
        """Copy a NumPy array to the device, asynchronously if `non_blocking` and `host` is in pinned memory.

        During the capture of a CUDA graph, the graph owns the copy.
        """
        with self.on(device):
            constant = cuda_graphs.capture_constant(host)
            if constant is not None:
                return constant
            is_asynchronous = non_blocking and memory.is_pinned(host)
            array = cupy.array(host, order="K", blocking=not is_asynchronous)
            if is_asynchronous:
                self.pool.hold(host, self._current_queue())
            return array

    def to_host(self, array: Array, non_blocking: bool = False) -> NDArray[Any]:
        """Return a NumPy copy. If `non_blocking`, copy asynchronously to an array in pinned memory.

        Raise RuntimeError during the capture of a CUDA graph.
        """
        cuda_graphs.check_not_capturing()
        with self.on(self.device_of(array)):
            if not non_blocking:
                copy: NDArray[Any] = cupy.asnumpy(array, order="A")
                return copy
            order = sorted(range(array.ndim), key=lambda d: -abs(array.strides[d]))
            source = cupy.ascontiguousarray(array.transpose(order) if order else array)
            out = cupyx.empty_pinned(source.shape, source.dtype)
            cupy.asnumpy(source, out=out, blocking=False)
            self.pool.hold((source, out), self._current_queue())
            in_order: NDArray[Any] = out.transpose(np.argsort(order)) if order else out
            return in_order

    def move(self, array: Array, device: int) -> Array:
        """Return a copy of `array` on `device`, or `array` itself if it is on this device.

        The copy waits for the work that is queued in the current stream of the source device, and later work
        in this stream waits for the copy.
        """
        source, target = self.device_of(array), self.device_ordinal(device)
        if source == target:
            return array
        with self.on(source):
            if not (array.flags.c_contiguous or array.flags.f_contiguous):
                array = cupy.ascontiguousarray(array)
            stream = cupy.cuda.get_current_stream()
            before = stream.record()
        with self.on(target):
            cupy.cuda.get_current_stream().wait_event(before)
            copy = cupy.array(array, order="K")
            after = cupy.cuda.get_current_stream().record()
            self.pool.hold(array, self._current_queue())
        with self.on(source):
            stream.wait_event(after)
        return copy

    def _current_queue(self) -> tuple[int, Any]:
        """Return the current device and its current stream."""
        return self.current_device(), cupy.cuda.get_current_stream()

    def record_stream(self, array: Array, stream: Any) -> None:
        """Defer the reuse of the memory of `array` until the work that `stream` has queued at its release."""
        memory.record_stream(array, stream.device.index, stream.queue)

    def pin(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of a host array in pinned memory, or the array itself if its memory is pinned."""
        return array if memory.is_pinned(array) else memory.copy_to_pinned(array)

    def is_pinned(self, array: NDArray[Any]) -> bool:
        """Return whether the host array's memory was allocated as pinned memory by CuPy."""
        return memory.is_pinned(array)

    # ---- random numbers

    def random_stream(self) -> Philox:
        """Return the random stream of the current device."""
        return self.streams[self.current_device()]

    def new_stream(self) -> Philox:
        """Return a Philox random stream with the default seed, for a Generator."""
        return Philox()

    def manual_seed(self, seed: int) -> None:
        """Seed the Philox random streams of all devices."""
        for stream in self.streams:
            stream.seed(seed)

    # ---- kernels

    def group(self, program: Any) -> Callable[[Sequence[Any]], dict[int, Any] | None] | None:
        """Return a function that runs a fusion group by generated CUDA kernels.

        Return None for a group with operations after its epilogues. The groups of its fallback run instead,
        which end with their epilogues.
        """
        return None if program.continues else fusion_groups.CudaFusionGroup(self, program)

    def own_kernel(self, record: Any) -> Kernel | None:
        """Return the CPU kernel of an operator record (`cpu_fallback`), else a generated kernel, else None.

        A CPU kernel runs on copies of the arrays in host memory.
        """
        if record.name in cpu_fallback.OPERATORS:
            return cpu_fallback.host_kernel(record.name, record.kernel)
        if record.name == "aten::embedding_dense_backward" and record.variant == "":
            return partial(record.kernel, sum_rows=embedding.sum_rows)
        if record.name == "aten::scaled_dot_product_attention":
            return partial(record.kernel, attend=attention.attend)
        return pointwise_launch.make_launcher(record)


def backend() -> CudaBackend:
    """Return the CUDA backend object of this process."""
    return CudaBackend()
