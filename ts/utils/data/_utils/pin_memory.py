"""Copying of the tensors in a batch to pinned memory."""

from __future__ import annotations

from typing import Any

from ts.unsupported import names_for
from ts.utils.data.collate import map_leaves
from ts.utils.data.iterators import _pin_value

__all__ = ["pin_memory"]
__getattr__ = names_for(__name__)


def pin_memory(data: Any, device: Any = None) -> Any:
    """Return a copy of `data` with pinned copies of its tensors and of objects with a method `pin_memory`."""
    return map_leaves(_pin_value, data)
