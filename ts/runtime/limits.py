"""Limits on what a running program may use.

    with ts.limits(fuel=1_000_000, seconds=0.5):
        untrusted(x)                    # raises ts.errors.LimitExceeded when either is used up

`fuel` counts backward jumps and calls, the places where the interpreter looks up from its work; `seconds` is
elapsed time; `bytes` is what the containers and tensors of the program hold; `depth` is the number of nested
calls.  Limits nest: the inner one cannot give what the outer one has not.  They hold for the thread that
entered them.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

from ts._core import meter


class limits:
    """`with limits(fuel=..., seconds=..., bytes=..., depth=...)`: each may be left out."""

    def __init__(
        self,
        fuel: int | None = None,
        seconds: float | None = None,
        bytes: int | None = None,
        depth: int | None = None,
    ) -> None:
        for name, value in (("fuel", fuel), ("seconds", seconds), ("bytes", bytes), ("depth", depth)):
            if value is not None and value < 0:
                raise ValueError(f"limits: {name} must not be negative, got {value}")
        self.fuel = fuel
        self.seconds = seconds
        self.bytes = bytes
        self.depth = depth

    def __enter__(self) -> Self:
        meter.push_limits(self.fuel, self.seconds, self.bytes, self.depth)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        meter.pop_limits()
