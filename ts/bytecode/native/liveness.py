"""Live-variable analysis of bytecode, which determines the registers that a side exit stores in the frame.

Input: a Code. Output: a bit mask of registers for each instruction.

The right column shows the registers that are live before each instruction:

    2  MOVE       r2 := r4           r0, r1
    3  MOD_I64    r3 := r2 % r5      r0, r1, r2
    5  LOOP_STEP  to 3, r2, r0       r0, r1, r2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ts.bytecode.opcodes import NUMBER, OPCODES, register_format

if TYPE_CHECKING:
    from ts._core.vm.code import Code

_TERMINATORS = frozenset((NUMBER["JUMP"], NUMBER["LOOP"], NUMBER["RETURN"], NUMBER["RAISE"]))


def reads_and_writes(code: Code, pc: int) -> tuple[list[int], list[int]]:
    """Return the registers that the instruction at `pc` reads, and the registers that it writes."""
    op, *operands = code.instructions[pc]
    reads: list[int] = []
    writes: list[int] = []
    for operand, format in zip(operands, OPCODES[op].operands, strict=True):
        if register_format(format):
            if format[0] != "=":
                reads.append(operand)
            if format[0] in "=+":
                writes.append(operand)
        elif format == "P":
            items = code.operand_pool_list(operand)
            read_count = len(items)
            if OPCODES[op].name in ("CALL_OPERATOR", "CALL_SCALAR"):
                read_count = code.operators[operands[0]].nargs
            reads += items[:read_count]
            writes += items[read_count:]
    return reads, writes


def successors(code: Code, pc: int) -> tuple[int, ...]:
    """Return the successors of the instruction at `pc` in the control flow graph, as instruction indices."""
    op, a, *_ = code.instructions[pc]
    row = OPCODES[op]
    if not row.jumps:
        return () if op in _TERMINATORS else (pc + 1,)
    return (a,) if op in _TERMINATORS else (pc + 1, a)


def reachable(code: Code, starts: list[int]) -> set[int]:
    """Return the indices of instructions reachable from the instructions in `starts`, found by a worklist."""
    visited = set(starts)
    pending = list(starts)
    while pending:
        for pc in successors(code, pending.pop()):
            if pc not in visited:
                visited.add(pc)
                pending.append(pc)
    return visited


def live_before(code: Code) -> list[int]:
    """Return for each instruction the bit mask of the registers that are live before it."""
    rows = code.instructions
    reads, writes = [], []
    for pc in range(code.size):
        read, written = reads_and_writes(code, pc)
        reads.append(_bit_mask(read))
        writes.append(_bit_mask(written))
    successor_lists = [successors(code, pc) for pc in range(code.size)]
    live = [0] * len(rows)
    changed = True
    while changed:
        changed = False
        for pc in reversed(range(len(rows))):
            after = 0
            for successor in successor_lists[pc]:
                after |= live[successor]
            before = reads[pc] | after & ~writes[pc]
            if before != live[pc]:
                live[pc] = before
                changed = True
    return live


def _bit_mask(registers: list[int]) -> int:
    bits = 0
    for register in registers:
        bits |= 1 << register
    return bits
