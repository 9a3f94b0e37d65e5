"""Execution of fusion groups by loop fusion and loop tiling: pointwise operators share tiles in the L1 cache.

Input: interpreter registers with tensors and numbers, and the group's program (`ts.fusion.program`). Output:
True with the results, or False for unsupported inputs. In the second case, the bytecode runs the separate
operators.

Results are bit-identical to those of the separate operators. A program is a list of operations on numbered
values, such as:

    2 = mul(0, 1)
    3 = add(2, 0)
    4 = tanh(3)
"""

cimport numpy as cnp
from cpython.exc cimport PyErr_Occurred
from cpython.object cimport PyObject
from libc.stdint cimport int32_t
from libc.stdlib cimport free
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, set_kernel
from ts._core.tensor.ndarray cimport RELEASE_GIL_FROM, PyArrayObject, data_of, dims_of, flags_of, ndim_of, new_array
from ts._core.tensor.scalar_types cimport number_of_scalar_type
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.thread.context cimport LIMITED, context_flags
from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_OBJECT, copy_value
from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.elementwise cimport item_size
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport CONTIGUOUS_FLAGS, MAX_DIMS, is_tensor, set_result, set_object_result, set_result_with_own_dtype
from ts.backends.cpu.kernels.parallel_for cimport parallel_for, partition_count, partition_start
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts.backends.cpu.kernels.fused_epilogues cimport (
    add_epilogue, assign_row_memory, begin_chunk, chunk_count, combine_partial_sums, end_chunk, is_fully_fused, reset_epilogues,
    run_separate_epilogues
)
from ts.backends.cpu.kernels.fused_operands cimport (
    MAX_RANK, ROW_ELEMENT, Layout, OperandAddress, Run, address_materialized, gather, new_slot_array, set_slot_strides, shape_of
)
from ts.backends.cpu.kernels.fused_operands cimport address_channels, address_dense, address_scalars, address_stage, schedule_by_lengths, set_inputs
from ts.backends.cpu.kernels.fused_plans cimport MAX_BUFFERS, MAX_OPERANDS, NO_INDEX, TILE_BYTES
from ts.backends.cpu.kernels.fused_plans cimport FusedGroup, FusedPlan, Schedule, TileOp, read_group
from ts.backends.cpu.kernels.fused_rows cimport address_row_stages
from ts.backends.cpu.kernels.tensor_iterator cimport Loop, Operand, set_operand_strides, new_result

from ts import dtypes

cnp.import_array()

cdef enum:
    # Size of the memory for tile buffers. The rows that epilogues read follow in the same allocation.
    TILE_BUFFER_BYTES = MAX_BUFFERS * TILE_BYTES
    SCRATCH_ROW_BYTES = 4 * TILE_BYTES
    MIN_UNFUSED_ELEMENTS = 1 << 13     # minimal number of elements of the large result in `is_faster_unfused`
    SMALL_RESULT_RATIO = 16            # minimal ratio of the elements of large and small results in `is_faster_unfused`

# Buffers for groups that run while holding the GIL, which ensures that only one thread uses the buffers at a
# time.
cdef char *scratch = <char *>malloc_aligned(TILE_BUFFER_BYTES + SCRATCH_ROW_BYTES)
if scratch == NULL:
    raise MemoryError


cdef void address_buffers(FusedPlan plan, Run *run, char *memory) noexcept nogil:
    """Set the addresses of the tile buffers in `memory` to which the steps write."""
    cdef int i, slot
    for i in range(run.first, run.last):
        slot = plan.tile_ops[run.schedule.order[i]].out
        if run.schedule.buffer[slot] != NO_INDEX:
            run.address[slot].data = memory + run.schedule.buffer[slot] * TILE_BYTES
            run.address[slot].stride, run.address[slot].advance = item_size(plan.kind[slot]), 0


cdef void run_tiles(FusedPlan plan, Run *run, char *memory, npy_intp start, npy_intp end) noexcept nogil:
    """Run all steps of a stage on the elements [start, end), one tile at a time."""
    cdef char *args[MAX_OPERANDS + 1]
    cdef npy_intp strides[MAX_OPERANDS + 1]
    cdef npy_intp count
    cdef Schedule *schedule = run.schedule
    cdef OperandAddress *address
    cdef TileOp *tile_op
    cdef Loop function
    cdef void *data
    cdef bint continues = run.rows.count != 0
    cdef npy_intp tile = run.rows.tile if continues else plan.tile
    cdef int i, k
    for i in range(run.first_gather, run.gathers):
        run.gather[i].tile = run.address[run.gather[i].slot].data = memory + (schedule.buffers + i - run.first_gather) * TILE_BYTES
        run.address[run.gather[i].slot].stride, run.address[run.gather[i].slot].advance = run.gather[i].item, 0
    if continues and schedule.buffers == 0 and run.first_gather == run.gathers:
        tile = end - start             # No result is in a tile buffer.
    while start < end:
        count = min(end - start, tile)
        for i in range(run.first_gather, run.gathers):
            gather(&run.gather[i], start, count)
        for i in range(run.first, run.last):
            tile_op = &plan.tile_ops[schedule.order[i]]
            for k in range(tile_op.arity):
                address = &run.address[tile_op.operands[k]]
                args[k] = address.data + start * address.advance
                strides[k] = address.stride
            address = &run.address[tile_op.out]
            args[tile_op.arity] = address.data + start * address.advance
            strides[tile_op.arity] = address.stride
            function, data = tile_op.function, tile_op.data
            if tile_op.tile != NO_INDEX:
                run.tile[tile_op.tile].at = start
                function, data = run.tile[tile_op.tile].function, &run.tile[tile_op.tile]
            if continues and run.rows.operand_kinds[i]:
                run_step_by_rows(plan, run, i, function, data, args, strides, start, count)
            else:
                function(args, &count, strides, data)
        start += count


cdef void run_step_by_rows(
    FusedPlan plan, Run *run, int i, Loop function, void *data, char **args, npy_intp *strides, npy_intp start, npy_intp count
) noexcept nogil:
    """Run a step that reads elements or vectors of rows, on whole rows or on a part of one row.

    `args` and `strides` are set for the operands that are whole rows.
    """
    cdef TileOp *tile_op = &plan.tile_ops[run.schedule.order[i]]
    cdef npy_intp advance[MAX_OPERANDS + 1]
    cdef npy_intp n = run.epilogues.row, row = start // n, length = min(count, n), item, r
    cdef int k, slot, kind
    for k in range(tile_op.arity + 1):
        advance[k] = n * strides[k]
    for k in range(tile_op.arity):
        slot, kind = tile_op.operands[k], run.rows.operand_kinds[i] >> 2 * k & 3
        if kind:
            item = item_size(plan.kind[slot])
            args[k] = run.rows.data[slot] + (row if kind == ROW_ELEMENT else start - row * n) * item
            advance[k] = item if kind == ROW_ELEMENT else 0
            strides[k] = item - advance[k]
    for r in range(max(<npy_intp>1, count // n)):
        function(args, &length, strides, data)
        for k in range(tile_op.arity + 1):
            args[k] += advance[k]


cdef void address_rows(FusedPlan plan, Run *run, int s) noexcept nogil:
    """Set the addresses of the slots that stage `s` reads and computes, with one element per row."""
    cdef OperandAddress *address
    cdef int i, slot
    for i in range(run.rows.read_end[s - 1] if s else 0, run.rows.read_end[s]):
        slot = run.rows.read[i]
        address = &run.address[slot]
        address.data = run.rows.data[slot]
        address.stride = address.advance = item_size(plan.kind[slot])


cdef void run_row_stages(FusedPlan plan, Run *run, char *memory, npy_intp start, npy_intp end) noexcept nogil:
    """Run all stages of a group that continues after epilogues on the rows of one chunk."""
    cdef npy_intp n = run.epilogues.row
    cdef int s, i
    run.last = run.gathers = 0
    for s in range(run.rows.count):
        run.first, run.last = run.last, run.schedule.end[s]
        run.first_gather, run.gathers = run.gathers, run.rows.gather_end[s]
        for i in range(run.first_gather, run.gathers):
            if run.gather[i].of_rows:
                run.gather[i].data = run.rows.data[run.gather[i].slot]
        if run.first < run.last and s & 1:
            address_rows(plan, run, s)
            run_tiles(plan, run, memory, start // n, end // n)
        elif run.first < run.last:
            run_tiles(plan, run, memory, start, end)
        if not s & 1:
            end_chunk(plan, run, s, start, end)


cdef void run_chunks(FusedPlan plan, Run *run, char *memory, npy_intp first, npy_intp last) noexcept nogil:
    """Run tiles [first, last) of a stage. For a stage with epilogues, run chunks [first, last) instead.

    The epilogues process the results of each chunk when the chunk is complete.
    """
    cdef npy_intp chunk_index, start, end
    address_buffers(plan, run, memory)
    if run.epilogues.count == 0:
        run_tiles(plan, run, memory, first * plan.tile, min(run.size, last * plan.tile))
        return
    for chunk_index in range(first, last):
        begin_chunk(plan, run, chunk_index, memory + TILE_BUFFER_BYTES, &start, &end)
        if run.rows.count:
            run_row_stages(plan, run, memory, start, end)
            continue
        run_tiles(plan, run, memory, start, end)
        end_chunk(plan, run, 0, start, end)


cdef int run_on_this_thread(FusedPlan plan, Run *run, Operator op, IValue *r, const int32_t *at) except -1:
    """Run a stage on this thread, and release the GIL if the stage is large enough."""
    cdef char *memory
    cdef ReleasedGil gil_state
    if run.size < RELEASE_GIL_FROM and run.epilogues.bytes <= SCRATCH_ROW_BYTES:
        run_chunks(plan, run, scratch, 0, chunk_count(plan, run))
        return 0
    memory = <char *>malloc_aligned(TILE_BUFFER_BYTES + run.epilogues.bytes)
    if memory == NULL:
        raise MemoryError
    gil_state = leave_gil(run.size, r, at, op.nargs)
    run_chunks(plan, run, memory, 0, chunk_count(plan, run))
    take_gil(gil_state)
    free(memory)
    return 0


cdef struct TileRun:                    # a stage that several threads execute
    PyObject *plan
    Run *run


cdef int run_tile_partition(void *context, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
    """Run a partition's consecutive range of tiles, with buffers of its own."""
    cdef TileRun *shared = <TileRun *>context
    cdef Run run = shared.run[0]
    cdef npy_intp chunks
    cdef char *memory = <char *>malloc_aligned(TILE_BUFFER_BYTES + run.epilogues.bytes)
    if memory == NULL:
        return -1
    chunks = chunk_count(<FusedPlan>shared.plan, &run)
    run_chunks(
        <FusedPlan>shared.plan, &run, memory,
        partition_start(chunks, partition, partition_count), partition_start(chunks, partition + 1, partition_count),
    )
    free(memory)
    return 0


cdef int run_on_threads(FusedPlan plan, Run *run, Operator op, IValue *r, const int32_t *at, Py_ssize_t partitions) except -1:
    cdef TileRun shared
    cdef ReleasedGil gil_state
    cdef int code
    shared.plan, shared.run = <PyObject *>plan, run
    gil_state = leave_gil(run.size, r, at, op.nargs)
    code = parallel_for(run_tile_partition, &shared, partitions)
    take_gil(gil_state)
    if code:
        raise MemoryError
    return 0


cdef int decline(Operator op, IValue *r, const int32_t *at) except -1:
    """Report that the fusion group did not run.

    The first result becomes False. All other results become a placeholder, one of the tensor arguments.
    """
    cdef int i, out
    cdef IValue placeholder = r[at[op.tensor_at]]
    for i in range(1, op.nrets):
        out = at[op.nargs + i]
        if r[out].tag == TAG_OBJECT and r[out].v.o == placeholder.v.o:
            continue
        copy_value(&r[out], &placeholder)
    r[at[op.nargs]].v.i = 0
    r[at[op.nargs]].tag = TAG_BOOL
    return 0


cdef int run_stage(FusedGroup g, FusedPlan plan, Run *run, Operator op, IValue *r, const int32_t *at) except -1:
    cdef Py_ssize_t partitions = 1
    if run.size >= RELEASE_GIL_FROM:
        partitions = partition_count(<double>run.size * (run.last - run.first) / 2)
    if partitions > 1:
        run_on_threads(plan, run, op, r, at, partitions)
    else:
        run_on_this_thread(plan, run, op, r, at)
    combine_partial_sums(run, run.size)
    return 0


cdef inline void set_slot_array(Run *run, int slot, object array, npy_intp item) noexcept:
    """Set `array`, whose elements have `item` bytes, as the memory to which a slot writes its results."""
    run.array[slot] = <PyObject *>array
    run.address[slot].data = data_of(<PyArrayObject *>array)
    run.address[slot].stride = run.address[slot].advance = item


cdef list run_dense(FusedGroup g, FusedPlan plan, Run *run, PyArrayObject *like, Operator op, IValue *r, const int32_t *at):
    """Run a group whose inputs have one shape and equal strides.

    Return the arrays of the results, or None if the inputs are unsupported.
    """
    cdef npy_intp shape[MAX_DIMS]
    cdef Operand operands[2]
    cdef int i, d, slot, kind
    owners = []
    if g.by_channels and not address_channels(g, plan, r, at, run, like, owners):
        return None
    if g.epilogue_count and flags_of(like) & CONTIGUOUS_FLAGS == CONTIGUOUS_FLAGS:
        for i in range(g.epilogue_count):
            add_epilogue(g, plan, run, i, r, at, ndim_of(like), dims_of(like), owners)
    for i in range(plan.required_count):
        slot = plan.required_slots[i]
        if not plan.is_result[slot] and is_fully_fused(g, plan, run, slot):
            continue
        kind = plan.kind[slot]
        if flags_of(like) & CONTIGUOUS_FLAGS == CONTIGUOUS_FLAGS:
            array = new_array(ndim_of(like), dims_of(like), number_of_scalar_type(kind))
        else:
            for d in range(ndim_of(like)):
                shape[d] = dims_of(like)[d]
            set_operand_strides(&operands[0], like, ndim_of(like), shape)
            array = new_result(operands, 1, ndim_of(like), shape, kind)
        set_slot_array(run, slot, array, item_size(kind))
        owners.append(array)
    assign_row_memory(plan, run)
    run.schedule = &plan.uniform_schedule
    run.first_gather, run.gathers, run.first, run.last = 0, 0, 0, plan.uniform_schedule.end[0]
    run_stage(g, plan, run, op, r, at)
    return owners


cdef int add_epilogues(FusedGroup g, FusedPlan plan, Run *run, Layout *layout, IValue *r, const int32_t *at, list owners) except -1:
    """Set `run.epilogues` to the epilogues that have a contiguous result of this stage as input."""
    cdef npy_intp shape[MAX_RANK]
    cdef int e, i, slot
    run.epilogues.count, run.epilogues.bytes = 0, 0
    for i in range(run.first, run.last):
        slot = plan.tile_ops[run.schedule.order[i]].out
        for e in range(g.epilogue_count):
            if plan.epilogue_slot[e] == slot and layout.is_contiguous[slot]:
                add_epilogue(g, plan, run, e, r, at, shape_of(layout, slot, shape), shape, owners)
    return 0


cdef bint is_read_outside_stage(FusedPlan plan, Run *run, int slot) noexcept:
    """Return whether slot `slot` is a result of the group or is read by a later stage."""
    cdef TileOp *tile_op
    cdef int i, k
    if plan.is_result[slot]:
        return True
    for i in range(run.last, plan.count):
        tile_op = &plan.tile_ops[run.schedule.order[i]]
        for k in range(tile_op.arity):
            if tile_op.operands[k] == slot:
                return True
    return False


cdef bint is_faster_unfused(FusedGroup g, FusedPlan plan, Layout *layout, Schedule *schedule) noexcept:
    """Return whether only the last step has large results, such as the product of a channel scale and an image.

    The operator of this step reads the small results without a copy for each tile.
    """
    cdef npy_intp shape[MAX_RANK]
    cdef npy_intp small = 0, size
    cdef int i, d, last = schedule.order[plan.count - 1]
    if layout.size < MIN_UNFUSED_ELEMENTS or g.epilogue_count or schedule.stages < 2 or schedule.end[schedule.stages - 2] != plan.count - 1:
        return False
    for i in range(plan.count - 1):
        size = 1
        for d in range(shape_of(layout, plan.tile_ops[schedule.order[i]].out, shape)):
            size *= shape[d]
        small += size
    return small * SMALL_RESULT_RATIO <= layout.size and plan.tile_ops[last].tile == NO_INDEX


cdef list run_broadcast(FusedGroup g, FusedPlan plan, Run *run, Operator op, IValue *r, const int32_t *at):
    """Run a group whose inputs broadcast, are strided or differ in dimension order.

    Return the arrays of the results, or None if the inputs are unsupported.
    """
    cdef Layout layout
    cdef Schedule schedule
    cdef int order[MAX_RANK]
    cdef npy_intp item
    cdef int i, s, slot
    if g.by_channels or not set_slot_strides(g, plan, run, &layout) or not schedule_by_lengths(g, plan, &layout, &schedule):
        return None
    if is_faster_unfused(g, plan, &layout, &schedule):
        return None
    run.schedule, run.last = &schedule, 0
    owners = []
    for s in range(schedule.stages):
        run.first, run.last = run.last, schedule.end[s]
        if not address_stage(g, plan, run, &layout, order):
            return None
        if g.epilogue_count:
            add_epilogues(g, plan, run, &layout, r, at, owners)
        for i in range(run.first, run.last):
            slot = plan.tile_ops[schedule.order[i]].out
            if schedule.buffer[slot] == NO_INDEX:
                item = item_size(plan.kind[slot])
                if plan.is_required[slot] and not is_read_outside_stage(plan, run, slot) and is_fully_fused(g, plan, run, slot):
                    continue
                if plan.is_required[slot]:
                    array = new_slot_array(&layout, slot, plan.kind[slot])
                else:
                    array = new_array(1, &run.size, number_of_scalar_type(plan.kind[slot]))
                owners.append(array)
                set_slot_array(run, slot, array, item)
                address_materialized(&layout, slot, run.address[slot].data, order, item)
        assign_row_memory(plan, run)
        run_stage(g, plan, run, op, r, at)
    return owners


cdef list run_rows(FusedGroup g, FusedPlan plan, Run *run, Operator op, IValue *r, const int32_t *at):
    """Run a group that continues after epilogues.

    Return the arrays of the results, or None if the inputs are unsupported.
    """
    cdef Schedule schedule
    owners = []
    run.schedule = &schedule
    if not address_row_stages(g, plan, run, r, at, owners):
        return None
    run.first, run.last = 0, plan.count
    run_stage(g, plan, run, op, r, at)
    return owners


cdef inline int set_epilogue_result(IValue *out, object result) except -1:
    """Store the result of an epilogue: an array, or the tensor that its operator returned."""
    return set_object_result(out, result) if isinstance(result, Tensor) else set_result_with_own_dtype(out, result)


cdef inline bint is_default_dtype_current(FusedPlan plan):
    return plan.default == NO_INDEX or plan.default == dtypes.get_default_dtype().code


cdef list run_plan(FusedGroup g, FusedPlan plan, Run *run, Operator op, IValue *r, const int32_t *at):
    """Run the group. Return the arrays of the results, or None if the shapes or strides are unsupported."""
    cdef PyArrayObject *like = NULL
    cdef list owners
    reset_epilogues(g, plan, run)
    if g.continues:
        return run_rows(g, plan, run, op, r, at)
    if address_dense(g, plan, run, &like):
        owners = run_dense(g, plan, run, like, op, r, at) if run.size else None
    else:
        owners = run_broadcast(g, plan, run, op, r, at)
    if g.epilogue_count and owners is not None:
        run_separate_epilogues(g, plan, run, r, at, owners)
    return owners


cdef list try_run_plan(FusedGroup g, FusedPlan plan, Run *run, Operator op, IValue *r, const int32_t *at):
    """Run a group with epilogues. Return None if an operator of the group raises an exception.

    For None, the operators run again one by one, so that the exception is raised with the right source
    location.
    """
    try:
        return run_plan(g, plan, run, op, r, at)
    except Exception:
        return None


cdef int run_group(Operator op, IValue *r, const int32_t *at) except -1:
    cdef FusedGroup g = <FusedGroup>op.state[BACKEND_CPU]
    cdef FusedPlan plan
    cdef Run run
    cdef list owners
    cdef int i
    if context_flags() & LIMITED:
        g.left_to_limits += 1
        return decline(op, r, at)
    plan = g.plan_for(r, at)
    if plan is None or not plan.runnable or not is_default_dtype_current(plan):
        g.left_for_inputs += 1
        return decline(op, r, at)
    if not set_inputs(g, plan, r, at, &run):
        g.left_for_shapes += 1
        return decline(op, r, at)
    if not address_scalars(g, plan, r, at, &run):
        g.left_for_inputs += 1
        return decline(op, r, at)
    owners = (try_run_plan if g.epilogue_count else run_plan)(g, plan, &run, op, r, at)
    if owners is None:
        g.left_for_shapes += 1
        return decline(op, r, at)
    if PyErr_Occurred():
        return -1
    plan.runs += 1
    for i in range(g.outputs):
        if plan.out_at[i] != NO_INDEX:
            set_result(&r[at[op.nargs + 1 + i]], <object>run.array[plan.out_at[i]], plan.kind[plan.out_at[i]])
        else:
            set_epilogue_result(&r[at[op.nargs + 1 + i]], <object>run.epilogues.result[g.out_at[i] - g.inputs - g.op_count])
    r[at[op.nargs]].v.i = 1
    r[at[op.nargs]].tag = TAG_BOOL
    return 0


cdef int prepare_group(Operator op, IValue *r, const int32_t *at) except -1:
    """Run a group's first call: read its program and set `run_group` as the kernel of later calls."""
    try:
        group = read_group(op.record.program)
    except ValueError:
        set_kernel(op, BACKEND_CPU, decline, None)
        return decline(op, r, at)
    op.record.group = group
    set_kernel(op, BACKEND_CPU, run_group, group)
    return run_group(op, r, at)


register_kernel("prim::FusionGroup", prepare_group)
# This kernel reports that the group did not run, so the bytecode runs the nodes of the subgraph one by one.
# It is called if the autograd rule has no plan for the graph, or if no argument requires grad.
register_kernel("prim::DifferentiableGraph", decline)
