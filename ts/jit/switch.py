"""Scripting as a whole, on or off.

    ts.jit.disable()        from here on `script` gives its argument back, and everything runs as Python
    TS_JIT=0                the same from outside; PYTORCH_JIT=0 too
"""

from __future__ import annotations

import os

_on = True


def enabled() -> bool:
    """Whether scripting is on; `disable()` and TS_JIT=0 turn it off."""
    setting = os.environ.get("TS_JIT", os.environ.get("PYTORCH_JIT", "1"))
    return _on and setting != "0"


def enable() -> None:
    """Turn scripting on again."""
    global _on
    _on = True


def disable() -> None:
    """Turn scripting off: `script` gives its argument back."""
    global _on
    _on = False
