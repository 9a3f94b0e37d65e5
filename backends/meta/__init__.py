"""The meta device: shapes, dtypes and strides without elements.

    array.py       MetaArray: views are arithmetic on sizes, which may be symbols
    namespace.py   `xp`: NumPy's functions over shapes          linalg.py, fft.py   its parts

An operator's result comes from its record's shape rule, or else from its kernel, run against a namespace
whose functions know shapes only.  What looks at elements is refused, in PyTorch's words.

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
    """Shapes only."""

    name = "meta"
    xp = namespace
    array_type = MetaArray

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any], device: int = -1) -> MetaArray:
        return MetaArray(shape, dtype)

    def from_host(self, host: NDArray[Any], device: int = -1, non_blocking: bool = False) -> MetaArray:
        return self.like(host)

    def like(self, array: Any) -> MetaArray:
        """The shape, dtype and strides of any array."""
        return MetaArray(array.shape, array.dtype, tuple(array.strides))

    def to_host(self, array: MetaArray, non_blocking: bool = False) -> NDArray[Any]:
        raise NotImplementedError(NO_DATA)

    def own_kernel(self, record: Any) -> Kernel | None:
        """Return the record's shape rule as a kernel; None without a shape rule."""
        rule = record.shape
        return None if rule is None else lambda xp, *args: _results(rule(*args))


def _results(made: Any) -> Any:
    """Arrays of the shapes and dtypes that a rule gives, or the argument or number that it gives back."""
    if isinstance(made, list):
        return tuple(map(_results, made))
    return made if isinstance(made, MetaArray | SymNumber) else MetaArray(*made)


backend = MetaBackend()
