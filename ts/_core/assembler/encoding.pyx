"""Instruction encoding and label resolution, after register allocation.

Virtual registers are replaced by real registers, and labels by instruction indices. A peephole optimization
removes no-ops and inverts jumps over jumps:

    MOVE r1, r1                           JUMP_LE_I64 end, r2, r0
    JUMP_LT_I64 body, r0, r2            body:
    JUMP end                     =>
  body:
"""

from ts._core.assembler.instruction cimport (
    LABEL, LABEL_OPERAND, POOL_OPERAND, REGISTER_OPERAND, Instruction, Label, OperandKind, check_instructions,
    operand_kind,
)
from ts._core.vm.opcodes cimport COPY, JUMP, LOOP_STEP, MOVE, TAKE

# opcode of a jump -> (opcode that jumps in the opposite case, whether its operands are swapped)
cdef dict INVERSE = {
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


def optimize(list code, list real_registers):
    """Return the code without no-op copies and jumps, and with inverted jumps over a JUMP.

    A conditional jump over a JUMP is inverted and gets the target of the JUMP (branch inversion).
    """
    cdef bint changed = True
    cdef list result
    cdef Instruction instruction, previous
    cdef Label target
    cdef Py_ssize_t index
    check_instructions(code)
    code = [instruction for instruction in code if not is_no_op(instruction, real_registers)]
    while changed:
        changed = False
        result = []
        previous = None
        for index, instruction in enumerate(code):
            target = instruction.jump_target()
            if target is not None and instruction.op != LOOP_STEP and is_label_next(code, index + 1, target):
                changed = True
                continue
            if instruction.op == JUMP and previous is not None and previous.name in INVERSE:
                if is_label_next(code, index + 1, previous.jump_target()):
                    instruction = result[len(result) - 1] = invert(previous, instruction.a)
                    previous = instruction
                    changed = True
                    continue
            result.append(instruction)
            previous = instruction
        code = result
    return code


cdef bint is_no_op(Instruction instruction, list real_registers) except -1:
    """Return whether an instruction copies a real register to itself."""
    if instruction.op != MOVE and instruction.op != COPY and instruction.op != TAKE:
        return False
    return real_registers[instruction.a] == real_registers[instruction.b]


cdef Instruction invert(Instruction jump, Label target):
    """Return a jump to `target` that is taken if the conditional jump `jump` is not taken."""
    name, swapped = INVERSE[jump.name]
    b, c = (jump.c, jump.b) if swapped else (jump.b, jump.c)
    return Instruction(name, target, b, c, line=jump.line, depth=jump.depth)


cdef bint is_label_next(list code, Py_ssize_t index, Label label) except -1:
    """Return whether `label` is bound at `index` of `code`, or later but before the next instruction."""
    while index < len(code) and (<Instruction>code[index]).op == LABEL:
        if (<Instruction>code[index]).a is label:
            return True
        index += 1
    return False


def encode(list code, list real_registers, stack_of):
    """Return (rows, operand pool, call stacks) of instructions, and set the positions of their labels.

    A row is (opcode, a, b, c). The operand pool contains the register lists, each after its length. Equal
    lists share one entry. The third result is `stack_of(instruction.line)` for each instruction.
    """
    cdef list rows = [], pool = [], stacks = []
    cdef dict offsets = {}            # register list -> offset in the pool
    cdef Instruction instruction
    cdef Py_ssize_t position = 0
    cdef object line = None, stack = stack_of(None)
    check_instructions(code)
    for instruction in code:
        if instruction.op == LABEL:
            (<Label?>instruction.a).position = position
        else:
            position += 1
    for instruction in code:
        if instruction.op == LABEL:
            continue
        rows.append((
            instruction.op,
            encode_operand(instruction, 0, instruction.a, real_registers, offsets, pool),
            encode_operand(instruction, 1, instruction.b, real_registers, offsets, pool),
            encode_operand(instruction, 2, instruction.c, real_registers, offsets, pool),
        ))
        if instruction.line is not line:
            line = instruction.line
            stack = stack_of(line)
        stacks.append(stack)
    return rows, pool, stacks


cdef object encode_operand(Instruction instruction, int i, object operand, list real_registers, dict offsets, list pool):
    cdef OperandKind kind = operand_kind(instruction.op, i)
    cdef int register
    if kind == REGISTER_OPERAND:
        register = operand
        if register >= len(real_registers):
            raise IndexError(f"register {register} of {len(real_registers)}")
        return real_registers[register] if register >= 0 else ~register
    if kind == LABEL_OPERAND:
        return (<Label?>operand).position
    if kind == POOL_OPERAND:
        return pool_offset(tuple([real_registers[r] for r in instruction.register_list]), offsets, pool)
    return operand


cdef object pool_offset(tuple registers, dict offsets, list pool):
    """Return the offset of a register list in the pool, adding it if necessary."""
    offset = offsets.get(registers)
    if offset is None:
        offset = offsets[registers] = len(pool)
        pool.append(len(registers))
        pool.extend(registers)
    return offset
