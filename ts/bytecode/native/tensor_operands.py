"""Tensor operands of instructions that load or store an element.

Input: an instruction. Output: the register, the dtype and the rank of its tensor. Example:

    LOAD_FLOAT  r3, (r0, r1, r2), 6        TensorOperand(register=0, dtype=6, rank=2)
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


class TensorOperand(NamedTuple):
    """Tensor operand: its register, and the dtype and rank that the instruction requires."""

    register: int
    dtype: int
    rank: int

    def name(self, field: str) -> str:
        """Return the name of the LLVM variable that caches `field` of the tensor."""
        return f"%r{self.register}.{self.dtype}.{self.rank}.{field}"

    def lengths(self) -> list[str]:
        """Return the names of the fields with the tensor's sizes and strides."""
        return [f"{field}{k}" for k in range(self.rank) for field in ("size", "stride")]


def tensor_operands_of(code: Code, pc: int) -> TensorOperand | None:
    """Return the tensor operand of an element load or store, or None for other instructions."""
    items = access_registers(code, pc)
    return TensorOperand(items[0], code.instructions[pc][3], len(items) - 1) if items else None


def access_registers(code: Code, pc: int) -> list[int]:
    """Return the registers of the tensor and its indices, or [] for instructions that access no element."""
    row = code.instructions[pc]
    operand = _POOL_OPERAND.get(row[0])
    return [] if operand is None else code.operand_pool_list(row[operand])
