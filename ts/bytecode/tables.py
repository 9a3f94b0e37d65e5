"""Tables of a code object: objects and register lists that instructions refer to, and source positions."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


class IndexTable:
    """Objects that instructions refer to by index, compared by identity, or with `by_value` by equality."""

    def __init__(self, by_value: bool = False) -> None:
        self._by_value = by_value
        self._indices: dict[Hashable, int] = {}
        self.objects: list[Any] = []

    def index(self, obj: Any) -> int:
        """Return the index of an object, adding it if necessary."""
        index = self._indices.setdefault(obj if self._by_value else id(obj), len(self.objects))
        if index == len(self.objects):
            self.objects.append(obj)
        return index


class OperandPool:
    """Register lists of instructions, each stored after its length. Equal lists share one entry."""

    def __init__(self) -> None:
        self._offsets: dict[tuple[int, ...], int] = {}
        self.items: list[int] = []

    def offset(self, registers: tuple[int, ...]) -> int:
        """Return the offset of a list, adding it if necessary."""
        offset = self._offsets.setdefault(registers, len(self.items))
        if offset == len(self.items):
            self.items += [len(registers), *registers]
        return offset


class LineTable:
    """Source positions of instructions, as call stacks of (function, source range)."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.line: Any = None  # (stack of inlined calls, source range) of the next instruction
        # index of the last stop point of the debugger, and registers of the variables that are visible there
        self.stop_point: tuple[int, tuple[int, ...]] = -1, ()

    def position(self) -> Any:
        """Return the source position of the next instruction."""
        return self.line

    def stack_of(self, line: Any) -> tuple[tuple[str, Any], ...]:
        """Return the script's call stack at a position, outermost function first."""
        if line is None:
            return ((self.name, None),)
        calls, source_range = line
        if not calls:
            return ((self.name, source_range),)
        names = [self.name, *(callee for callee, _ in calls)]
        ranges = [*(call_range for _, call_range in calls), source_range]
        return tuple(zip(names, ranges, strict=True))
