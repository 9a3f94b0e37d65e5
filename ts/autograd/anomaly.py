"""The search for what spoils gradients: `set_detect_anomaly`.

    with ts.autograd.detect_anomaly(): ...

There are no gradients yet; the switch remembers what it was told.
"""

from __future__ import annotations

import warnings

_state = {"enabled": False, "check_nan": True}


def is_anomaly_enabled() -> bool:
    """Whether it was asked for."""
    return _state["enabled"]


def is_anomaly_check_nan_enabled() -> bool:
    """Whether it was asked to look for nan."""
    return _state["check_nan"]


class set_detect_anomaly:
    """Switches from here on; as a context manager, until its end."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = dict(_state)
        _state.update(enabled=mode, check_nan=check_nan)

    def __enter__(self) -> None:
        """The switch was made when the object was."""

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        _state.update(self._before)


class detect_anomaly:
    """A block in which it is asked for."""

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan
        self._before = dict(_state)
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
            "enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._before = dict(_state)
        _state.update(enabled=True, check_nan=self._check_nan)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        _state.update(self._before)
