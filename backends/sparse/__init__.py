"""Sparse tensors on the CPU: arrays of indices and values, and the backend of these arrays.

An operator runs the sparse kernel of its operator record (`OperatorRecord.sparse`). This kernel accepts
sparse and dense arrays. If the operator record has no sparse kernel, the operator raises NotImplementedError.
Example of a sparse array:

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
    """Backend of sparse arrays, which runs the sparse kernels of operator records."""

    name = "sparse"
    array_type = SparseArray

    def __init__(self) -> None:
        super().__init__()
        self.xp = backends.get("cpu").xp

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any], device: int = -1) -> CooArray:
        """Return a COO array of shape `shape` without stored elements."""
        return CooArray.empty(tuple(shape), dtype)

    def to_host(self, array: SparseArray, non_blocking: bool = False) -> NDArray[Any]:
        """Raise TypeError. As in PyTorch, the message advises to call `to_dense` first."""
        raise TypeError(
            f"can't convert {array.layout_name} layout tensor to numpy. Use Tensor.to_dense() first."
        )

    def adopt(self, tensor: Any, like: Any) -> Any:
        """Return the tensor unchanged, because sparse arrays are in CPU memory."""
        return tensor

    def bind(self, record: Any) -> Kernel:
        """Return the sparse kernel of the operator record, or a kernel that raises NotImplementedError."""
        kernel: Kernel = record.sparse_kernel
        return kernel


backend = SparseBackend()
