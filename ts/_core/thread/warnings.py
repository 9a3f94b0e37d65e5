"""Warnings whose location (stacklevel) is the user's call of `ts`.

`warn_once` emits each warning once per process. After `torch.set_warn_always(True)`, it emits the warning at
every call.
"""

from __future__ import annotations

import sys
import warnings

from ts.module_names import is_own

_warned_keys: set[str] = set()
_is_always = False


def warn_always(always: bool) -> None:
    """Make `warn_once` emit a warning at each call (True) or once per process (False)."""
    global _is_always
    _is_always = always


def warn_once(what: str, message: str) -> None:
    """Emit the warning `message`, once per process for each key `what`."""
    if not _is_always and what in _warned_keys:
        return
    _warned_keys.add(what)
    warn(message)


def warn(message: str) -> None:
    """Emit the warning `message` with the location of the innermost frame outside of `ts`."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and is_own(frame.f_globals.get("__name__")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
