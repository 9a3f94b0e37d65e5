"""PyTorch's setting for the fast path of `nn.TransformerEncoderLayer`; it has no effect in `ts`."""

from __future__ import annotations

_is_fastpath_enabled = True


def get_fastpath_enabled() -> bool:
    """Return the current setting."""
    return _is_fastpath_enabled


def set_fastpath_enabled(value: bool) -> None:
    """Store the setting; it has no effect in `ts`."""
    global _is_fastpath_enabled
    _is_fastpath_enabled = value
