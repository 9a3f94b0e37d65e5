"""PyTorch's oneDNN settings, which have no effect because `ts` does not use oneDNN.

Example:

    ts.backends.mkldnn.is_available()         # False
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Final

from .flags import Verbose as verbose
from .flags import flags_of

__all__ = [
    "VERBOSE_OFF", "VERBOSE_ON", "VERBOSE_ON_CREATION", "allow_tf32", "deterministic", "enabled", "flags",
    "fp32_precision", "is_available", "verbose",
]  # fmt: skip

VERBOSE_OFF: Final = 0
VERBOSE_ON: Final = 1
VERBOSE_ON_CREATION: Final = 2

enabled = True
deterministic = False
allow_tf32 = True
fp32_precision = "none"


def is_available() -> bool:
    """Return False, because `ts` does not use oneDNN."""
    return False


def flags(
    enabled: bool = False,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> AbstractContextManager[None]:
    """Return a context manager that sets the settings of this module temporarily."""
    return flags_of(
        __name__, enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32,
        fp32_precision=fp32_precision,
    )  # fmt: skip
