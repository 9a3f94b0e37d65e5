"""Handles that take a hook out of the table that holds it."""

from __future__ import annotations

from ts._core.tensor.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
