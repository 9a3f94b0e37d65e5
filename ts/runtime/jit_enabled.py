"""Process-wide switch that enables or disables scripting.

After `ts.jit.disable()`, or if the environment variable TS_JIT is 0, `script` returns its argument. The
program then runs in Python. If TS_JIT is not set, PYTORCH_JIT applies. As in PyTorch, `no` and `false` mean
0, and `yes` and `true` mean 1. Other values raise ValueError.
"""

from __future__ import annotations

import os

_on = True
_SETTINGS = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}


def enabled() -> bool:
    """Return True if scripting is enabled. `disable()` and TS_JIT=0 disable it."""
    variable = "TS_JIT" if "TS_JIT" in os.environ else "PYTORCH_JIT"
    setting = os.environ.get(variable, "1")
    value = _SETTINGS.get(setting.lower())
    if value is None:
        raise ValueError(f"Unknown setting of {variable}. Try using 0 or 1. It is {setting!r}")
    return _on and value


def enable() -> None:
    """Enable scripting again after `disable`."""
    global _on
    _on = True


def disable() -> None:
    """Disable scripting: `script` returns its argument unchanged."""
    global _on
    _on = False
