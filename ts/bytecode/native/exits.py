"""Where machine code is left, and what has to be in the frame then; why a loop has none.

An exit is the interpreter's own state between two instructions: it goes on at `pc` and knows no difference.
What could fail is left before it begins, and the interpreter does it, to fail as it always does.  References
never leave the frame, so that an exit has nothing to say of who owns what; numbers that live in the machine's
registers are stored first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ts.bytecode.opcodes import NUMBER, OPCODES

if TYPE_CHECKING:
    from ts._core.vm.code import Code

# Instructions that are the interpreter's: they push or pop frames, or ask for what is outside of the loop.
LEFT_ALONE: Final = frozenset(
    ("CALL", "CALL_METHOD", "RETURN", "RAISE", "PRINT", "FORK", "WAIT", "BREAK", "ENTER_PLAN")
)
# Of these, the ones that end the loop that they are in: it is left once, not at every turn.
_LAST: Final = frozenset(("RETURN", "RAISE"))
# What calls the machine's own functions for most of its work.
HEAVY: Final = frozenset(
    (
        *("CALL_OPERATOR", "CAST_TO", "IS_INSTANCE", "DICT_CONTAINS"),
        *("DICT_GET", "DICT_GET_SCALAR", "DICT_FIND", "DICT_SET", "DICT_SET_SCALAR"),
        *("LIST_NEW", "DICT_NEW", "TUPLE_NEW", "OBJECT_NEW"),
    )
)

# Why a whole Code is left to the interpreter, and why a loop is.
STOPS: Final = "a debugger may stop in it"
LARGE: Final = "it is too large"
NO_LOOP: Final = "it has no loop"
CALLS: Final = {
    "CALL": "it calls a function that is not inlined",
    "CALL_METHOD": "it calls a method that is not inlined",
    "FORK": "it starts a task",
    "WAIT": "it waits for a task",
    "PRINT": "it prints",
}
OPERATORS: Final = "it is mostly operators"
MOST_INSTRUCTIONS: Final = 1_000  # LLVM takes some seconds for so many


class Exit(NamedTuple):
    """A way out."""

    pc: int  # the next instruction
    status: int  # as the loop itself leaves with it; 0 goes on interpreting, nothing of `pc` done yet
    dirty: tuple[int, ...]  # registers that are newer in the machine than in the frame: stored first


class Loop(NamedTuple):
    """From the instruction that a LOOP jumps back to, to that LOOP."""

    head: int
    end: int
    refusal: str = ""  # why it is not entered
    cause: int = -1  # the instruction that says so, if it is a single one


Rows = tuple[tuple[int, int, int, int], ...]


def loops_of(code: Code) -> tuple[Loop, ...]:
    """The loops of a code, each with what keeps it from being machine code, or ""."""
    rows = code.instructions
    if any(row[0] == NUMBER["BREAK"] for row in rows):
        return tuple(Loop(head, end, STOPS) for head, end in _spans(rows))
    spans = _spans(rows)
    return tuple(_judged(rows, head, end, spans) for head, end in spans)


def _spans(rows: Rows) -> list[tuple[int, int]]:
    return [(row[1], end) for end, row in enumerate(rows) if OPCODES[row[0]].format[0] == "<"]


def _judged(rows: Rows, head: int, end: int, spans: list[tuple[int, int]]) -> Loop:
    """A loop with what an instruction of it, outside of the loops in it, would make of every turn."""
    inner: set[int] = set()
    for first, last in spans:
        if head <= first and last <= end and (first, last) != (head, end):
            inner.update(range(first, last + 1))
    names = {at: OPCODES[rows[at][0]].name for at in range(head, end + 1) if at not in inner}
    for at, name in names.items():
        if name in LEFT_ALONE and name not in _LAST:
            return Loop(head, end, CALLS[name], at)
    heavy = sum(name in HEAVY for name in names.values())
    return Loop(head, end, OPERATORS if 2 * heavy > len(names) else "")
