"""Instructions during lowering, whose operands are virtual registers, labels and table indices.

Examples of an instruction and a label:

    Instruction("ADD_I64", 7, 3, 4)          reads the registers 3 and 4, and writes the register 7
    Instruction("", label)                   marks the position of a label
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from ts.bytecode.opcodes import BY_NAME, register_format

SCALARS = "ifb"
COPIES = ("MOVE", "COPY")


class Label:
    """Position in the code to which instructions jump."""

    __slots__ = ("uses",)

    def __init__(self) -> None:
        self.uses = 0


class Instruction:
    """Instruction with opcode `name`, or a label if `name` is "".

    `register_list` contains the registers of a list operand. The instruction writes the last `results`
    registers of the list, and reads the others. The registers `keeps` are not operands, but must keep their
    values up to the instruction.
    """

    __slots__ = (
        "a",
        "b",
        "c",
        "depth",
        "line",
        "name",
        "reads",
        "register_list",
        "results",
        "writes",
    )

    def __init__(
        self,
        name: str,
        a: Any = 0,
        b: Any = 0,
        c: Any = 0,
        register_list: Sequence[int] = (),
        results: int = 0,
        line: Any = None,
        depth: int = 0,
        keeps: tuple[int, ...] = (),
    ) -> None:
        self.name, self.a, self.b, self.c = name, a, b, c
        self.register_list = register_list
        self.results = results
        self.line = line
        self.depth = depth  # number of branches and loops around the instruction
        self.reads: tuple[int, ...] = ()
        self.writes: tuple[int, ...] = ()
        if not name:
            return
        reads, writes, pooled = _register_getters(name)
        self.reads, self.writes = reads(self), writes(self)
        if pooled:
            split = len(register_list) - results
            self.reads += tuple(register_list[:split])
            self.writes += tuple(register_list[split:])
        self.reads += keeps

    @property
    def target(self) -> Label | None:
        """Target label of a jump, or None for other instructions."""
        return self.a if self.name in _JUMPS else None


RegisterGetter = Callable[[Instruction], tuple[int, ...]]


@cache
def _register_getters(name: str) -> tuple[RegisterGetter, RegisterGetter, bool]:
    """Return (getter of the registers read, getter of those written, True if a list operand exists)."""
    formats = BY_NAME[name].operands
    named = list(zip("abc", formats, strict=True))
    reads = [name for name, format in named if register_format(format) and format[0] != "="]
    writes = [name for name, format in named if format[0] in "=+"]
    return _operands(reads), _operands(writes), "P" in formats


def _operands(names: list[str]) -> RegisterGetter:
    """Return a function from an instruction to the tuple of its operands `names` (some of a, b, c)."""
    if not names:
        return lambda instruction: ()
    get: Callable[[Instruction], Any] = attrgetter(*names)
    return get if len(names) > 1 else lambda instruction: (get(instruction),)


_JUMPS = frozenset(name for name, row in BY_NAME.items() if row.jumps)
TERMINATORS = ("JUMP", "LOOP", "RETURN", "RAISE")
