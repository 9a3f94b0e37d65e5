"""Stages of fusion groups that continue after epilogues. `fused_rows.pxd` describes the contract."""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint32_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport DOUBLE, PyArrayObject, data_of, new_array
from ts._core.tensor.scalar_types cimport number_of_scalar_type
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.elementwise cimport item_size
from ts.backends.cpu.kernels.kernel cimport new_contiguous
from ts.backends.cpu.kernels.kernel_registry cimport EpilogueArgs
from ts.backends.cpu.kernels.fused_epilogues cimport MAX_ROW_BYTES, allocate_row_memory
from ts.backends.cpu.kernels.fused_operands cimport MAX_GATHERS, MAX_RANK, MAX_ROW_READS, ROW_ELEMENT, ROW_VECTOR, Gather, Layout, Run, StageEpilogue
from ts.backends.cpu.kernels.fused_operands cimport address_input, new_slot_array, set_contiguous_strides, set_input_strides
from ts.backends.cpu.kernels.fused_plans cimport A_TENSOR, MAX_BUFFERS, MAX_EPILOGUE_ARGUMENTS, MAX_SLOTS, MAX_STAGES, NO_INDEX
from ts.backends.cpu.kernels.fused_plans cimport FusedGroup, FusedPlan, TileOp
from ts.backends.cpu.kernels.reduce cimport BLOCK

cnp.import_array()

cdef enum:
    # Rows of fewer elements are processed several at a time. Single elements and vectors are then repeated in a
    # tile buffer.
    MIN_SINGLE_ROW = 64

cdef enum SlotKind:
    ELEMENT                            # number or 0-dim tensor
    SINGLE                             # tensor with one element and at least one dimension
    PER_ROW                            # one element per row
    FULL                               # whole rows


ctypedef struct RowLayout:
    Layout layout
    npy_intp n                         # number of elements of a row
    npy_intp rows
    uint32_t row_dims                  # bit set of the dimensions before the row, in which the size is not 1
    uint32_t column_dims               # bit set of the dimensions of a row in which the size is not 1
    SlotKind kind[MAX_SLOTS]
    int stage[MAX_SLOTS]               # slot -> first stage that can read it
    # Slot -> number + 1 of an epilogue without `keepdim` whose result has the same shape, or 0. Such a slot does
    # not broadcast to whole rows.
    int reduced_shape[MAX_SLOTS]
    int stages
    int step_stage[MAX_SLOTS]          # step -> its stage


# ---------------------------------------------------------------- rows and shapes

cdef bint is_sum_of_all(FusedGroup g, Run *run, Layout *layout, int e) noexcept:
    """Return whether an epilogue sums all elements and can be split into blocks."""
    cdef EpilogueArgs *args = &run.epilogues.each[e].args
    return not g.is_read[e] and args.ndim == 0 and args.sum_blocks != NULL and args.n == layout.size


cdef bint read_epilogues(FusedGroup g, FusedPlan plan, Run *run, RowLayout *rows, IValue *r, const int32_t *at) except -1:
    """Set the arguments of all epilogues and the row length.

    Return False unless all epilogues read rows of the same length. A sum of all elements is an exception if no
    operation of the group reads the sum.
    """
    cdef IValue *others[MAX_EPILOGUE_ARGUMENTS]
    cdef EpilogueArgs *args
    cdef Layout *layout = &rows.layout
    cdef npy_intp length = 1
    cdef int e, k, d, first
    rows.n = 0
    for e in range(g.epilogue_count):
        if g.epilogue_read[e] == NULL:
            return False
        for k in range(1, g.epilogue_arity[e]):
            others[k - 1] = &r[at[g.epilogue_operands[e][k]]]
        args = &run.epilogues.each[e].args
        args.source, args.sum_blocks, args.n = plan.kind[plan.epilogue_slot[e]], NULL, 0
        if not g.epilogue_read[e](args.source, layout.ndim, layout.shape, others, args):
            return False
        if g.is_read[e] and (args.ndim == 0 or args.kind != plan.kind[g.inputs + g.op_count + e]):
            return False
        if args.row_results != 1 and args.row_results != args.n:
            return False
        if is_sum_of_all(g, run, layout, e):
            continue
        if args.n < 2 or args.n * item_size(args.source) > MAX_ROW_BYTES or (rows.n and args.n != rows.n):
            return False
        rows.n = args.n
    if rows.n == 0:
        return False
    rows.rows = layout.size // rows.n
    rows.row_dims = rows.column_dims = 0
    d = layout.ndim
    while length < rows.n:
        d -= 1
        if d < 0:
            return False
        length *= layout.shape[d]
        if layout.shape[d] != 1:
            rows.column_dims |= <uint32_t>1 << d
    first = d
    for d in range(first):
        if layout.shape[d] != 1:
            rows.row_dims |= <uint32_t>1 << d
    return length == rows.n and rows.n * rows.rows == layout.size


cdef void classify_inputs(FusedGroup g, FusedPlan plan, RowLayout *rows) noexcept:
    cdef Layout *layout = &rows.layout
    cdef int slot
    for slot in range(plan.slots):
        rows.kind[slot], rows.stage[slot], rows.reduced_shape[slot] = ELEMENT, 0, 0
        if slot < g.inputs and plan.guards[slot] & A_TENSOR:
            if layout.longs[slot] & rows.column_dims:
                rows.kind[slot] = FULL
            elif layout.longs[slot]:
                rows.kind[slot], rows.stage[slot] = PER_ROW, 1
            else:
                rows.kind[slot] = SINGLE


cdef bint place_epilogue(FusedGroup g, FusedPlan plan, Run *run, RowLayout *rows, int e) noexcept:
    """Set the stage of an epilogue, and the shape of its result. Return False if it does not read whole rows."""
    cdef Layout *layout = &rows.layout
    cdef StageEpilogue *epilogue = &run.epilogues.each[e]
    cdef int source = plan.epilogue_slot[e], slot = g.inputs + g.op_count + e, d
    cdef uint32_t longs = rows.row_dims | rows.column_dims
    if rows.kind[source] != FULL or layout.longs[source] != longs or layout.rank[source] != layout.ndim:
        return False
    if not layout.is_contiguous[source]:
        return False
    epilogue.slot, epilogue.stage, epilogue.totals = source, rows.stage[source], NULL
    rows.stages = max(rows.stages, epilogue.stage + 1)
    layout.rank[slot] = layout.ndim
    rows.reduced_shape[slot] = 0
    if epilogue.args.row_results != 1:
        rows.kind[slot], rows.stage[slot], layout.longs[slot] = FULL, epilogue.stage + 2, longs
        layout.is_contiguous[slot] = True
        return True
    rows.kind[slot], rows.stage[slot], layout.longs[slot] = PER_ROW, epilogue.stage + 1, rows.row_dims
    if epilogue.args.ndim != layout.ndim:
        rows.reduced_shape[slot] = e + 1
        return True
    for d in range(layout.ndim):
        if epilogue.args.dims[d] != (1 if rows.column_dims >> d & 1 else layout.shape[d]):
            rows.reduced_shape[slot] = e + 1
    return True


cdef bint equal_dims(const EpilogueArgs *a, const EpilogueArgs *b) noexcept:
    cdef int d
    if a.ndim != b.ndim:
        return False
    for d in range(a.ndim):
        if a.dims[d] != b.dims[d]:
            return False
    return True


cdef bint place_step(FusedPlan plan, Run *run, RowLayout *rows, int step) noexcept:
    """Set the stage of a step and the shape of its result. Return False if the shape is unsupported."""
    cdef Layout *layout = &rows.layout
    cdef TileOp *tile_op = &plan.tile_ops[step]
    cdef int out = tile_op.out, full_stage = 0, row_stage = 1, reduced = 0, k, slot
    cdef bint has_full = False, has_rows = False, has_kept = False
    layout.rank[out], layout.longs[out] = 0, 0
    for k in range(tile_op.arity):
        slot = tile_op.operands[k]
        if rows.kind[slot] == ELEMENT:
            continue
        layout.rank[out] = max(layout.rank[out], layout.rank[slot])
        layout.longs[out] |= layout.longs[slot]
        if rows.kind[slot] == FULL:
            has_full = True
            full_stage = max(full_stage, rows.stage[slot])
        elif rows.kind[slot] == PER_ROW:
            has_rows = True
            row_stage = max(row_stage, rows.stage[slot])
        if rows.reduced_shape[slot] == 0:
            has_kept = True
        elif reduced == 0:
            reduced = rows.reduced_shape[slot]
        elif not equal_dims(&run.epilogues.each[reduced - 1].args, &run.epilogues.each[rows.reduced_shape[slot] - 1].args):
            return False
    if reduced and has_kept:
        return False
    rows.kind[out] = FULL if has_full else PER_ROW
    rows.stage[out] = row_stage if not has_full else max(full_stage, row_stage + 1) if has_rows else full_stage
    rows.reduced_shape[out] = reduced
    rows.step_stage[step] = rows.stage[out]
    rows.stages = max(rows.stages, rows.stage[out] + 1)
    set_contiguous_strides(layout, out)
    if plan.is_result[out]:
        # A result that is smaller than its rows would need an array of another shape than the stage computes.
        return layout.longs[out] == (rows.row_dims | (rows.column_dims if has_full else 0)) and layout.rank[out] == layout.ndim
    return True


cdef bint place_steps(FusedGroup g, FusedPlan plan, Run *run, RowLayout *rows) noexcept:
    """Set the stages of all steps and epilogues."""
    cdef int step, e
    rows.stages = 0
    for step in range(plan.count + 1):
        for e in range(g.epilogue_count):
            if plan.epilogue_position[e] == step and not place_epilogue(g, plan, run, rows, e):
                return False
        if step < plan.count and not place_step(plan, run, rows, step):
            return False
    return rows.stages <= MAX_STAGES


# ---------------------------------------------------------------- results

cdef bint is_result_of_group(FusedGroup g, int value) noexcept:
    cdef int i
    for i in range(g.outputs):
        if g.out_at[i] == value:
            return True
    return False


cdef bint allocate_epilogues(FusedGroup g, FusedPlan plan, Run *run, RowLayout *rows, list owners) except -1:
    """Allocate the results of epilogues: arrays for results of the group, row memory for other epilogues."""
    cdef StageEpilogue *epilogue
    cdef int e, slot
    cdef npy_intp item, count
    for e in range(g.epilogue_count):
        epilogue, slot = &run.epilogues.each[e], g.inputs + g.op_count + e
        if not is_result_of_group(g, slot):
            if not allocate_row_memory(plan, run, slot, rows.kind[slot] == PER_ROW, e):
                return False
            continue
        if is_sum_of_all(g, run, &rows.layout, e):
            if run.epilogues.chunk % BLOCK:
                return False
            count = (run.size + BLOCK - 1) // BLOCK
            totals = new_array(1, &count, number_of_scalar_type(DOUBLE))
            owners.append(totals)
            epilogue.totals = <double *>data_of(<PyArrayObject *>totals)
        result = new_contiguous(epilogue.args.ndim, epilogue.args.dims, epilogue.args.kind)
        owners.append(result)
        run.epilogues.result[e] = <PyObject *>result
        epilogue.out = run.rows.data[slot] = run.address[slot].data = data_of(<PyArrayObject *>result)
        item = item_size(epilogue.args.kind)
        run.address[slot].stride = run.address[slot].advance = item
    return True


cdef object new_result_array(FusedPlan plan, Run *run, RowLayout *rows, int slot):
    cdef EpilogueArgs *args
    if rows.reduced_shape[slot] == 0:
        return new_slot_array(&rows.layout, slot, plan.kind[slot])
    args = &run.epilogues.each[rows.reduced_shape[slot] - 1].args
    return new_contiguous(args.ndim, args.dims, plan.kind[slot])


cdef bint allocate_steps(FusedPlan plan, Run *run, RowLayout *rows, list owners) except -1:
    """Allocate memory for the results of steps that have no tile buffer."""
    cdef int step, slot
    for step in range(plan.count):
        slot = plan.tile_ops[step].out
        if run.schedule.buffer[slot] != NO_INDEX:
            continue
        if not plan.is_result[slot]:
            if not allocate_row_memory(plan, run, slot, rows.kind[slot] == PER_ROW, NO_INDEX):
                return False
            continue
        array = new_result_array(plan, run, rows, slot)
        owners.append(array)
        run.array[slot] = <PyObject *>array
        run.rows.data[slot] = run.address[slot].data = data_of(<PyArrayObject *>array)
        run.address[slot].stride = run.address[slot].advance = item_size(plan.kind[slot])
    return True


# ---------------------------------------------------------------- operands

cdef bint add_row_read(Run *run, int s, int slot) noexcept:
    if run.rows.read_end[s] == MAX_ROW_READS:
        return False
    run.rows.read[run.rows.read_end[s]] = slot
    run.rows.read_end[s] += 1
    return True


cdef bint repeat_along_rows(FusedPlan plan, Run *run, RowLayout *rows, int slot) noexcept:
    """Let the current stage read a slot with one element per row from a buffer with whole rows."""
    cdef Gather *into = &run.gather[run.gathers]
    if run.schedule.buffers + run.gathers - run.first_gather >= MAX_BUFFERS or run.gathers >= MAX_GATHERS:
        return False
    into.slot, into.of_rows, into.item, into.ndim = slot, True, item_size(plan.kind[slot]), 2
    into.shape[0], into.shape[1], into.strides[0], into.strides[1] = rows.rows, rows.n, into.item, 0
    run.gathers += 1
    return True


cdef bint is_contiguous_along(RowLayout *rows, int slot, uint32_t dims, npy_intp item) noexcept:
    """Return whether an input has exactly the dimensions `dims`, without gaps."""
    cdef Layout *layout = &rows.layout
    cdef int d
    if layout.longs[slot] != dims:
        return False
    for d in range(layout.ndim - 1, -1, -1):
        if dims >> d & 1:
            if layout.strides[slot][d] != item:
                return False
            item *= layout.shape[d]
    return True


cdef bint address_operand(FusedGroup g, FusedPlan plan, Run *run, RowLayout *rows, int s, int slot, int *kind) noexcept:
    """Set the address from which stage `s` reads a slot, and the kind of the operand.

    Return False if the strides are unsupported.
    """
    cdef Layout *layout = &rows.layout
    cdef int order[MAX_RANK]
    cdef npy_intp item = item_size(plan.kind[slot])
    cdef bint is_input = slot < g.inputs, single_row = rows.n >= MIN_SINGLE_ROW and not plan.in_rows[slot]
    cdef int d
    if rows.kind[slot] == ELEMENT or (plan.producer[slot] != NO_INDEX and run.schedule.buffer[slot] != NO_INDEX):
        return True
    if rows.kind[slot] == PER_ROW:
        if not is_input or is_contiguous_along(rows, slot, rows.row_dims, item):
            if is_input:
                run.rows.data[slot] = layout.data[slot]
            if s & 1:
                return add_row_read(run, s, slot)
            if single_row:
                kind[0] = ROW_ELEMENT
                return True
            return repeat_along_rows(plan, run, rows, slot)
        if s & 1:
            return False
    elif not is_input:
        return True                    # The address of a whole row is set when its memory is allocated.
    elif rows.kind[slot] == SINGLE:
        run.address[slot].data, run.address[slot].stride, run.address[slot].advance = layout.data[slot], 0, 0
        return not plan.in_rows[slot]
    elif rows.n >= MIN_SINGLE_ROW and rows.row_dims and is_contiguous_along(rows, slot, rows.column_dims, item):
        run.rows.data[slot] = layout.data[slot]
        kind[0] = ROW_VECTOR
        return True
    for d in range(layout.ndim):
        order[d] = d
    return address_input(plan, run, layout, slot, layout.shape, order)


cdef bint set_operand_addresses(FusedGroup g, FusedPlan plan, Run *run, RowLayout *rows, int s) noexcept:
    """Set the addresses of all slots that stage `s` reads."""
    cdef bint placed[MAX_SLOTS]
    cdef int kind[MAX_SLOTS]
    cdef TileOp *tile_op
    cdef int i, k, slot
    for slot in range(plan.slots):
        placed[slot], kind[slot] = False, 0
    run.first_gather = run.gathers
    run.rows.read_end[s] = run.rows.read_end[s - 1] if s else 0
    for i in range(run.schedule.end[s - 1] if s else 0, run.schedule.end[s]):
        tile_op = &plan.tile_ops[run.schedule.order[i]]
        run.rows.operand_kinds[i] = 0
        for k in range(tile_op.arity):
            slot = tile_op.operands[k]
            if not placed[slot] and not address_operand(g, plan, run, rows, s, slot, &kind[slot]):
                return False
            placed[slot] = True
            run.rows.operand_kinds[i] |= kind[slot] << 2 * k
        slot = tile_op.out
        if s & 1 and run.schedule.buffer[slot] == NO_INDEX and not add_row_read(run, s, slot):
            return False
        placed[slot] = True
    run.rows.gather_end[s] = run.gathers
    return True


cdef bint address_row_stages(FusedGroup g, FusedPlan plan, Run *run, IValue *r, const int32_t *at, list owners) except -1:
    cdef RowLayout rows
    cdef int s, e, slot
    if g.by_channels or plan.has_elements or not set_input_strides(g, plan, run, &rows.layout) or not rows.layout.in_c_order:
        return False
    if not read_epilogues(g, plan, run, &rows, r, at):
        return False
    classify_inputs(g, plan, &rows)
    if not place_steps(g, plan, run, &rows) or not g.assign_buffers(plan, rows.step_stage, rows.stages, run.schedule):
        return False
    run.size = rows.layout.size
    run.rows.count, run.gathers = rows.stages, 0
    for s in range(rows.stages):
        if not set_operand_addresses(g, plan, run, &rows, s):
            return False
    for e in range(g.epilogue_count):
        slot = plan.epilogue_slot[e]
        if plan.producer[slot] == NO_INDEX:
            run.address[slot].data = rows.layout.data[slot]
            run.address[slot].stride = run.address[slot].advance = item_size(plan.kind[slot])
    run.epilogues.count, run.epilogues.row, run.epilogues.chunks_of_row = g.epilogue_count, rows.n, 1
    run.rows.tile = plan.tile // rows.n * rows.n if rows.n < plan.tile else plan.tile
    run.epilogues.chunk = max(2 * run.rows.tile, rows.n) if rows.n <= plan.tile else rows.n
    return allocate_epilogues(g, plan, run, &rows, owners) and allocate_steps(plan, run, &rows, owners)
