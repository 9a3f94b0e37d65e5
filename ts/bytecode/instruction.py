"""Instructions while code is made: operands are virtual registers, labels and numbers of tables.

Instruction("ADD_I64", 7, 3, 4)          reads (3, 4), writes (7,), once it is refreshed
Instruction("", label)                   the place of a label
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
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
        reads, writes, pooled = _mentions(self.name)
        self.reads, self.writes = reads(self), writes(self)
        if pooled:
            assert self.pool is not None
            split = len(self.pool) - self.results
            self.reads += tuple(self.pool[:split])
            self.writes += tuple(self.pool[split:])
        if self.keeps:
            self.reads += self.keeps

    @property
    def target(self) -> Label | None:
        """Where it jumps."""
        return self.a if self.name in _JUMPS else None


Mentioned = Callable[[Instruction], tuple[int, ...]]


@cache
def _mentions(name: str) -> tuple[Mentioned, Mentioned, bool]:
    """The operands that are registers to read, and to write; whether one is a list of registers."""
    formats = BY_NAME[name].operands
    named = list(zip("abc", formats, strict=True))
    reads = [name for name, format in named if register_format(format) and format[0] != "="]
    writes = [name for name, format in named if format[0] in "=+"]
    return _operands(reads), _operands(writes), "P" in formats


def _operands(names: list[str]) -> Mentioned:
    """What gives these operands of an instruction."""
    if not names:
        return lambda instruction: ()
    get: Callable[[Instruction], Any] = attrgetter(*names)
    return get if len(names) > 1 else lambda instruction: (get(instruction),)


_JUMPS = frozenset(name for name, row in BY_NAME.items() if row.jumps)
ENDS = ("JUMP", "LOOP", "RETURN", "RAISE")
