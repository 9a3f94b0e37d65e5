"""Arithmetic chains of fusion groups. `fused_chains.pxd` describes the contract."""

from ts._core.tensor.ndarray cimport DOUBLE, FLOAT
from ts.backends.cpu.kernels.fused_plans cimport MAX_OPERANDS, MAX_SLOTS, NO_INDEX, FusedGroup, FusedPlan, TileOp
from ts.backends.cpu.kernels.row_loops cimport (
    CHAIN_ADD, CHAIN_DIVIDE, CHAIN_DIVIDE_INTO, CHAIN_MULTIPLY, CHAIN_SQUARE, CHAIN_SUBTRACT, CHAIN_SUBTRACT_FROM, MAX_CHAIN,
    NOT_ARITHMETIC, Arithmetic, Chain, RowLoops
)
from ts.backends.cpu.kernels.vector_math cimport row_loops_here

cdef const RowLoops *LOOPS = row_loops_here()


cdef Arithmetic arithmetic_operation(str name) except *:
    if name == "add":
        return CHAIN_ADD
    if name == "subtract":
        return CHAIN_SUBTRACT
    if name == "multiply":
        return CHAIN_MULTIPLY
    if name == "square":
        return CHAIN_SQUARE
    return CHAIN_DIVIDE if name in ("divide", "true_divide") else NOT_ARITHMETIC


cdef inline Arithmetic operation_on_second(Arithmetic operation) noexcept:
    """Return the operation of a chain whose value is the second operand of `operation`."""
    if operation == CHAIN_SUBTRACT:
        return CHAIN_SUBTRACT_FROM
    return CHAIN_DIVIDE_INTO if operation == CHAIN_DIVIDE else operation


cdef void mark_per_row_slots(FusedGroup g, FusedPlan plan, bint *per_row) noexcept:
    """Mark the slots with one element per row: results of reductions, and results of steps on such slots."""
    cdef TileOp *tile_op
    cdef bint has_rows, has_others
    cdef int i, e, k, slot
    for slot in range(plan.slots):
        per_row[slot] = False
    for e in range(g.epilogue_count):
        per_row[g.inputs + g.op_count + e] = g.reduces[e]
    for i in range(plan.count):
        tile_op = &plan.tile_ops[i]
        has_rows = has_others = False
        for k in range(tile_op.arity):
            slot = tile_op.operands[k]
            has_rows = has_rows or per_row[slot]
            has_others = has_others or not (per_row[slot] or plan.is_element[slot])
        per_row[tile_op.out] = has_rows and not has_others


cdef void count_readers(FusedGroup g, FusedPlan plan, int *readers) noexcept:
    """Count the operands that read each slot. Results of the group and inputs of epilogues count as read often."""
    cdef int i, e, k, slot
    for slot in range(plan.slots):
        readers[slot] = MAX_SLOTS if plan.is_required[slot] else 0
    for e in range(g.epilogue_count):
        readers[plan.epilogue_slot[e]] = MAX_SLOTS
    for i in range(plan.count):
        for k in range(plan.tile_ops[i].arity):
            readers[plan.tile_ops[i].operands[k]] += 1


cdef bint is_repeatable(FusedPlan plan, const bint *per_row, const int *readers, int step) noexcept:
    """Return whether every reader of the result of `step` is a step that can recompute it.

    `step` must have two operands, and exactly one of them must have whole rows (the other has one element, or
    one element per row).
    """
    cdef TileOp *tile_op = &plan.tile_ops[step]
    cdef TileOp *reader
    cdef int i, k, full = 0, merged_reads = 0
    if tile_op.arithmetic == NOT_ARITHMETIC or tile_op.chain != NO_INDEX or tile_op.arity != 2 or per_row[tile_op.out]:
        return False
    for k in range(2):
        full += not (per_row[tile_op.operands[k]] or plan.is_element[tile_op.operands[k]])
    for i in range(step + 1, plan.count):
        reader = &plan.tile_ops[i]
        if reader.arithmetic == NOT_ARITHMETIC or plan.kind[reader.out] != plan.kind[tile_op.out] or reader.chain != NO_INDEX:
            continue
        for k in range(reader.arity):
            merged_reads += reader.operands[k] == tile_op.out
    return full == 1 and merged_reads == readers[tile_op.out]


cdef Chain *new_chain(FusedPlan plan, TileOp *chain_op, TileOp *tile_op) noexcept:
    """Make `tile_op` a chain that begins with the operations of `chain_op`."""
    cdef Chain *chain = &plan.chains[plan.chain_count]
    cdef int i
    if chain_op.chain == NO_INDEX:
        chain.count, chain.operation[0] = 1, <Arithmetic>chain_op.arithmetic
    else:
        chain[0] = plan.chains[chain_op.chain]
    chain.then_exp = False
    for i in range(chain_op.arity):
        tile_op.operands[i] = chain_op.operands[i]
    tile_op.arity, tile_op.chain, tile_op.data = chain_op.arity, plan.chain_count, chain
    tile_op.function = LOOPS.chain_of_floats if plan.kind[tile_op.out] == FLOAT else LOOPS.chain_of_doubles
    plan.chain_count += 1
    return chain


cdef bint append_operation(FusedPlan plan, TileOp *chain_op, TileOp *tile_op, int k) noexcept:
    """Append the operation of `tile_op` to the chain of `chain_op`, whose result is operand k of `tile_op`.

    `tile_op` becomes the chain. Return False if the chain would be too long.
    """
    cdef Chain *chain
    cdef Arithmetic operation = <Arithmetic>tile_op.arithmetic
    cdef int other = tile_op.operands[1 - k]
    cdef bint is_square = operation == CHAIN_SQUARE or other == tile_op.operands[k]
    if is_square and operation not in (CHAIN_MULTIPLY, CHAIN_SQUARE):
        return False
    if chain_op.chain != NO_INDEX and plan.chains[chain_op.chain].count == MAX_CHAIN:
        return False
    if not is_square and chain_op.arity == MAX_OPERANDS:
        return False
    chain = new_chain(plan, chain_op, tile_op)
    chain.operation[chain.count] = CHAIN_SQUARE if is_square else operation_on_second(operation) if k else operation
    chain.count += 1
    if not is_square:
        tile_op.operands[tile_op.arity] = other
        tile_op.arity += 1
    return True


cdef void remove_steps(FusedGroup g, FusedPlan plan, const bint *removed) noexcept:
    cdef int position[MAX_SLOTS + 1]
    cdef int i, e, n = 0
    for i in range(plan.count):
        position[i] = n
        if removed[i]:
            plan.producer[plan.tile_ops[i].out] = NO_INDEX
            continue
        plan.tile_ops[n] = plan.tile_ops[i]
        plan.producer[plan.tile_ops[n].out] = n
        n += 1
    position[plan.count] = n
    plan.count = n
    for e in range(g.epilogue_count):
        plan.epilogue_position[e] = position[plan.epilogue_position[e]]


cdef void merge_arithmetic(FusedGroup g, FusedPlan plan) noexcept:
    cdef bint per_row[MAX_SLOTS]
    cdef bint removed[MAX_SLOTS]
    cdef bint repeatable[MAX_SLOTS]
    cdef int readers[MAX_SLOTS]
    cdef TileOp *tile_op
    cdef TileOp *producer_op
    cdef int i, k, slot, reads
    mark_per_row_slots(g, plan, per_row)
    count_readers(g, plan, readers)
    plan.chain_count = 0
    for i in range(plan.count):
        removed[i] = repeatable[i] = False
        tile_op = &plan.tile_ops[i]
        if (tile_op.arithmetic == NOT_ARITHMETIC and not tile_op.is_exp) or plan.kind[tile_op.out] not in (FLOAT, DOUBLE):
            continue
        for k in range(tile_op.arity):
            slot = tile_op.operands[k]
            if plan.producer[slot] == NO_INDEX or per_row[slot] != per_row[tile_op.out]:
                continue
            producer_op = &plan.tile_ops[plan.producer[slot]]
            reads = 2 if tile_op.arity == 2 and tile_op.operands[0] == tile_op.operands[1] else 1
            if producer_op.arithmetic == NOT_ARITHMETIC or not (readers[slot] == reads or repeatable[plan.producer[slot]]):
                continue
            if tile_op.is_exp:
                new_chain(plan, producer_op, tile_op).then_exp = True
            elif not append_operation(plan, producer_op, tile_op, k):
                continue
            readers[slot] -= reads
            removed[plan.producer[slot]] = readers[slot] == 0
            break
        repeatable[i] = is_repeatable(plan, per_row, readers, i)
    remove_steps(g, plan, removed)
