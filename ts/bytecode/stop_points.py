"""Stop points of the debugger, and the entries of `Code.lines` that refer to them.

`debug_lowering` creates one stop point for each source line:

    x = x + 1          StopPoint(7, "f", range, "line", {"x": Tensor, "n": int}, ...), registers (2, 0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ts.ir.source import SourceRange
from ts.ir.types import Type


@dataclass
class StopPoint:
    """Position at which the debugger can stop, with the names, types and registers of the variables."""

    number: int
    function: str
    range: SourceRange
    event: str  # "line", "return" or "breakpoint"
    # name of a visible variable -> its type. The key "return" has the type of the function's result.
    types: dict[str, Type]
    owner: Any  # the function that contains the stop point, as compiled for the debugger
    is_entry: bool = False
    registers: tuple[int, ...] = ()

    @property
    def line(self) -> int:
        """Line number in the source file."""
        return self.range.line

    @property
    def filename(self) -> str:
        """Path of the source file, or "<string>" if the source has no file."""
        return self.range.source.filename or "<string>"


class Stack(tuple[tuple[str, Any], ...]):
    """Entry of `Code.lines`: call stack of an instruction, and number of the last stop point before it."""

    stop_point: int
