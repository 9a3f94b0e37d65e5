"""Whether operations are recorded for gradients: one switch, which eager code and scripts share."""

from __future__ import annotations

_enabled = True


def is_enabled() -> bool:
    """Whether they are."""
    return _enabled


def set_enabled(enabled: bool) -> bool:
    """Switch; what it was before comes back."""
    global _enabled
    before, _enabled = _enabled, enabled
    return before
