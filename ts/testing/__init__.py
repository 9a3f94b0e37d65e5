"""Assertions about tensors, and tensors for tests: `assert_close` and `make_tensor`."""

from __future__ import annotations

from ts.testing.comparison import assert_allclose, assert_close
from ts.testing.creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
