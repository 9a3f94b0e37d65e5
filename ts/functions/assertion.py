"""Python's `assert` as a function, for scripts too.

    >>> _assert(2 > 1, "not in order")
"""

from __future__ import annotations

import ts
from ts._core.tensor.tensor import Tensor


@ts.jit.overload
def _assert(condition: bool, message: str) -> None: ...


@ts.jit.overload
def _assert(condition: Tensor, message: str) -> None: ...


def _assert(condition, message):
    """Raise AssertionError with the message where the condition is false."""
    assert condition, message
