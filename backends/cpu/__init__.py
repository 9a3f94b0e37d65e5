"""The CPU: NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base import Backend


class CpuBackend(Backend):
    """NumPy.  The direct ufunc loops are in `ts._core.dispatch`, before any backend is asked."""

    name = "cpu"
    xp = np
    array_type = np.ndarray

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any], device: int = -1) -> NDArray[Any]:
        return np.empty(shape, dtype)

    def from_host(self, host: NDArray[Any], device: int = -1, non_blocking: bool = False) -> NDArray[Any]:
        return host.copy(order="K")

    def to_host(self, array: NDArray[Any], non_blocking: bool = False) -> NDArray[Any]:
        return array


backend = CpuBackend()
