"""Epilogues of fusion groups. `fused_epilogues.pxd` describes the contract."""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, invoke
from ts._core.tensor.ndarray cimport DOUBLE, PyArrayObject, data_of, new_array
from ts._core.tensor.scalar_types cimport number_of_scalar_type
from ts._core.value.ivalue cimport IValue, TAG_NONE, release
from ts.backends.cpu.kernels.elementwise cimport item_size
from ts.backends.cpu.kernels.kernel cimport new_contiguous, set_result
from ts.backends.cpu.kernels.reduce cimport BLOCK
from ts.backends.cpu.kernels.fused_operands cimport MAX_ROW_MEMORIES, RowMemory, Run, StageEpilogue
from ts.backends.cpu.kernels.fused_plans cimport MAX_EPILOGUE_ARGUMENTS, NO_INDEX, FusedGroup, FusedPlan

cnp.import_array()

cdef enum:
    CACHE_LINE_BYTES = 64


cdef inline npy_intp block_count(npy_intp row) noexcept nogil:
    return (row + BLOCK - 1) // BLOCK


cdef void reset_epilogues(FusedGroup g, FusedPlan plan, Run *run) noexcept:
    cdef int e
    run.epilogues.count = run.epilogues.placed = 0
    run.epilogues.bytes = 0
    run.epilogues.memories = run.rows.count = 0
    for e in range(g.epilogue_count):
        run.address[plan.epilogue_slot[e]].data = NULL
        run.epilogues.result[e] = NULL


cdef int add_epilogue(
    FusedGroup g, FusedPlan plan, Run *run, int e, IValue *r, const int32_t *at, int ndim, const npy_intp *dims, list owners
) except -1:
    cdef IValue *others[MAX_EPILOGUE_ARGUMENTS]
    cdef StageEpilogue *epilogue = &run.epilogues.each[run.epilogues.count]
    cdef int slot = plan.epilogue_slot[e], k
    cdef bint in_blocks
    cdef npy_intp count
    cdef object result, totals
    if g.epilogue_read[e] == NULL:
        return 0
    for k in range(1, g.epilogue_arity[e]):
        others[k - 1] = &r[at[g.epilogue_operands[e][k]]]
    epilogue.args.source, epilogue.args.sum_blocks, epilogue.args.n = plan.kind[slot], NULL, 0
    if not g.epilogue_read[e](plan.kind[slot], ndim, dims, others, &epilogue.args) or epilogue.args.n <= 0:
        return 0
    in_blocks = epilogue.args.n > plan.tile and epilogue.args.sum_blocks != NULL
    epilogue.totals = NULL
    if not in_blocks and epilogue.args.n * item_size(plan.kind[slot]) > MAX_ROW_BYTES:
        return 0
    if run.epilogues.count == 0:
        run.epilogues.row = epilogue.args.n
        run.epilogues.chunks_of_row = (epilogue.args.n + plan.tile - 1) // plan.tile if in_blocks else 1
        run.epilogues.chunk = plan.tile if in_blocks else max(<npy_intp>1, plan.tile // epilogue.args.n) * epilogue.args.n
    elif epilogue.args.n != run.epilogues.row or in_blocks != (run.epilogues.chunks_of_row > 1):
        return 0
    result = new_contiguous(epilogue.args.ndim, epilogue.args.dims, epilogue.args.kind)
    owners.append(result)
    run.epilogues.result[e] = <PyObject *>result
    epilogue.out = data_of(<PyArrayObject *>result)
    if in_blocks:
        count = run.size // run.epilogues.row * block_count(run.epilogues.row)
        totals = new_array(1, &count, number_of_scalar_type(DOUBLE))
        epilogue.totals = <double *>data_of(<PyArrayObject *>totals)
        owners.append(totals)
    epilogue.slot, epilogue.stage = slot, 0
    run.epilogues.placed |= 1 << e
    run.epilogues.count += 1
    return 0


cdef void assign_row_memory(FusedPlan plan, Run *run) noexcept:
    cdef int i, k, slot
    run.epilogues.memories = 0
    for i in range(run.epilogues.count):
        slot = run.epilogues.each[i].slot
        if run.address[slot].data != NULL:
            continue
        for k in range(run.epilogues.memories):
            if run.epilogues.memory[k].slot == slot:
                break
        else:
            allocate_row_memory(plan, run, slot, False, NO_INDEX)


cdef bint allocate_row_memory(FusedPlan plan, Run *run, int slot, bint of_rows, int epilogue) noexcept:
    cdef RowMemory *memory = &run.epilogues.memory[run.epilogues.memories]
    cdef npy_intp bytes = run.epilogues.chunk * item_size(plan.kind[slot])
    if run.epilogues.memories == MAX_ROW_MEMORIES:
        return False
    if of_rows:
        bytes //= run.epilogues.row
    memory.slot, memory.offset, memory.of_rows, memory.epilogue = slot, run.epilogues.bytes, of_rows, epilogue
    run.epilogues.bytes += (bytes + CACHE_LINE_BYTES - 1) // CACHE_LINE_BYTES * CACHE_LINE_BYTES
    run.epilogues.memories += 1
    return True


cdef bint is_fully_fused(FusedGroup g, FusedPlan plan, Run *run, int slot) noexcept:
    cdef int e
    for e in range(g.epilogue_count):
        if plan.epilogue_slot[e] == slot and not run.epilogues.placed >> e & 1:
            return False
    return True


cdef npy_intp chunk_count(FusedPlan plan, Run *run) noexcept nogil:
    if run.epilogues.count == 0:
        return (run.size + plan.tile - 1) // plan.tile
    if run.epilogues.chunks_of_row > 1:
        return run.size // run.epilogues.row * run.epilogues.chunks_of_row
    return (run.size + run.epilogues.chunk - 1) // run.epilogues.chunk


cdef void begin_chunk(FusedPlan plan, Run *run, npy_intp chunk_index, char *memory, npy_intp *start, npy_intp *end) noexcept nogil:
    cdef RowMemory *rows
    cdef char *data
    cdef npy_intp item, row = chunk_index // run.epilogues.chunks_of_row * run.epilogues.row
    cdef int i
    if run.epilogues.chunks_of_row > 1:
        start[0] = row + chunk_index % run.epilogues.chunks_of_row * run.epilogues.chunk
        end[0] = min(start[0] + run.epilogues.chunk, row + run.epilogues.row)
    else:
        start[0] = chunk_index * run.epilogues.chunk
        end[0] = min(start[0] + run.epilogues.chunk, run.size)
    for i in range(run.epilogues.memories):
        rows = &run.epilogues.memory[i]
        item = item_size(plan.kind[rows.slot])
        if rows.of_rows:
            data = run.rows.data[rows.slot] = memory + rows.offset - start[0] // run.epilogues.row * item
        else:
            data = run.address[rows.slot].data = memory + rows.offset - start[0] * item
            run.address[rows.slot].stride = run.address[rows.slot].advance = item
        if rows.epilogue != NO_INDEX:
            run.epilogues.each[rows.epilogue].out = data


cdef void end_chunk(FusedPlan plan, Run *run, int stage, npy_intp start, npy_intp end) noexcept nogil:
    cdef StageEpilogue *epilogue
    cdef npy_intp item, row
    cdef char *x
    cdef int i
    for i in range(run.epilogues.count):
        epilogue = &run.epilogues.each[i]
        if epilogue.stage != stage:
            continue
        item = item_size(plan.kind[epilogue.slot])
        x = run.address[epilogue.slot].data + start * item
        row = start // epilogue.args.n
        if epilogue.totals == NULL:
            epilogue.args.function(
                &epilogue.args, x, (end - start) // epilogue.args.n, epilogue.out + row * epilogue.args.row_results * item_size(epilogue.args.kind)
            )
            continue
        epilogue.args.sum_blocks(x, end - start, epilogue.totals + row * block_count(epilogue.args.n) + (start - row * epilogue.args.n) // BLOCK)


cdef void combine_partial_sums(Run *run, npy_intp size) noexcept nogil:
    cdef StageEpilogue *epilogue
    cdef npy_intp row, k, count
    cdef double total
    cdef int i
    for i in range(run.epilogues.count):
        epilogue = &run.epilogues.each[i]
        if epilogue.totals == NULL:
            continue
        count = block_count(epilogue.args.n)
        for row in range(size // epilogue.args.n):
            total = 0
            for k in range(count):
                total += epilogue.totals[row * count + k]
            epilogue.args.finish(&epilogue.args, total, epilogue.out + row * item_size(epilogue.args.kind))


cdef int run_separate_epilogues(FusedGroup g, FusedPlan plan, Run *run, IValue *r, const int32_t *at, list owners) except -1:
    cdef int e
    for e in range(g.epilogue_count):
        if run.epilogues.result[e] == NULL:
            result = run_separate_epilogue(g, plan, e, <object>run.array[plan.epilogue_slot[e]], r, at)
            owners.append(result)
            run.epilogues.result[e] = <PyObject *>result
    return 0


cdef object run_separate_epilogue(FusedGroup g, FusedPlan plan, int e, object array, IValue *r, const int32_t *at):
    cdef IValue registers[MAX_EPILOGUE_ARGUMENTS + 1]
    cdef int32_t positions[MAX_EPILOGUE_ARGUMENTS + 1]
    cdef Operator op = <Operator>g.epilogue_operators[e]
    cdef int k, arity = g.epilogue_arity[e]
    for k in range(arity + 1):
        positions[k] = k
        registers[k].tag = TAG_NONE
    set_result(&registers[0], array, plan.kind[plan.epilogue_slot[e]])
    for k in range(1, arity):
        registers[k] = r[at[g.epilogue_operands[e][k]]]  # borrowed references, owned by the caller's registers
    try:
        invoke(op, registers, positions)
        return <object>registers[arity].v.o
    finally:
        release(&registers[0])
        release(&registers[arity])
