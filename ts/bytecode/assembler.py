"""Assembler, which converts a lowering to a `SerializedCode`: register allocation and instruction encoding.

`ts._core.assembler` contains the algorithms. `assemble` adds the tables and constants to which the
instructions refer:

    low.code = [ADD_I64 %2, %0, %1; RETURN %2]      =>     rows (ADD_I64, 0, 0, 1), (RETURN, 0, 0, 0)
    %0 is a parameter, %1 the constant 7                   classes "ii", constants [7]
"""

from __future__ import annotations

from ts._core.assembler.encoding import encode, optimize
from ts._core.assembler.register_allocation import allocate_registers
from ts.bytecode.lowering import Lowering
from ts.bytecode.serialized_code import SerializedCode
from ts.bytecode.typespec import result_spec, type_spec


def assemble(low: Lowering) -> SerializedCode:
    """Allocate registers, and encode the instructions."""
    registers, inputs = low.registers, low.graph.block().inputs()
    constants = set(registers.constant_values)
    classes = "".join(registers.classes)
    real_registers, real_classes = allocate_registers(
        low.code, classes, len(inputs), constants, registers.strings
    )
    code = optimize(low.code, real_registers)
    read = {register for instruction in code for register in instruction.reads}
    used_constants = sorted(constants & read)
    for index, register in enumerate(used_constants, len(real_classes)):
        real_registers[register] = index
    rows, pool, stacks = encode(code, real_registers, low.lines.stack_of)
    return SerializedCode(
        low.lines.name,
        rows,
        real_classes + "".join([classes[r] for r in used_constants]),
        [type_spec(value.type()) for value in inputs],
        [registers.constant_values[r] for r in used_constants],
        pool,
        low.operators.objects,
        low.functions.objects,
        [type_spec(type) for type in low.types.objects],
        stacks,
        [
            (h.start.position, h.end.position, real_registers[h.register], h.function)
            for h in low.handlers[::-1]
            if real_registers[h.register] >= 0
        ],
        result_spec(low.graph),
    )
