"""PyTorch's MIOpen setting. It has no effect, because `ts` does not use MIOpen."""

from __future__ import annotations

from contextlib import AbstractContextManager

from .flags import flags_of

immediate = False


def flags(immediate: bool = False) -> AbstractContextManager[None]:
    """Return a context manager that sets `immediate` temporarily."""
    return flags_of(__name__, immediate=immediate)
