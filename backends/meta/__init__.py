"""Meta device for shape inference: tensors with shape, dtype and strides but without elements.

The shape rule of an operator record computes the result. If an operator record has no shape rule, its kernel
runs with an `xp` that computes only shapes. Access to elements raises PyTorch's error.

    >>> x = MetaArray((2, 3), np.dtype("float32"))
    >>> x.T.strides, namespace.add(x, MetaArray((3,), np.dtype("float32"))).shape
    ((4, 12), (2, 3))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ts._core.tensor.sym_types import SymNumber

from ..base import Backend, Kernel
from .array import NO_DATA, MetaArray
from .namespace import MetaNamespace, namespace

__all__ = ["NO_DATA", "MetaArray", "MetaBackend", "MetaNamespace", "backend", "namespace"]


class MetaBackend(Backend):
    """Backend of arrays without elements."""

    name = "meta"
    xp = namespace
    array_type = MetaArray

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any], device: int = -1) -> MetaArray:
        """Return a meta array with contiguous strides. `device` is ignored."""
        return MetaArray(shape, dtype)

    def from_host(self, host: NDArray[Any], device: int = -1, non_blocking: bool = False) -> MetaArray:
        """Return a meta array with the shape, dtype and strides of `host`."""
        return self.new_like(host)

    def new_like(self, array: Any) -> MetaArray:
        """Return a meta array with the shape, dtype and strides of any array."""
        return MetaArray(array.shape, array.dtype, tuple(array.strides))

    def to_host(self, array: MetaArray, non_blocking: bool = False) -> NDArray[Any]:
        """Raise NotImplementedError, because meta arrays have no elements."""
        raise NotImplementedError(NO_DATA)

    def own_kernel(self, record: Any) -> Kernel | None:
        """Return the shape rule of an operator record as a kernel, or None without shape rule."""
        rule = record.shape
        return None if rule is None else lambda xp, *args: _results(rule(*args))


def _results(result: Any) -> Any:
    """Convert the result of a shape rule: each (shape, dtype) pair becomes a meta array.

    Meta arrays and symbolic numbers stay unchanged.
    """
    if isinstance(result, list):
        return tuple(map(_results, result))
    return result if isinstance(result, MetaArray | SymNumber) else MetaArray(*result)


backend = MetaBackend()
