"""Side exits of machine code, and the reasons why loops are not compiled.

At an exit the frame holds the interpreter's state between two instructions, and the interpreter continues at
`pc`.  If an instruction would raise, machine code exits before it, and the interpreter executes it and
raises.
References always stay in the frame, so an exit does not change ownership; numbers in machine registers are
stored to the frame first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ts.bytecode.opcodes import NUMBER, OPCODES

if TYPE_CHECKING:
    from ts._core.vm.code import Code

# Opcodes that only the interpreter runs: they push or pop frames, or access state outside the loop.
LEFT_ALONE: Final = frozenset(
    ("CALL", "CALL_METHOD", "RETURN", "RAISE", "PRINT", "FORK", "WAIT", "BREAK", "ENTER_PLAN")
)
# Subset that ends the loop and so runs at most once.
_LOOP_ENDING_OPCODES: Final = frozenset(("RETURN", "RAISE"))
# Opcodes that spend most of their time in runtime functions.
HEAVY: Final = frozenset(
    (
        *("CALL_OPERATOR", "CAST_TO", "IS_INSTANCE", "DICT_CONTAINS"),
        *("DICT_GET", "DICT_GET_SCALAR", "DICT_FIND", "DICT_SET", "DICT_SET_SCALAR"),
        *("LIST_NEW", "DICT_NEW", "TUPLE_NEW", "OBJECT_NEW"),
    )
)

# Reasons why a whole Code, or a loop, is not compiled.
STOPS: Final = "it has stop points of a debugger"
LARGE: Final = "it is too large"
REASON_NO_LOOP: Final = "it has no loop"
CALL_REASONS: Final = {
    "CALL": "it calls a function that is not inlined",
    "CALL_METHOD": "it calls a method that is not inlined",
    "FORK": "it starts a task",
    "WAIT": "it waits for a task",
    "PRINT": "it prints",
}
REASON_OPERATORS: Final = "most of its instructions are operator calls"
MAX_INSTRUCTIONS: Final = 1_000  # LLVM takes a few seconds for this number


class SideExit(NamedTuple):
    """Side exit: return position, status and registers to store."""

    pc: int  # the next instruction
    status: int  # returned status; 0: continue in the interpreter before `pc`
    dirty: tuple[int, ...]  # registers whose current value is not in the frame, stored first


class Loop(NamedTuple):
    """Loop from the target of a LOOP instruction to that instruction."""

    head: int
    end: int
    reason: str = ""  # reason why it is not compiled, or ""
    cause: int = -1  # the instruction that prevents compilation, or -1


Rows = tuple[tuple[int, int, int, int], ...]


def loops_of(code: Code) -> tuple[Loop, ...]:
    """Return the loops of a code, each with the reason against its compilation, or ""."""
    rows = code.instructions
    if any(row[0] == NUMBER["BREAK"] for row in rows):
        return tuple(Loop(loop_head, end, STOPS) for loop_head, end in _spans(rows))
    spans = _spans(rows)
    return tuple(_classify_loop(rows, loop_head, end, spans) for loop_head, end in spans)


def _spans(rows: Rows) -> list[tuple[int, int]]:
    return [(row[1], end) for end, row in enumerate(rows) if OPCODES[row[0]].format[0] == "<"]


def _classify_loop(rows: Rows, loop_head: int, end: int, spans: list[tuple[int, int]]) -> Loop:
    """Return a loop with the reason against its compilation, from instructions outside inner loops."""
    inner: set[int] = set()
    for first, last in spans:
        if loop_head <= first and last <= end and (first, last) != (loop_head, end):
            inner.update(range(first, last + 1))
    names = {at: OPCODES[rows[at][0]].name for at in range(loop_head, end + 1) if at not in inner}
    for at, name in names.items():
        if name in LEFT_ALONE and name not in _LOOP_ENDING_OPCODES:
            return Loop(loop_head, end, CALL_REASONS[name], at)
    heavy = sum(name in HEAVY for name in names.values())
    return Loop(loop_head, end, REASON_OPERATORS if 2 * heavy > len(names) else "")
