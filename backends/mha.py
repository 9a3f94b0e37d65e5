"""PyTorch's setting for the fast path of `nn.TransformerEncoderLayer`.

The setting is stored but has no effect in `ts`.
"""

from __future__ import annotations

_is_fastpath_enabled = True


def get_fastpath_enabled() -> bool:
    """Return the value that `set_fastpath_enabled` stored. The value has no effect in `ts`."""
    return _is_fastpath_enabled


def set_fastpath_enabled(value: bool) -> None:
    """Store whether PyTorch's fast path is enabled. The value has no effect in `ts`."""
    global _is_fastpath_enabled
    _is_fastpath_enabled = value
