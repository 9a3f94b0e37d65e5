"""Limits on what a running program may use.

    with ts.limits(fuel=1_000_000, seconds=0.5, bytes=64 << 20):
        untrusted(x)                    # raises ts.errors.LimitExceeded when one of them is used up

`fuel` counts the work of the interpreter: a backward jump or a call of a scripted function is 1, a call of an
operator that works on objects (tensors, lists, strings) is 16, arithmetic on numbers is free.  `seconds` is
elapsed time; an operator that could not be done in the time that is left is refused before it starts.
`bytes` is what the lists, dicts, tuples, objects, strings and CPU tensors of the program hold, temporary ones
of operators included; what does not fit is refused before it is allocated.  It may be a text, too, as on the
command line: "64M".  `depth` is the number of nested calls; 65,536 is the most there can be, with or without
a limit.

Limits nest: the inner one cannot give what the outer one has not.  They hold for the thread that entered them
and for the programs that are forked inside.
"""

from __future__ import annotations

import re
from typing import Final

from ts._core.vm.meter import LimitsBlock

_UNITS: Final = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def bytes_in(text: str) -> int:
    """`4096`, `512M`, `1.5G`: bytes, in units of 1,024; ValueError for what is no such text."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(?:i?b)?", text, re.IGNORECASE | re.ASCII)
    if found is None:
        raise ValueError(f"{text!r} is not a number of bytes, such as 4096, 512M or 1.5G")
    return int(float(found[1]) * (1 << _UNITS[found[2].lower()]))


class limits(LimitsBlock):
    """`with limits(fuel=..., seconds=..., bytes=..., depth=...)`: each may be left out.

    fuel      backward jumps and calls of functions (1 each), operators on objects (16 each)
    seconds   elapsed time
    bytes     memory of the program's values, and of operators while they compute; a text has a unit: "64M"
    depth     nested calls
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
