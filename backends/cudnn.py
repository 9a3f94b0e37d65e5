"""PyTorch's cuDNN settings, which are stored but have no effect.

`ts` does not use cuDNN. Example:

    ts.backends.cudnn.benchmark = True
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from .flags import flags_of

enabled = True
benchmark = False
benchmark_limit: int | None = None
deterministic = False
allow_tf32 = True
fp32_precision = "none"


def is_available() -> bool:
    """Return False, because `ts` does not use cuDNN."""
    return False


def version() -> int | None:
    """Return None, because `ts` does not use cuDNN."""
    return None


def is_acceptable(tensor: Any) -> bool:
    """Return False, because cuDNN accepts no tensors of `ts`."""
    return False


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> AbstractContextManager[None]:
    """Return a context manager that sets the settings of this module temporarily."""
    return flags_of(
        __name__, enabled=enabled, benchmark=benchmark, benchmark_limit=benchmark_limit,
        deterministic=deterministic, allow_tf32=allow_tf32, fp32_precision=fp32_precision,
    )  # fmt: skip
