"""CUDA: CuPy arrays and the same `xp` kernels as on the CPU.

Importing this module fails, with what to install, where CuPy or a GPU is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base import Array, Backend

INSTALL = "pip install 'torchscript-ts[cuda]'"

try:
    import cupy
except ImportError as error:
    raise RuntimeError(f"device 'cuda' needs CuPy, which is not installed: {INSTALL}") from error


class CudaBackend(Backend):
    """CuPy on the devices of the CUDA runtime."""

    name = "cuda"
    numbered = True
    xp = cupy
    array_type = cupy.ndarray

    def __init__(self) -> None:
        super().__init__()
        try:
            self._count = int(cupy.cuda.runtime.getDeviceCount())
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise RuntimeError(f"device 'cuda' is not usable here: {error}") from error
        if self._count == 0:
            raise RuntimeError("device 'cuda' is not usable here: no GPU was found")

    def device_count(self) -> int:
        return self._count

    def current_device(self) -> int:
        return int(cupy.cuda.runtime.getDevice())

    def device_of(self, array: Array) -> int:
        return int(array.device.id)

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any], device: int = -1) -> Array:
        with self.on(device):
            return cupy.empty(shape, dtype)

    def from_host(self, host: NDArray[Any], device: int = -1) -> Array:
        with self.on(device):
            return cupy.asarray(host)

    def to_host(self, array: Array) -> NDArray[Any]:
        host: NDArray[Any] = cupy.asnumpy(array)
        return host

    def synchronize(self, device: int = -1) -> None:
        with self.on(device):
            cupy.cuda.runtime.deviceSynchronize()

    def on(self, device: int) -> AbstractContextManager[Any]:
        """The device as a context; an invalid number fails in PyTorch's words."""
        number = self.current_device() if device < 0 else device
        if number >= self._count:
            raise RuntimeError(f"CUDA error: invalid device ordinal: cuda:{number}, of {self._count} devices")
        context: AbstractContextManager[Any] = cupy.cuda.Device(number)
        return context


backend = CudaBackend()
