"""Selection of attention backends: `sdpa_kernel`.

Example:

    with ts.nn.attention.sdpa_kernel(SDPBackend.MATH):
        F.scaled_dot_product_attention(q, k, v)

In `ts`, the selection has no effect, because each device has only one attention kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum


class SDPBackend(IntEnum):
    """Attention backends of PyTorch."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __str__(self) -> str:
        return f"SDPBackend.{self.name}"


@contextmanager
def sdpa_kernel(backends: SDPBackend | list[SDPBackend], set_priority: bool = False) -> Iterator[None]:
    """Check the type of `backends`. The context manager has no other effect."""
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    yield
