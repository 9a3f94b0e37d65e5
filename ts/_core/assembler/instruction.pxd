"""Instructions during lowering, whose operands are virtual registers, labels and table indices."""

cimport cython


cdef enum OperandKind:
    NUMBER_OPERAND               # a number or table index, which is encoded unchanged
    REGISTER_OPERAND
    LABEL_OPERAND
    POOL_OPERAND                 # offset of a register list in the operand pool


@cython.final
cdef class Label:
    """Position in the code to which instructions jump."""
    cdef public int position     # index of the instruction after the label. `encode` sets it.


@cython.final
cdef class Instruction:
    """Instruction, or the mark of a label."""
    cdef int op                       # opcode, or LABEL
    cdef readonly object a, b, c      # operands: virtual registers, numbers or labels
    cdef readonly object register_list
    # virtual registers that the instruction reads and writes, including those of the list
    cdef readonly tuple reads, writes
    cdef readonly object line         # source position
    cdef readonly int depth           # number of branches and loops around the instruction

    cdef Label jump_target(self)


cdef enum:
    LABEL = -1                   # value of `Instruction.op` that marks a label

# Return the kind of operand number `i` (0 to 2) of opcode `op`.
cdef OperandKind operand_kind(int op, int i) noexcept
# Raise TypeError if an item of `code` is not an instruction.
cdef int check_instructions(list code) except -1
# Return whether the instruction after an instruction with opcode `op` is only reached by jumps.
cdef bint is_terminator(int op) noexcept
