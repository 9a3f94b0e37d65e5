"""Peephole optimization of instructions: removes no-ops and inverts jumps over jumps.

  MOVE r1, r1                 (gone)
  JUMP_LT_I64 body, r0, r2                       JUMP_LE_I64 end, r2, r0
  JUMP end                              =>
body:                                          body:
"""

from __future__ import annotations

from ts.bytecode.instruction import Instruction, Label


def optimize_bytecode(code: list[Instruction], real_register: dict[int, int]) -> list[Instruction]:
    """Remove copies of a register to itself, jumps to the next instruction, and jumps over a JUMP.

    A conditional jump over a JUMP is inverted and gets the target of the JUMP.
    """
    code = [
        i
        for i in code
        if i.name not in ("MOVE", "COPY", "TAKE") or real_register.get(i.a, -1) != real_register.get(i.b, -2)
    ]
    changed = True
    while changed:
        changed = False
        result: list[Instruction] = []
        for index, instruction in enumerate(code):
            target = instruction.target
            if (
                target is not None
                and instruction.name != "LOOP_STEP"
                and _is_label_next(code, index + 1, target)
            ):
                changed = True
                continue
            if (
                instruction.name == "JUMP"
                and result
                and result[-1].name in _INVERSE
                and result[-1].target is not None
                and _is_label_next(code, index + 1, result[-1].target)
            ):
                previous = result[-1]
                name, swapped = _INVERSE[previous.name]
                b, c = (previous.c, previous.b) if swapped else (previous.b, previous.c)
                result[-1] = Instruction(name, instruction.a, b, c, line=previous.line, depth=previous.depth)
                changed = True
                continue
            result.append(instruction)
        code = result
    return code


def _is_label_next(code: list[Instruction], index: int, label: Label) -> bool:
    """Return whether `label` is bound at `index` of `code` or later, before the next instruction."""
    while index < len(code) and not code[index].name:
        if code[index].a is label:
            return True
        index += 1
    return False


_INVERSE: dict[str, tuple[str, bool]] = {
    "JUMP_IF": ("JUMP_IF_NOT", False),
    "JUMP_IF_NOT": ("JUMP_IF", False),
    "JUMP_EQ_I64": ("JUMP_NE_I64", False),
    "JUMP_NE_I64": ("JUMP_EQ_I64", False),
    "JUMP_LT_I64": ("JUMP_LE_I64", True),
    "JUMP_LE_I64": ("JUMP_LT_I64", True),
    "JUMP_EQ_F64": ("JUMP_NE_F64", False),
    "JUMP_NE_F64": ("JUMP_EQ_F64", False),
    "JUMP_LT_F64": ("JUMP_NOT_LT_F64", False),
    "JUMP_LE_F64": ("JUMP_NOT_LE_F64", False),
    "JUMP_NOT_LT_F64": ("JUMP_LT_F64", False),
    "JUMP_NOT_LE_F64": ("JUMP_LE_F64", False),
    "JUMP_NONE": ("JUMP_NOT_NONE", False),
    "JUMP_NOT_NONE": ("JUMP_NONE", False),
}
