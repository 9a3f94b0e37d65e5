"""Assertions about tensors: `ts.testing.assert_close`."""

from __future__ import annotations

from ts.testing.closeness import assert_close

__all__ = ["assert_close"]
