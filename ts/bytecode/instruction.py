"""Instructions while code is made: operands are virtual registers, labels and numbers of tables.

    Instruction("ADD_I64", 7, 3, 4)          reads (3, 4), writes (7,), once it is refreshed
    Instruction("", label)                   the place of a label
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ts.bytecode.opcodes import BY_NAME, register_format

SCALARS = "ifb"
COPIES = ("MOVE", "COPY")


@dataclass(slots=True, eq=False)
class Label:
    """A place in the code."""

    uses: int = 0


@dataclass(slots=True, eq=False)
class Instruction:
    """One instruction, or a label (`name` is ""). `pool` holds the registers of a list operand; its last
    `results` are written."""

    name: str
    a: Any = 0
    b: Any = 0
    c: Any = 0
    pool: list[int] | None = None
    results: int = 0
    line: Any = None
    depth: int = 0  # how many blocks around it
    keeps: tuple[int, ...] = ()  # registers that must hold their value here, though nothing reads them
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()

    def refresh(self) -> None:
        """Find out anew which registers are read and written."""
        if not self.name:
            return
        reads, writes = [], []
        for operand, format in zip((self.a, self.b, self.c), _FORMATS[self.name], strict=True):
            if format == "P":
                assert self.pool is not None
                split = len(self.pool) - self.results
                reads += self.pool[:split]
                writes += self.pool[split:]
            elif format[0] == "=":
                writes.append(operand)
            elif format[0] == "+":
                reads.append(operand)
                writes.append(operand)
            elif format in _REGISTERS:
                reads.append(operand)
        self.reads, self.writes = (*reads, *self.keeps), tuple(writes)

    @property
    def target(self) -> Label | None:
        """Where it jumps."""
        return self.a if self.name and _FORMATS[self.name][0] in "<>" else None


_FORMATS = {name: row.operands for name, row in BY_NAME.items()}
_REGISTERS = {format for formats in _FORMATS.values() for format in formats if register_format(format)}
ENDS = ("JUMP", "LOOP", "RETURN", "RAISE")
