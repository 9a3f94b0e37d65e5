"""DLPack, under its older names.

x = ts.utils.dlpack.from_dlpack(ts.utils.dlpack.to_dlpack(y))       shares y's memory
"""

from __future__ import annotations

from typing import Any

from ts._core.tensor.interop import from_dlpack
from ts._core.tensor.tensor import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """Return a DLPack capsule with the memory of the tensor. Only one consumer can use the capsule."""
    return tensor.__dlpack__(max_version=(1, 0))
