"""Stack frames of the user (user stack): find the source line that an exported program executes."""

from __future__ import annotations

import dis
import linecache
import sys
from types import FrameType
from typing import NamedTuple

from ts.export.input_guards import Line
from ts.module_names import is_own


class UserFrame(NamedTuple):
    """Source line that a frame outside of `ts` executes."""

    file: str
    line: int
    function: str

    @property
    def text(self) -> str:
        """Text of the line."""
        return linecache.getline(self.file, self.line).strip()

    def to_line(self) -> Line:
        """Return the location of the frame, with the text of its line, in the form for archives."""
        return Line(self.file, self.line, self.function, self.text)


def _is_of_program(frame: FrameType) -> bool:
    return not is_own(frame.f_globals.get("__name__")) and not frame.f_code.co_filename.startswith("<")


def is_in_assert() -> bool:
    """Return True if the innermost frame outside of `ts` evaluates the condition of an `assert`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _is_of_program(frame):
        frame = frame.f_back
    if frame is None:
        return False
    instructions = [i for i in dis.get_instructions(frame.f_code) if i.opname not in ("CACHE", "TO_BOOL")]
    here = next((k for k, i in enumerate(instructions) if i.offset >= frame.f_lasti), len(instructions))
    names = [i.opname for i in instructions[here : here + 3]]
    jump = next((k for k, name in enumerate(names) if name.startswith("POP_JUMP") and "TRUE" in name), None)
    return jump is not None and names[jump + 1 : jump + 2] == ["LOAD_ASSERTION_ERROR"]


def current_user_frame() -> UserFrame | None:
    """Return the innermost stack frame outside of `ts`, or None if all frames are in `ts`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _is_of_program(frame):
        frame = frame.f_back
    if frame is None:
        return None
    return UserFrame(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def stack() -> list[UserFrame]:
    """Return all frames outside of `ts`, outermost first."""
    frames = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_of_program(frame):
            frames.append(UserFrame(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return frames[::-1]
