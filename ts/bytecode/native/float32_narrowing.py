"""Precision narrowing (demotion), which finds float registers with float32 values, for single precision.

The analysis is a forward data-flow analysis along all control-flow paths. Its results for three instructions:

    LOAD_FLOAT  r3, (r0, r1), 6          r3 has a float32 value
    ADD_F64     r4, r4, r3               r4 may have another value
    ROUND_F32   r4, r4                   r4 has a float32 value
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from ts.bytecode.native.liveness import reads_and_writes, successors
from ts.bytecode.opcodes import NUMBER

if TYPE_CHECKING:
    from ts._core.vm.code import Code

_LOAD: Final = NUMBER["LOAD_FLOAT"]
_ROUND: Final = NUMBER["ROUND_F32"]
_MOVE: Final = NUMBER["MOVE"]
_FLOAT32_CODE: Final = 6


def singles_before(code: Code) -> list[int]:
    """Return for each instruction the bit mask of the registers that hold float32 values before it."""
    constants = _constants(code)
    every = (1 << code.register_count) - 1
    before = [every] * code.size
    before[0] = constants
    pending = {0}
    while pending:
        pc = min(pending)
        pending.discard(pc)
        after = _after(code, pc, before[pc])
        for successor in successors(code, pc):
            if successor < code.size and before[successor] & ~after:
                before[successor] &= after
                pending.add(successor)
    return before


def _after(code: Code, pc: int, before: int) -> int:
    op, a, b, c = code.instructions[pc]
    _, writes = reads_and_writes(code, pc)
    after = before
    for register in writes:
        after &= ~(1 << register)
    if op == _ROUND or (op == _LOAD and c == _FLOAT32_CODE) or (op == _MOVE and before >> b & 1):
        after |= 1 << a
    return after


def _constants(code: Code) -> int:
    mask = 0
    for register, value in enumerate(code.constants, code.first_constant()):
        if code.classes[register] == "f" and _is_float32(value):
            mask |= 1 << register
    return mask


def _is_float32(x: float) -> bool:
    try:
        return bool(struct.unpack("<f", struct.pack("<f", x))[0] == x)
    except OverflowError:
        return False
