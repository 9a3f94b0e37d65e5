"""The fast path of `nn.TransformerEncoderLayer`, which is not another path here: its switch is remembered."""

from __future__ import annotations

_is_fastpath_enabled = True


def get_fastpath_enabled() -> bool:
    """What was set last."""
    return _is_fastpath_enabled


def set_fastpath_enabled(value: bool) -> None:
    """Ask for the fast path, or for none."""
    global _is_fastpath_enabled
    _is_fastpath_enabled = value
