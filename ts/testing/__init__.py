"""Assertions about tensors, tensors for tests, and checks of graph text.

`assert_close` compares tensors, `make_tensor` creates tensors, and `FileCheck` checks text.
"""

from __future__ import annotations

from ts.testing.comparison import assert_allclose, assert_close
from ts.testing.creation import make_tensor
from ts.testing.file_check import FileCheck

__all__ = ["FileCheck", "assert_allclose", "assert_close", "make_tensor"]
