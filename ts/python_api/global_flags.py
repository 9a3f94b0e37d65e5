"""Process-wide flags of PyTorch that programs set and query.

The flags are stored and have no effect. For example:

    ts.use_deterministic_algorithms(True)
    ts.set_float32_matmul_precision("high")

Operators of `ts` are always deterministic, compute float32 in full precision, and keep subnormal numbers.
"""

from __future__ import annotations

import warnings
from typing import Any

from ts._core.thread.warnings import warn_always

_deterministic = {"mode": 0}  # 0: off, 1: warn, 2: error
_other_flags: dict[str, Any] = {"precision": "highest", "warn always": False}
_MODES = {"default": 0, "warn": 1, "error": 2}
_PRECISIONS = ("highest", "high", "medium")


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Set the flag for deterministic algorithms, without effect, as operators are always deterministic."""
    _deterministic["mode"] = (1 if warn_only else 2) if mode else 0


def are_deterministic_algorithms_enabled() -> bool:
    """Return True if deterministic algorithms are requested."""
    return _deterministic["mode"] > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return True if deterministic algorithms are requested in the mode `warn_only`."""
    return _deterministic["mode"] == 1


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set the deterministic mode, as a number or as "default", "warn" or "error"."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    mode = _MODES.get(debug_mode) if isinstance(debug_mode, str) else debug_mode
    if mode not in _MODES.values():
        if isinstance(debug_mode, str):
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                f"{debug_mode}"
            )
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    assert mode is not None
    _deterministic["mode"] = mode


def get_deterministic_debug_mode() -> int:
    """Return the deterministic mode: 0 default, 1 warn, 2 error."""
    return _deterministic["mode"]


def set_float32_matmul_precision(precision: str) -> None:
    """Set the precision of float32 products, without effect, as products have full precision."""
    if precision in _PRECISIONS:
        _other_flags["precision"] = precision
    else:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current "
            "setFloat32MatmulPrecision "
            "call has no effect.",
            UserWarning,
            stacklevel=2,
        )


def get_float32_matmul_precision() -> str:
    """Return the setting of the precision of float32 products."""
    return str(_other_flags["precision"])


def set_flush_denormal(mode: bool) -> bool:
    """Return whether the request is satisfied, which is True if `mode` is False.

    Subnormals (denormals) are never flushed to zero.
    """
    return not mode


def set_warn_always(b: bool, /) -> None:
    """Set whether warnings that are normally emitted once are emitted every time.

    Python's filters control all other warnings.
    """
    if not isinstance(b, bool):
        raise TypeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _other_flags["warn always"] = b
    warn_always(b)


def is_warn_always_enabled() -> bool:
    """Return True if one-time warnings are repeated."""
    return bool(_other_flags["warn always"])
