"""Scripting as a whole, on or off.

    ts.jit.disable()        from here on `script` gives its argument back, and everything runs as Python
    TS_JIT=0                the same from outside; PYTORCH_JIT=0 too, where TS_JIT is not set

As in PyTorch, `no` and `false` are 0, `yes` and `true` are 1, and any other setting is refused.
"""

from __future__ import annotations

import os

_on = True
_SETTINGS = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}


def enabled() -> bool:
    """Whether scripting is on; `disable()` and TS_JIT=0 turn it off."""
    variable = "TS_JIT" if "TS_JIT" in os.environ else "PYTORCH_JIT"
    setting = os.environ.get(variable, "1")
    found = _SETTINGS.get(setting.lower())
    if found is None:
        raise ValueError(f"Unknown setting of {variable}. Try using 0 or 1. It is {setting!r}")
    return _on and found


def enable() -> None:
    """Turn scripting on again."""
    global _on
    _on = True


def disable() -> None:
    """Turn scripting off: `script` gives its argument back."""
    global _on
    _on = False
