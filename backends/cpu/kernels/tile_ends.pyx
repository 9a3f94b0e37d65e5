"""Epilogues of fusion groups; `tile_ends.pxd` describes the contract."""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, invoke
from ts._core.tensor.ndarray cimport DOUBLE, PyArrayObject, data_of, new_array
from ts._core.tensor.tensor cimport number_of_scalar_type
from ts._core.value.ivalue cimport IValue, TAG_NONE, release
from ts.backends.cpu.kernels.elementwise cimport item_size
from ts.backends.cpu.kernels.kernel cimport new_contiguous, set_result
from ts.backends.cpu.kernels.reduce cimport BLOCK
from ts.backends.cpu.kernels.tile_places cimport EndPlace, Run
from ts.backends.cpu.kernels.tile_plans cimport MAX_EPILOGUE_ARGUMENTS, NO_INDEX, FusedGroup, FusedPlan

cnp.import_array()

cdef enum:
    MAX_ROW_BYTES = 1 << 17            # longer rows do not stay in the L2 cache
    CACHE_LINE_BYTES = 64


cdef inline npy_intp block_count(npy_intp row) noexcept nogil:
    return (row + BLOCK - 1) // BLOCK


cdef void reset_epilogues(FusedGroup g, FusedPlan plan, Run *run) noexcept:
    cdef int e
    run.ends.count = run.ends.placed = 0
    run.ends.bytes = 0
    for e in range(g.ends):
        run.place[plan.end_slot[e]].data = NULL
        run.ends.result[e] = NULL


cdef int add_epilogue(
    FusedGroup g, FusedPlan plan, Run *run, int e, IValue *r, const int32_t *at, int ndim, const npy_intp *dims, list held
) except -1:
    cdef IValue *others[MAX_EPILOGUE_ARGUMENTS]
    cdef EndPlace *place = &run.ends.each[run.ends.count]
    cdef int slot = plan.end_slot[e], k
    cdef bint in_blocks
    cdef npy_intp count
    cdef object result, totals
    if g.end_read[e] == NULL:
        return 0
    for k in range(1, g.end_arity[e]):
        others[k - 1] = &r[at[g.end_operands[e][k]]]
    place.end.source, place.end.block, place.end.n = plan.kind[slot], NULL, 0
    if not g.end_read[e](plan.kind[slot], ndim, dims, others, &place.end) or place.end.n <= 0:
        return 0
    in_blocks = place.end.n > plan.tile and place.end.block != NULL
    if not in_blocks and place.end.n * item_size(plan.kind[slot]) > MAX_ROW_BYTES:
        return 0
    if run.ends.count == 0:
        run.ends.row = place.end.n
        run.ends.chunks_of_row = (place.end.n + plan.tile - 1) // plan.tile if in_blocks else 1
        run.ends.chunk = plan.tile if in_blocks else max(<npy_intp>1, plan.tile // place.end.n) * place.end.n
    elif place.end.n != run.ends.row or in_blocks != (run.ends.chunks_of_row > 1):
        return 0
    result = new_contiguous(place.end.ndim, place.end.dims, place.end.kind)
    held.append(result)
    run.ends.result[e] = <PyObject *>result
    place.out = data_of(<PyArrayObject *>result)
    if in_blocks:
        count = run.size // run.ends.row * block_count(run.ends.row)
        totals = new_array(1, &count, number_of_scalar_type(DOUBLE))
        place.totals = <double *>data_of(<PyArrayObject *>totals)
        held.append(totals)
    place.slot = slot
    run.ends.placed |= 1 << e
    run.ends.count += 1
    return 0


cdef void assign_row_memory(FusedPlan plan, Run *run) noexcept:
    cdef EndPlace *place
    cdef npy_intp bytes
    cdef int i, k
    for i in range(run.ends.count):
        place = &run.ends.each[i]
        place.memory = NO_INDEX
        if run.place[place.slot].data != NULL:
            continue
        for k in range(i):
            if run.ends.each[k].slot == place.slot:
                place.memory = run.ends.each[k].memory
        if place.memory == NO_INDEX:
            bytes = run.ends.chunk * item_size(plan.kind[place.slot])
            place.memory = run.ends.bytes
            run.ends.bytes += (bytes + CACHE_LINE_BYTES - 1) // CACHE_LINE_BYTES * CACHE_LINE_BYTES


cdef bint is_fully_fused(FusedGroup g, FusedPlan plan, Run *run, int slot) noexcept:
    cdef int e
    for e in range(g.ends):
        if plan.end_slot[e] == slot and not run.ends.placed >> e & 1:
            return False
    return True


cdef npy_intp chunk_count(FusedPlan plan, Run *run) noexcept nogil:
    if run.ends.count == 0:
        return (run.size + plan.tile - 1) // plan.tile
    if run.ends.chunks_of_row > 1:
        return run.size // run.ends.row * run.ends.chunks_of_row
    return (run.size + run.ends.chunk - 1) // run.ends.chunk


cdef void begin_chunk(FusedPlan plan, Run *run, npy_intp chunk_index, char *memory, npy_intp *start, npy_intp *end) noexcept nogil:
    cdef EndPlace *place
    cdef npy_intp item, row = chunk_index // run.ends.chunks_of_row * run.ends.row
    cdef int i
    if run.ends.chunks_of_row > 1:
        start[0] = row + chunk_index % run.ends.chunks_of_row * run.ends.chunk
        end[0] = min(start[0] + run.ends.chunk, row + run.ends.row)
    else:
        start[0] = chunk_index * run.ends.chunk
        end[0] = min(start[0] + run.ends.chunk, run.size)
    for i in range(run.ends.count):
        place = &run.ends.each[i]
        if place.memory != NO_INDEX:
            item = item_size(plan.kind[place.slot])
            run.place[place.slot].step = run.place[place.slot].advance = item
            run.place[place.slot].data = memory + place.memory - start[0] * item


cdef void end_chunk(FusedPlan plan, Run *run, npy_intp start, npy_intp end) noexcept nogil:
    cdef EndPlace *place
    cdef npy_intp item, at, row = start // run.ends.row
    cdef double *total
    cdef char *x
    cdef int i
    for i in range(run.ends.count):
        place = &run.ends.each[i]
        item = item_size(plan.kind[place.slot])
        x = run.place[place.slot].data + start * item
        if run.ends.chunks_of_row == 1:
            place.end.function(
                &place.end, x, (end - start) // run.ends.row, place.out + row * place.end.row_results * item_size(place.end.kind)
            )
            continue
        total = place.totals + row * block_count(run.ends.row) + (start - row * run.ends.row) // BLOCK
        at = 0
        while at < end - start:
            total[0] = place.end.block(x + at * item, min(<npy_intp>BLOCK, end - start - at))
            total += 1
            at += BLOCK


cdef void combine_partial_sums(Run *run, npy_intp size) noexcept nogil:
    cdef EndPlace *place
    cdef npy_intp row, k, count
    cdef double total
    cdef int i
    if run.ends.count == 0 or run.ends.chunks_of_row == 1:
        return
    count = block_count(run.ends.row)
    for i in range(run.ends.count):
        place = &run.ends.each[i]
        for row in range(size // run.ends.row):
            total = 0
            for k in range(count):
                total += place.totals[row * count + k]
            place.end.finish(&place.end, total, place.out + row * item_size(place.end.kind))


cdef int run_separate_epilogues(FusedGroup g, FusedPlan plan, Run *run, IValue *r, const int32_t *at, list held) except -1:
    cdef int e
    for e in range(g.ends):
        if run.ends.result[e] == NULL:
            result = run_separate_epilogue(g, plan, e, <object>run.array[plan.end_slot[e]], r, at)
            held.append(result)
            run.ends.result[e] = <PyObject *>result
    return 0


cdef object run_separate_epilogue(FusedGroup g, FusedPlan plan, int e, object array, IValue *r, const int32_t *at):
    cdef IValue registers[MAX_EPILOGUE_ARGUMENTS + 1]
    cdef int32_t places[MAX_EPILOGUE_ARGUMENTS + 1]
    cdef Operator op = <Operator>g.end_operators[e]
    cdef int k, arity = g.end_arity[e]
    for k in range(arity + 1):
        places[k] = k
        registers[k].tag = TAG_NONE
    set_result(&registers[0], array, plan.kind[plan.end_slot[e]])
    for k in range(1, arity):
        registers[k] = r[at[g.end_operands[e][k]]]  # borrowed references, owned by the caller's registers
    try:
        invoke(op, registers, places)
        return <object>registers[arity].v.o
    finally:
        release(&registers[0])
        release(&registers[arity])
