"""Assembler: encodes the instructions of a lowering as a `SerializedCode`.

In: instructions with virtual registers and labels. Out: instructions with real registers, instruction indices
and offsets in the operand pool, and the tables to which they refer.
"""

from __future__ import annotations

from functools import cache

from ts.bytecode.bytecode_peephole import optimize_bytecode
from ts.bytecode.lowering import Lowering
from ts.bytecode.opcodes import BY_NAME, NUMBER, register_format
from ts.bytecode.register_allocation import RegisterAllocator
from ts.bytecode.serialized_code import SerializedCode
from ts.bytecode.tables import OperandPool
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
