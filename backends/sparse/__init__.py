"""Sparse tensors on the CPU: arrays of indices and values, and the backend that dispatches on them.

    array.py       CooArray, CompressedArray

The backend is not a device type: its tensors are on the CPU, as those of PyTorch's dispatch key `SparseCPU`
are.  An operator runs the sparse kernel of its record (`Record.sparse`), which accepts sparse and dense
arrays; a record without one raises NotImplementedError and never reads a sparse array as a dense one.

    >>> x = CooArray(np.array([[0, 2]]), np.array([1.0, 2.0]), (3,))
    >>> x.to_dense()
    array([1., 0., 2.])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ts import backends

from ..base import Backend, Kernel
from .array import CompressedArray, CooArray, SparseArray

__all__ = ["CompressedArray", "CooArray", "SparseArray", "SparseBackend", "backend"]


class SparseBackend(Backend):
    """Backend of sparse arrays: runs the sparse kernels of operator records."""

    name = "sparse"
    array_type = SparseArray

    def __init__(self) -> None:
        super().__init__()
        self.xp = backends.get("cpu").xp

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any], device: int = -1) -> CooArray:
        """Return a COO array of this shape without stored elements."""
        return CooArray.empty(tuple(shape), dtype)

    def to_host(self, array: SparseArray, non_blocking: bool = False) -> NDArray[Any]:
        """Raise TypeError with the advice to call `to_dense` first, as in PyTorch."""
        raise TypeError(
            f"can't convert {array.layout_name} layout tensor to numpy. Use Tensor.to_dense() first."
        )

    def adopt(self, tensor: Any, like: Any) -> Any:
        """Return the tensor unchanged, since sparse arrays are in CPU memory."""
        return tensor

    def bind(self, record: Any) -> Kernel:
        """Return the sparse kernel of the record; without one, a kernel that raises NotImplementedError."""
        kernel: Kernel = record.sparse_kernel
        return kernel


backend = SparseBackend()
