"""Anomaly detection: finds the operators whose backward fails or returns nan.

    with ts.autograd.detect_anomaly():
        loss = model(x)          nodes record the lines that created them
        loss.backward()          an error in a node, or nan, raises, with a warning that shows its lines

The mode applies to all threads and slows programs down.
"""

from __future__ import annotations

import warnings

from ts._core.autograd.anomaly import search_anomalies

_now = (False, True)  # anomaly detection enabled, NaN gradients are errors


def _set_flags(on: bool, check_nan: bool) -> None:
    global _now
    search_anomalies(on, check_nan)
    _now = on, check_nan


def is_anomaly_enabled() -> bool:
    """Return whether anomaly detection is enabled."""
    return _now[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Return whether NaN gradients raise an error in anomaly mode."""
    return _now[1]


class set_detect_anomaly:
    """Switch of anomaly detection, set at construction; as a context manager, until the block's end."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = _now
        _set_flags(mode, check_nan)

    def __enter__(self) -> None:
        """Do nothing; the constructor sets the switch."""

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
