"""PyTorch's settings for opt_einsum. They are stored but have no effect.

ts.backends.opt_einsum.is_available()         False
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from .flags import flags_of

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """Return False, because these settings do not affect the contraction order of `einsum`."""
    return False


def get_opt_einsum() -> Any:
    """Return None, as if the library `opt_einsum` were not installed."""
    return None


def set_flags(_enabled: bool | None = None, _strategy: str | None = None) -> tuple[bool, str | None]:
    """Set `enabled` and `strategy`, each unless its argument is None, and return the previous values."""
    global enabled, strategy
    before = enabled, strategy
    if _enabled is not None:
        enabled = _enabled
    if _strategy is not None:
        strategy = _strategy
    return before


def flags(enabled: bool | None = None, strategy: str | None = None) -> AbstractContextManager[None]:
    """Return a context manager that sets the given settings temporarily."""
    settings = {"enabled": enabled, "strategy": strategy}
    return flags_of(__name__, **{name: value for name, value in settings.items() if value is not None})
