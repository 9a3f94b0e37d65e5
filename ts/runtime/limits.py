"""Resource limits of running programs (instruction budget or fuel, time, memory, call depth).

A block sets the limits. If the program exceeds a limit, `ts.errors.LimitExceeded` is raised:

    with ts.limits(fuel=1_000_000, seconds=0.5, bytes=64 << 20):
        untrusted(x)

`fuel` counts interpreter work. A backward jump or a call of a scripted function costs 1. An operator call on
tensors, lists, strings or other objects costs 16. Arithmetic on numbers costs 0.

`seconds` is elapsed time. An operator is not started if its estimated time exceeds the remaining time.

`bytes` is the memory of all values of the program, including temporaries of operators. It is checked before
each allocation.

`depth` is the number of nested calls. It is at most 65,536 even without a limit.

An inner limit cannot exceed the rest of an outer limit. Limits apply to the thread that entered them, and to
the tasks that its programs fork.
"""

from __future__ import annotations

import re
from typing import Final

from ts._core.vm.meter import LimitsBlock

_UNITS: Final = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def bytes_in(size: str) -> int:
    """Parse a number of bytes such as `4096`, `512M` or `1.5G` (units of 1,024), or raise ValueError."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(?:i?b)?", size, re.IGNORECASE | re.ASCII)
    if match is None:
        raise ValueError(f"{size!r} is not a number of bytes, such as 4096, 512M or 1.5G")
    return int(float(match[1]) * (1 << _UNITS[match[2].lower()]))


class limits(LimitsBlock):
    """Context manager for resource limits: `with limits(fuel=..., seconds=..., bytes=..., depth=...)`.

        fuel      number of backward jumps and function calls, plus 16 for each operator call on objects
        seconds   elapsed time
        bytes     memory of all values and temporaries, as an int or a string such as "64M"
        depth     number of nested calls

    Raises ValueError for negative limits and invalid strings, and TypeError for limits of other types.
    """

    def __init__(
        self,
        fuel: int | None = None,
        seconds: float | None = None,
        bytes: int | str | None = None,
        depth: int | None = None,
    ) -> None:
        if isinstance(bytes, str):
            try:
                bytes = bytes_in(bytes)
            except ValueError as error:
                raise ValueError(f"limits: bytes: {error}") from None
        for name, value in (("fuel", fuel), ("bytes", bytes), ("depth", depth)):
            if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
                raise TypeError(f"limits: {name} must be an int, not {type(value).__name__}")
        if seconds is not None and (not isinstance(seconds, int | float) or isinstance(seconds, bool)):
            raise TypeError(f"limits: seconds must be a number, not {type(seconds).__name__}")
        for name, amount in (("fuel", fuel), ("seconds", seconds), ("bytes", bytes), ("depth", depth)):
            if amount is not None and not amount >= 0:
                raise ValueError(f"limits: {name} must not be negative, got {amount}")
        super().__init__(fuel, seconds, bytes, depth)
