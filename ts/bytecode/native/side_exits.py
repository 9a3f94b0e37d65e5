"""Side exits of machine code to the interpreter (deoptimization), and reasons why loops are not compiled.

At a side exit, the interpreter continues at a given instruction. The frame holds the state that the
interpreter has before this instruction. If an instruction would raise, machine code exits before it, and the
interpreter executes it.

References to objects always stay in the frame, so an exit does not change their ownership. Numbers in machine
registers are stored to the frame before the exit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ts.bytecode.opcodes import NUMBER, OPCODES

if TYPE_CHECKING:
    from ts._core.vm.code import Code

# Opcodes that machine code leaves to the interpreter: they push or pop frames, or access state outside of the
# loop.
INTERPRETER_ONLY_OPCODES: Final = frozenset(
    ("CALL", "CALL_METHOD", "RETURN", "RAISE", "PRINT", "FORK", "WAIT", "BREAK", "ENTER_SPECIALIZATION")
)
# Opcodes in `INTERPRETER_ONLY_OPCODES` that are allowed in compiled loops, because they end the loop and run
# only once.
_LOOP_ENDING_OPCODES: Final = frozenset(("RETURN", "RAISE"))
# Opcodes that spend most of their time in C functions of the runtime. Machine code calls the same functions,
# so it is hardly faster than the interpreter.
RUNTIME_FUNCTION_OPCODES: Final = frozenset(
    (
        *("CALL_OPERATOR", "CAST_TO", "IS_INSTANCE", "DICT_CONTAINS"),
        *("DICT_GET", "DICT_GET_SCALAR", "DICT_FIND", "DICT_SET", "DICT_SET_SCALAR"),
        *("LIST_NEW", "DICT_NEW", "TUPLE_NEW", "OBJECT_NEW"),
    )
)

# Reasons not to compile a whole Code or one of its loops.
REASON_STOP_POINTS: Final = "it has stop points of a debugger"
REASON_TOO_LARGE: Final = "it is too large"
REASON_NO_LOOP: Final = "it has no loop"
CALL_REASONS: Final = {
    "CALL": "it calls a function that is not inlined",
    "CALL_METHOD": "it calls a method that is not inlined",
    "FORK": "it starts a task",
    "WAIT": "it waits for a task",
    "PRINT": "it prints",
}
REASON_OPERATORS: Final = "most of its instructions are operator calls"
# maximal number of instructions of a Code, which LLVM compiles in a few seconds
MAX_INSTRUCTIONS: Final = 1_000


class SideExit(NamedTuple):
    """Side exit (bailout): position of the next instruction, returned status, and registers to store."""

    pc: int  # index of the instruction at which the interpreter continues
    status: int  # exit status that the machine code returns, or 0 if the interpreter only continues at `pc`
    # registers that must be stored in the frame before the exit, because the frame has older values
    dirty: tuple[int, ...]


class Loop(NamedTuple):
    """Loop: the instructions from the target of a LOOP instruction to the LOOP instruction."""

    head: int
    end: int
    reason: str = ""  # reason why the loop is not compiled; "" if it is compiled
    # index of the instruction that prevents the compilation, or -1 if there is no such instruction
    cause: int = -1


Rows = tuple[tuple[int, int, int, int], ...]


def find_loops(code: Code) -> tuple[Loop, ...]:
    """Return the loops of a code. A loop that is not compiled has a `reason`."""
    rows = code.instructions
    if any(row[0] == NUMBER["BREAK"] for row in rows):
        return tuple(Loop(loop_head, end, REASON_STOP_POINTS) for loop_head, end in _loop_spans(rows))
    spans = _loop_spans(rows)
    return tuple(_classify_loop(rows, loop_head, end, spans) for loop_head, end in spans)


def _loop_spans(rows: Rows) -> list[tuple[int, int]]:
    return [(row[1], end) for end, row in enumerate(rows) if OPCODES[row[0]].format[0] == "<"]


def _classify_loop(rows: Rows, loop_head: int, end: int, spans: list[tuple[int, int]]) -> Loop:
    """Return the loop from `loop_head` to `end`, with the reason if it is not compiled.

    The instructions of inner loops are ignored. `spans` contains (head, end) of all loops in the code.
    """
    inner: set[int] = set()
    for first, last in spans:
        if loop_head <= first and last <= end and (first, last) != (loop_head, end):
            inner.update(range(first, last + 1))
    names = {pc: OPCODES[rows[pc][0]].name for pc in range(loop_head, end + 1) if pc not in inner}
    for pc, name in names.items():
        if name in INTERPRETER_ONLY_OPCODES and name not in _LOOP_ENDING_OPCODES:
            return Loop(loop_head, end, CALL_REASONS[name], pc)
    heavy = sum(name in RUNTIME_FUNCTION_OPCODES for name in names.values())
    return Loop(loop_head, end, REASON_OPERATORS if 2 * heavy > len(names) else "")
