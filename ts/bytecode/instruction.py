"""Instructions while code is made: operands are virtual registers, labels and numbers of tables.

    Instruction("ADD_I64", 7, 3, 4)          reads (3, 4), writes (7,), once it is refreshed
    Instruction("", label)                   the place of a label
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts.bytecode.opcodes import BY_NAME, register_format

SCALARS = "ifb"
COPIES = ("MOVE", "COPY")


class Label:
    """A place in the code."""

    __slots__ = ("uses",)

    def __init__(self) -> None:
        self.uses = 0


class Instruction:
    """One instruction, or a label (`name` is ""). `pool` holds the registers of a list operand; its last
    `results` are written."""

    __slots__ = ("a", "b", "c", "depth", "keeps", "line", "name", "pool", "reads", "results", "writes")

    def __init__(
        self,
        name: str,
        a: Any = 0,
        b: Any = 0,
        c: Any = 0,
        pool: list[int] | None = None,
        results: int = 0,
        line: Any = None,
        depth: int = 0,
    ) -> None:
        self.name, self.a, self.b, self.c = name, a, b, c
        self.pool = pool
        self.results = results
        self.line = line
        self.depth = depth  # how many blocks around it
        self.keeps: tuple[int, ...] = ()  # registers that hold their value here, though nothing reads them
        self.reads: tuple[int, ...] = ()
        self.writes: tuple[int, ...] = ()

    def refresh(self) -> None:
        """Find out anew which registers are read and written."""
        if not self.name:
            return
        reads, writes, pooled = _MENTIONS[self.name]
        operands = self.a, self.b, self.c
        read = [operands[i] for i in reads]
        written = [operands[i] for i in writes]
        if pooled:
            assert self.pool is not None
            split = len(self.pool) - self.results
            read += self.pool[:split]
            written += self.pool[split:]
        self.reads, self.writes = (*read, *self.keeps), tuple(written)

    @property
    def target(self) -> Label | None:
        """Where it jumps."""
        return self.a if self.name in _JUMPS else None


def _mentions(formats: Sequence[str]) -> tuple[tuple[int, ...], tuple[int, ...], bool]:
    """The operands that are registers to read, and to write; whether one is a list of registers."""
    reads = [i for i, format in enumerate(formats) if register_format(format) and format[0] != "="]
    writes = [i for i, format in enumerate(formats) if format[0] in "=+"]
    return tuple(reads), tuple(writes), "P" in formats


_MENTIONS = {name: _mentions(row.operands) for name, row in BY_NAME.items()}
_JUMPS = frozenset(name for name, row in BY_NAME.items() if row.operands[0] in "<>")
ENDS = ("JUMP", "LOOP", "RETURN", "RAISE")
