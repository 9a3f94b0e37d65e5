"""Assembler (instruction encoding, label resolution), which encodes a lowering as a `SerializedCode`.

The assembler replaces virtual registers by real registers, and labels by instruction indices. A peephole
optimization removes no-ops and inverts jumps over jumps:

    MOVE r1, r1                           JUMP_LE_I64 end, r2, r0
    JUMP_LT_I64 body, r0, r2            body:
    JUMP end                     =>
  body:
"""

from __future__ import annotations

from functools import cache

from ts.bytecode.instruction import Instruction, Label
from ts.bytecode.lowering import Lowering
from ts.bytecode.opcodes import BY_NAME, NUMBER, register_format
from ts.bytecode.register_allocation import RegisterAllocator
from ts.bytecode.serialized_code import SerializedCode
from ts.bytecode.typespec import result_spec, type_spec


@cache
def _operand_kinds(name: str) -> tuple[str, ...]:
    """Return the kinds (`_operand_kind`) of the operands of the opcode `name`."""
    return tuple(map(_operand_kind, BY_NAME[name].operands))


def _operand_kind(format: str) -> str:
    """Return the kind of an operand: "register", "label", or "pool" for an offset in the operand pool.

    Return "" for a plain number or table index, which is encoded unchanged.
    """
    if register_format(format):
        return "register"
    return "label" if format in "<>" else "pool" if format == "P" else ""


class OperandPool:
    """Register lists of instructions, each stored after its length. Equal lists share one entry."""

    def __init__(self) -> None:
        self._offsets: dict[tuple[int, ...], int] = {}
        self.items: list[int] = []

    def offset(self, registers: tuple[int, ...]) -> int:
        """Return the offset of a list, adding it if necessary."""
        offset = self._offsets.setdefault(registers, len(self.items))
        if offset == len(self.items):
            self.items += [len(registers), *registers]
        return offset


def assemble(low: Lowering) -> SerializedCode:
    """Allocate registers, and resolve labels and operand pool offsets."""
    registers, inputs = low.registers, low.graph.block().inputs()
    constants = set(registers.constant_values)
    allocator = RegisterAllocator(low.code, registers.classes, len(inputs), constants, registers.strings)
    real_register, real = allocator.run()
    code = optimize_bytecode(low.code, real_register)
    used_constants = sorted({r for i in code for r in i.reads if r in constants})
    for index, register in enumerate(used_constants, len(real)):
        real_register[register] = index
    target: dict[int, int] = {}
    position = 0
    for instruction in code:
        if instruction.name:
            position += 1
        else:
            target[id(instruction.a)] = position
    rows, lines, pool = [], [], OperandPool()
    line, stack = None, low.lines.stack_of(None)
    for instruction in code:
        if not instruction.name:
            continue
        encoded = [NUMBER[instruction.name]]
        operands = (instruction.a, instruction.b, instruction.c)
        for operand, kind in zip(operands, _operand_kinds(instruction.name), strict=True):
            if kind == "register":
                operand = real_register[operand] if operand >= 0 else ~operand
            elif kind == "label":
                operand = target[id(operand)]
            elif kind == "pool":
                operand = pool.offset(tuple([real_register[r] for r in instruction.register_list]))
            encoded.append(operand)
        rows.append(tuple(encoded))
        if instruction.line is not line:
            line = instruction.line
            stack = low.lines.stack_of(line)
        lines.append(stack)
    return SerializedCode(
        low.lines.name,
        rows,
        "".join([*real, *(registers.classes[r] for r in used_constants)]),
        [type_spec(value.type()) for value in inputs],
        [registers.constant_values[r] for r in used_constants],
        pool.items,
        low.operators.objects,
        low.functions.objects,
        [type_spec(type) for type in low.types.objects],
        lines,
        [
            (target[id(h.start)], target[id(h.end)], real_register[h.register], h.function)
            for h in low.handlers[::-1]
            if h.register in real_register
        ],
        result_spec(low.graph),
    )


def optimize_bytecode(code: list[Instruction], real_register: dict[int, int]) -> list[Instruction]:
    """Remove no-op copies and jumps, and invert jumps over a JUMP (peephole optimization, branch inversion).

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
    """Return whether `label` is bound at `index` of `code`, or later but before the next instruction."""
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
