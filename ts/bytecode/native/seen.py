"""Which tensors instructions take elements of.

LOAD_FLOAT  r3, (r0, r1, r2), 6        Seen(register=0, dtype=6, rank=2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ts.bytecode.opcodes import NUMBER

if TYPE_CHECKING:
    from ts._core.vm.code import Code

_POOL_OPERAND: Final = {
    NUMBER[name]: operand
    for name, operand in (("LOAD_FLOAT", 2), ("LOAD_INT", 2), ("STORE_FLOAT", 1), ("STORE_INT", 1))
}


class Seen(NamedTuple):
    """A tensor as an instruction takes it."""

    register: int
    dtype: int
    rank: int

    def name(self, what: str) -> str:
        """Of the variable that holds what is known of it."""
        return f"%r{self.register}.{self.dtype}.{self.rank}.{what}"

    def lengths(self) -> list[str]:
        """The names of what is known of its dimensions."""
        return [f"{what}{k}" for k in range(self.rank) for what in ("size", "stride")]


def seen_by(code: Code, pc: int) -> Seen | None:
    """The tensor whose element an instruction loads or stores."""
    items = place_of(code, pc)
    return Seen(items[0], code.instructions[pc][3], len(items) - 1) if items else None


def place_of(code: Code, pc: int) -> list[int]:
    """The registers of that tensor, and of the element's indices; of other instructions none."""
    row = code.instructions[pc]
    operand = _POOL_OPERAND.get(row[0])
    return [] if operand is None else code.pool_list(row[operand])
