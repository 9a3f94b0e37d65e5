"""Anomaly detection, which finds operators whose backward fails or returns nan.

The backward pass in the example raises an error for such an operator. A warning shows the line that called
the operator:

    with ts.autograd.detect_anomaly():
        loss = model(x)
        loss.backward()

The mode applies to all threads, and makes programs slower.
"""

from __future__ import annotations

import warnings

from ts._core.autograd.anomaly import search_anomalies

_now = (False, True)  # current state: (anomaly detection is enabled, nan gradients raise an error)


def _set_flags(on: bool, check_nan: bool) -> None:
    global _now
    search_anomalies(on, check_nan)
    _now = on, check_nan


def is_anomaly_enabled() -> bool:
    """Return True if anomaly detection is enabled."""
    return _now[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Return True if nan gradients raise an error in anomaly mode."""
    return _now[1]


class set_detect_anomaly:
    """Set the anomaly mode when the object is created.

    At the end of a `with` block, the previous mode is restored.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = _now
        _set_flags(mode, check_nan)

    def __enter__(self) -> None:
        """Do nothing, because the constructor sets the mode."""

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        _set_flags(*self._before)


class detect_anomaly:
    """Context manager that enables anomaly detection."""

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan
        self._before = _now
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
            "enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._before = _now
        _set_flags(True, self._check_nan)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        _set_flags(*self._before)
