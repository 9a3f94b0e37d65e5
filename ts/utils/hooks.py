"""`RemovableHandle`, a removable handle of a hook."""

from __future__ import annotations

from ts._core.tensor.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
