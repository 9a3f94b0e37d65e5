"""opt_einsum, which is not used: products are taken from left to right. Its switches are remembered.

ts.backends.opt_einsum.is_available()         False
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from .flags import flags_of

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """Whether `einsum` can have the order of its products chosen: no."""
    return False


def get_opt_einsum() -> Any:
    """The library; None, as there is none."""
    return None


def set_flags(_enabled: bool | None = None, _strategy: str | None = None) -> tuple[bool, str | None]:
    """Set the switches; what they were."""
    global enabled, strategy
    before = enabled, strategy
    if _enabled is not None:
        enabled = _enabled
    if _strategy is not None:
        strategy = _strategy
    return before


def flags(enabled: bool | None = None, strategy: str | None = None) -> AbstractContextManager[None]:
    """The block in which the switches are these."""
    given = {"enabled": enabled, "strategy": strategy}
    return flags_of(__name__, **{name: value for name, value in given.items() if value is not None})
