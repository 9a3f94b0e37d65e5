"""Breakpoints and conditional breakpoints, resolved from user requests to stop points in the code.

Input: a line (`12` or `file.py:12`) or a function (`helper` or `Class.method`), and the stop points of the
code. Output: the numbers of the stop points at which the program must stop. Example:

    b = Breakpoint(1, *file_and_line("model.py:12", None))
    b.bind(stop_points)
    b.stop_points

If the line has no code, the breakpoint is at the next line with code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from ts.bytecode.stop_points import StopPoint


@dataclass
class Breakpoint:
    """Breakpoint at a source line or function, or conditional breakpoint with a breakpoint condition."""

    number: int
    filename: str  # name of the file, or "" if the breakpoint is at a function
    line: int
    function: str
    condition: str = ""
    temporary: bool = False
    stop_points: set[int] = field(default_factory=set)

    @property
    def location(self) -> str:
        """Return the requested location as text."""
        return self.function or f"{short_name(self.filename)}:{self.line}"

    def bind(self, stop_points: Iterable[StopPoint]) -> None:
        """Select the stop points of the breakpoint from `stop_points`, and store their numbers."""
        if self.function:
            matches = [p for p in stop_points if p.is_entry and _is_called(p, self.function)]
        else:
            candidates = [p for p in stop_points if p.event != "return" and self._may_be_at(p)]
            line = min((stop_point.line for stop_point in candidates), default=0)
            matches = [stop_point for stop_point in candidates if stop_point.line == line]
        self.stop_points = {stop_point.number for stop_point in matches}

    def _may_be_at(self, stop_point: StopPoint) -> bool:
        """Return True if a stop point is in the requested file and at or after the requested line.

        Return False if the source of the stop point begins after the requested line.
        """
        if stop_point.line < self.line or not _is_file(stop_point.filename, self.filename):
            return False
        return stop_point.range.source.first_line <= self.line


def file_and_line(location: str, default_file: str | None) -> tuple[str, int, str]:
    """Parse a location to (file, line, function): "12" -> (default_file, 12, ""), "f" -> ("", 0, "f")."""
    filename, colon, line = location.rpartition(":")
    if line.isdecimal():
        if not colon and default_file is None:
            raise ValueError("no current file; expected FILE:LINE")
        return filename or default_file or "", int(line), ""
    if colon or not all(component.isidentifier() for component in location.split(".")):
        raise ValueError(f"expected LINE, FILE:LINE or FUNCTION, got {location!r}")
    return "", 0, location


def short_name(filename: str) -> str:
    """Return the name of a file without the directory."""
    return PurePath(filename).name


def _is_file(filename: str, suffix: str) -> bool:
    """Return True if a file name ends with the path components of `suffix`."""
    components = PurePath(suffix).parts
    return PurePath(filename).parts[-len(components) :] == components


def _is_called(stop_point: StopPoint, name: str) -> bool:
    original: Any = getattr(stop_point.owner, "original", None)
    qualified_name = f".{original.qualified_name if original else ''}"
    return stop_point.function == name or qualified_name.endswith(f".{name}")
