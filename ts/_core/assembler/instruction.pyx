"""Instructions during lowering, whose operands are virtual registers, labels and table indices.

Examples of an instruction and a label:

    Instruction("ADD_I64", 7, 3, 4)          reads the registers 3 and 4, and writes the register 7
    Instruction("", label)                   marks the position of a label
"""

from ts._core.vm.opcodes cimport JUMP, LOOP, OPCODE_COUNT, OPCODE_INFO, RAISE, RETURN

cdef list NAMES = [OPCODE_INFO[i].name.decode() for i in range(OPCODE_COUNT)]
cdef dict NUMBERS = {name: op for op, name in enumerate(NAMES)}
cdef dict KIND_OF_FORMAT = {
    "-": NUMBER_OPERAND, "#": NUMBER_OPERAND, "T": NUMBER_OPERAND, "O": NUMBER_OPERAND, "F": NUMBER_OPERAND,
    "<": LABEL_OPERAND, ">": LABEL_OPERAND, "P": POOL_OPERAND,
}


cdef struct OperandFormat:
    OperandKind kind
    bint read                    # True for a register that the instruction reads
    bint written


cdef OperandFormat[OPCODE_COUNT][3] FORMATS


cdef int fill_formats() except -1:
    cdef int op, i
    for op in range(OPCODE_COUNT):
        for i, format in enumerate(OPCODE_INFO[op].format.decode().split()):
            kind = KIND_OF_FORMAT.get(format, REGISTER_OPERAND)
            is_register = kind == REGISTER_OPERAND
            FORMATS[op][i] = OperandFormat(kind, is_register and format[0] != "=", is_register and format[0] in "=+")
    return 0


fill_formats()


cdef OperandKind operand_kind(int op, int i) noexcept:
    return FORMATS[op][i].kind


cdef bint is_terminator(int op) noexcept:
    return op == JUMP or op == LOOP or op == RETURN or op == RAISE


cdef class Label:
    pass


cdef class Instruction:
    def __init__(
        self, str name not None, a=0, b=0, c=0, register_list=(), Py_ssize_t results=0, line=None, int depth=0, tuple keeps not None=()
    ):
        """Create an instruction with opcode `name`, or the mark of label `a` if `name` is "".

        `register_list` contains the registers of a list operand. The instruction writes the last `results`
        registers of the list, and reads the others. The registers `keeps` are not operands, but must keep
        their values up to the instruction. `depth` is the number of branches and loops around the
        instruction.
        """
        cdef int i
        cdef list reads = [], writes = []
        self.a, self.b, self.c = a, b, c
        self.register_list, self.line, self.depth = register_list, line, depth
        self.reads = self.writes = ()
        self.op = NUMBERS[name] if name else LABEL
        if self.op == LABEL:
            return
        for i, operand in enumerate((a, b, c)):
            if FORMATS[self.op][i].read:
                reads.append(operand)
            if FORMATS[self.op][i].written:
                writes.append(operand)
        if register_list:  # the registers of a list are after the registers of all single operands
            reads.extend(register_list[: len(register_list) - results])
            writes.extend(register_list[len(register_list) - results :])
        if keeps:
            reads.extend(keeps)
        self.reads, self.writes = tuple(reads), tuple(writes)

    @property
    def name(self):
        """Name of the opcode, or an empty string if the instruction marks a label."""
        return "" if self.op == LABEL else NAMES[self.op]

    @property
    def target(self):
        """Target label of a jump, or None for other instructions."""
        return self.jump_target()

    cdef Label jump_target(self):
        return <Label?>self.a if self.op != LABEL and FORMATS[self.op][0].kind == LABEL_OPERAND else None


cdef int check_instructions(list code) except -1:
    for item in code:
        if type(item) is not Instruction:
            raise TypeError(f"expected an Instruction, got {item!r}")
    return 0
