"""Computation of the addresses of a fusion group's operands.

`fused_operands.pxd` describes the structures.
"""

cimport numpy as cnp

from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of, new_array, same_shape, size_of, strides_of
from ts._core.tensor.overlap cimport has_internal_overlap
from ts._core.tensor.scalar_types cimport number_of_scalar_type
from ts._core.tensor.tensor cimport Tensor
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.elementwise cimport item_size, store_element, store_number
from ts.backends.cpu.kernels.kernel cimport CONTIGUOUS_FLAGS
from ts.backends.cpu.kernels.channels_last cimport is_channels_last, new_strided
from ts.backends.cpu.kernels.kernel_registry cimport MAX_VIEW_ARGUMENTS, Tile, View
from ts.backends.cpu.kernels.fused_plans cimport MAX_EPILOGUE_ARGUMENTS
from ts.backends.cpu.kernels.fused_plans cimport A_NUMBER, A_TENSOR, AN_ELEMENT, MAX_ARGUMENTS, MAX_BUFFERS, MAX_OPERANDS, MAX_SLOTS
from ts.backends.cpu.kernels.fused_plans cimport MAX_STAGES, NO_INDEX, FusedGroup, ViewInput, FusedPlan, Schedule, TileOp
from ts.backends.cpu.kernels.view cimport init_view
from ts.backends.cpu.kernels.tensor_iterator cimport Operand, sort_dims_by_stride, broadcast_into, set_operand_strides

cnp.import_array()


cdef void copy_run(const char *x, npy_intp stride, npy_intp item, npy_intp n, char *out) noexcept nogil:
    cdef npy_intp i
    if stride == 0 and item == 4:
        for i in range(n):
            (<int32_t *>out)[i] = (<const int32_t *>x)[0]
    elif stride == item:
        memcpy(out, x, n * item)
    elif item == 4:
        for i in range(n):
            (<int32_t *>out)[i] = (<int32_t *>(x + i * stride))[0]
    elif item == 8:
        for i in range(n):
            (<int64_t *>out)[i] = (<int64_t *>(x + i * stride))[0]
    elif item == 2:
        for i in range(n):
            (<int16_t *>out)[i] = (<int16_t *>(x + i * stride))[0]
    else:
        for i in range(n):
            out[i] = x[i * stride]


cdef void gather(Gather *g, npy_intp start, npy_intp count) noexcept nogil:
    """Copy the elements [start, start + count), counted in row-major order, to the buffer of the tile."""
    cdef npy_intp index[MAX_RANK]
    cdef npy_intp n
    cdef int d, inner = g.ndim - 1
    cdef const char *x = g.data
    cdef char *out = g.tile
    for d in range(inner, -1, -1):
        index[d] = start % g.shape[d]
        start //= g.shape[d]
        x += index[d] * g.strides[d]
    while True:
        n = min(count, g.shape[inner] - index[inner])
        copy_run(x, g.strides[inner], g.item, n, out)
        count -= n
        if count == 0:
            return
        out += n * g.item
        x -= index[inner] * g.strides[inner]
        index[inner] = 0
        d = inner - 1
        while True:
            index[d] += 1
            x += g.strides[d]
            if index[d] < g.shape[d]:
                break
            x -= g.shape[d] * g.strides[d]
            index[d] = 0
            d -= 1


cdef void init_gather(Gather *g, const char *data, int ndim, npy_intp *shape, npy_intp *strides, npy_intp item) noexcept nogil:
    """Prepare the copy of a strided input. Adjacent dimensions without a gap are merged."""
    cdef int d, n = 0
    g.item, g.data, g.of_rows = item, data, False
    for d in range(ndim):
        if shape[d] == 1:
            continue
        if n and g.strides[n - 1] == strides[d] * shape[d]:
            g.shape[n - 1] *= shape[d]
            g.strides[n - 1] = strides[d]
        else:
            g.shape[n], g.strides[n] = shape[d], strides[d]
            n += 1
    if n == 0:
        g.shape[0], g.strides[0], n = 1, item, 1
    g.ndim = n


cdef inline bint in_c_order(npy_intp *strides, int ndim) noexcept nogil:
    """Return whether the strides are sorted in descending order, apart from zeros. Equal strides are allowed."""
    cdef npy_intp last = 0
    cdef int d
    for d in range(ndim - 1, -1, -1):
        if strides[d] != 0:
            if strides[d] < last:
                return False
            last = strides[d]
    return True


cdef bint is_contiguous(npy_intp *shape, npy_intp *strides, int ndim, npy_intp item) noexcept nogil:
    """Return whether an array with this shape and these strides is C-contiguous."""
    cdef int d
    for d in range(ndim - 1, -1, -1):
        if shape[d] != 1 and strides[d] != item:
            return False
        item *= shape[d]
    return True


cdef bint set_view_input(FusedPlan plan, ViewInput *view, IValue *r, const int32_t *at, Run *run, BorrowedArray *viewed) noexcept:
    """Write the shape and strides of a view input to an array header, which becomes the input's array.

    Return False for a 0-dim or unsupported view.
    """
    cdef PyArrayObject *a = run.input[view.input]
    cdef IValue *others[MAX_VIEW_ARGUMENTS]
    cdef ArrayFields *fields = &viewed.fields
    cdef View v
    cdef int k
    if not plan.guards[view.input] & A_TENSOR:
        return False
    for k in range(view.arity):
        others[k] = &r[at[view.operands[k]]]
    init_view(&v, a)
    if not view.read(&v, others, view.result_index, view.result_count) or not 0 < v.nd <= MAX_RANK:
        return False
    memcpy(viewed.dims, v.dims, v.nd * sizeof(npy_intp))
    memcpy(viewed.strides, v.strides, v.nd * sizeof(npy_intp))
    fields[0] = (<ArrayFields *>a)[0]
    fields.data += v.offset
    fields.nd, fields.dimensions, fields.strides = v.nd, viewed.dims, viewed.strides
    fields.flags &= cnp.NPY_ARRAY_ALIGNED | cnp.NPY_ARRAY_WRITEABLE
    if is_contiguous(v.dims, v.strides, v.nd, v.item):
        fields.flags |= cnp.NPY_ARRAY_C_CONTIGUOUS
    run.input[view.input] = <PyArrayObject *>fields
    return True


cdef bint set_inputs(FusedGroup g, FusedPlan plan, IValue *r, const int32_t *at, Run *run) noexcept:
    cdef int i
    for i in range(g.inputs):
        if plan.guards[i] & (A_TENSOR | AN_ELEMENT):
            run.input[i] = <PyArrayObject *>(<Tensor>r[at[i]].v.o).array
    for i in range(g.view_count):
        if not set_view_input(plan, &g.views[i], r, at, run, &run.viewed[i]):
            return False
    return True


cdef bint equal_strides(PyArrayObject *a, PyArrayObject *b) noexcept nogil:
    """Return whether two arrays of equal shape have equal strides."""
    cdef int d
    for d in range(ndim_of(a)):
        if strides_of(a)[d] != strides_of(b)[d]:
            return False
    return True


cdef bint is_dense(PyArrayObject *a, npy_intp item) noexcept:
    """Return whether the elements fill a block of memory without gaps or overlap, for any dimension order."""
    cdef npy_intp extent = item
    cdef int d
    for d in range(ndim_of(a)):
        extent += (dims_of(a)[d] - 1) * strides_of(a)[d]
    return extent == size_of(a) * item and not has_internal_overlap(a)


cdef bint same_trailing_shape(PyArrayObject *a, PyArrayObject *b) noexcept nogil:
    """Return whether two shapes are equal except for leading dimensions of size 1 (a bias, a batch of
    one).
    """
    cdef int d, more = ndim_of(a) - ndim_of(b)
    if more < 0:
        return same_trailing_shape(b, a)
    for d in range(more):
        if dims_of(a)[d] != 1:
            return False
    for d in range(ndim_of(b)):
        if dims_of(a)[more + d] != dims_of(b)[d]:
            return False
    return True


cdef bint all_have_rank(FusedGroup g, FusedPlan plan, Run *run, int rank) noexcept:
    """Return whether the results and the inputs of epilogues have rank `rank`. Other slots may have a lower one."""
    cdef int ranks[MAX_SLOTS]
    cdef int i, k
    cdef TileOp *tile_op
    for i in range(plan.slots):
        ranks[i] = ndim_of(run.input[i]) if i < g.inputs and plan.guards[i] & A_TENSOR else 0
    for i in range(plan.count):
        tile_op = &plan.tile_ops[i]
        for k in range(tile_op.arity):
            ranks[tile_op.out] = max(ranks[tile_op.out], ranks[tile_op.operands[k]])
    for i in range(plan.required_count):
        if ranks[plan.required_slots[i]] != rank:
            return False
    return True


cdef bint address_dense(FusedGroup g, FusedPlan plan, Run *run, PyArrayObject **first) noexcept:
    """Set the addresses of inputs with one shape and equal, dense strides. Return False if the inputs differ.

    Also set `run.size`, and set `first` to an input of the highest rank.
    """
    cdef PyArrayObject *a
    cdef PyArrayObject *like = NULL
    cdef npy_intp item = 0
    cdef bint flat = True, in_ranks = False
    cdef int i
    if plan.has_elements:
        return False
    for i in range(g.inputs):
        if not plan.guards[i] & A_TENSOR:
            continue
        a = run.input[i]
        if like == NULL:
            like = a
            item = item_size(plan.kind[i])
            flat = flags_of(a) & CONTIGUOUS_FLAGS == CONTIGUOUS_FLAGS
            if not flat and (not g.in_any_order or not flags_of(a) & cnp.NPY_ARRAY_ALIGNED or not is_dense(a, item)):
                return False
        elif flat:
            if flags_of(a) & CONTIGUOUS_FLAGS != CONTIGUOUS_FLAGS:
                return False
            if not same_shape(a, like):
                if g.by_channels or not same_trailing_shape(a, like):
                    return False
                in_ranks = True
                like = a if ndim_of(a) > ndim_of(like) else like
        elif not same_shape(a, like) or not flags_of(a) & cnp.NPY_ARRAY_ALIGNED:
            return False
        elif item_size(plan.kind[i]) != item or not equal_strides(a, like):
            return False
        run.address[i].data = data_of(a)
        run.address[i].stride = run.address[i].advance = item_size(plan.kind[i])
    first[0] = like
    if like == NULL or (in_ranks and not all_have_rank(g, plan, run, ndim_of(like))):
        return False
    run.size = size_of(like)
    return True


cdef bint set_slot_strides(FusedGroup g, FusedPlan plan, Run *run, Layout *layout) noexcept:
    if not set_input_strides(g, plan, run, layout):
        return False
    set_result_strides(g, plan, layout)
    return layout.size > 0


cdef bint set_input_strides(FusedGroup g, FusedPlan plan, Run *run, Layout *layout) noexcept:
    cdef Operand operand
    cdef PyArrayObject *a
    cdef int i, d, lead, n = 0
    for i in range(g.inputs):
        if plan.guards[i] & A_TENSOR:
            n = max(n, ndim_of(run.input[i]))
    if n > MAX_RANK:
        return False
    layout.ndim = n
    for d in range(n):
        layout.shape[d] = 1
    for i in range(g.inputs):
        if plan.guards[i] & A_TENSOR:
            a = run.input[i]
            if not flags_of(a) & cnp.NPY_ARRAY_ALIGNED or not broadcast_into(layout.shape, n, a):
                return False
    layout.size = 1
    for d in range(n):
        layout.size *= layout.shape[d]
    layout.in_c_order = layout.size > 0
    for i in range(g.inputs):
        layout.rank[i], layout.longs[i], layout.is_contiguous[i] = 0, 0, True
        if plan.guards[i] & A_TENSOR:
            a = run.input[i]
            lead = n - ndim_of(a)
            layout.rank[i], layout.data[i] = ndim_of(a), data_of(a)
            for d in range(lead, n):
                if dims_of(a)[d - lead] != 1:
                    layout.longs[i] |= <uint32_t>1 << d
                    if strides_of(a)[d - lead] == 0 and plan.in_rows[i]:
                        return False   # A loop needs contiguous rows, but the input is expanded (stride 0).
            set_operand_strides(&operand, a, n, layout.shape)
            memcpy(layout.strides[i], operand.strides, n * sizeof(npy_intp))
            layout.is_contiguous[i] = flags_of(a) & CONTIGUOUS_FLAGS == CONTIGUOUS_FLAGS
            layout.in_c_order = layout.in_c_order and in_c_order(layout.strides[i], n)
    for i in range(g.values, plan.slots):
        layout.rank[i], layout.longs[i] = 0, 0
    return True


cdef void set_result_strides(FusedGroup g, FusedPlan plan, Layout *layout) noexcept:
    """Set the strides of each step's result to the strides of the same operator's result outside of a group."""
    cdef TileOp *tile_op
    cdef int i, k, slot
    for i in range(plan.count):
        tile_op = &plan.tile_ops[i]
        slot = tile_op.out
        layout.rank[slot], layout.longs[slot] = 0, 0
        for k in range(tile_op.arity):
            layout.rank[slot] = max(layout.rank[slot], layout.rank[tile_op.operands[k]])
            layout.longs[slot] |= layout.longs[tile_op.operands[k]]
        if layout.in_c_order or (slot < g.inputs + g.op_count and g.is_plain[slot - g.inputs]):
            set_contiguous_strides(layout, slot)
        else:
            set_operand_order_strides(layout, plan, tile_op)


cdef inline npy_intp length(Layout *layout, int slot, int d) noexcept nogil:
    return layout.shape[d] if layout.longs[slot] >> d & 1 else 1


cdef void set_contiguous_strides(Layout *layout, int slot) noexcept nogil:
    """Set the strides of a slot to the strides, counted in elements, of a C-contiguous array."""
    cdef npy_intp stride = 1
    cdef int d
    layout.is_contiguous[slot] = True
    for d in range(layout.ndim - 1, -1, -1):
        layout.strides[slot][d] = stride
        stride *= length(layout, slot, d)


cdef void set_operand_order_strides(Layout *layout, FusedPlan plan, TileOp *tile_op) noexcept nogil:
    """Set the strides of a step's result.

    As in `tensor_iterator.new_result`, the result gets the dimension order of the step's operands.
    """
    cdef Operand operands[MAX_OPERANDS]
    cdef npy_intp shape[64]
    cdef int order[64]
    cdef int rank = layout.rank[tile_op.out], lead = layout.ndim - rank, slot, d, k, tensors = 0
    cdef npy_intp size = 1
    cdef bint flat = True
    for k in range(tile_op.arity):
        slot = tile_op.operands[k]
        if plan.is_element[slot]:
            for d in range(rank):
                operands[k].strides[d] = 0
            continue
        tensors += 1
        flat = flat and layout.is_contiguous[slot] and layout.rank[slot] == rank and layout.longs[slot] == layout.longs[tile_op.out]
        for d in range(rank):
            operands[k].strides[d] = layout.strides[slot][lead + d]
            if lead + d < layout.ndim - layout.rank[slot] or length(layout, slot, lead + d) != length(layout, tile_op.out, lead + d):
                operands[k].strides[d] = 0
    if flat:
        set_contiguous_strides(layout, tile_op.out)
        return
    for d in range(rank):
        shape[d] = length(layout, tile_op.out, lead + d)
        order[d] = d
    layout.is_contiguous[tile_op.out] = not sort_dims_by_stride(operands, tile_op.arity, rank, shape, order)
    for d in range(rank - 1, -1, -1):
        layout.strides[tile_op.out][lead + order[d]] = size
        size *= shape[d]
    for d in range(lead):
        layout.strides[tile_op.out][d] = size


cdef int shape_of(Layout *layout, int slot, npy_intp *shape) noexcept:
    cdef int rank = layout.rank[slot], lead = layout.ndim - rank, d
    for d in range(rank):
        shape[d] = layout.shape[lead + d] if layout.longs[slot] >> (lead + d) & 1 else 1
    return rank


cdef object new_slot_array(Layout *layout, int slot, int kind):
    cdef npy_intp shape[MAX_RANK]
    cdef npy_intp strides[MAX_RANK]
    cdef npy_intp item = item_size(kind)
    cdef int rank = shape_of(layout, slot, shape), lead = layout.ndim - rank, d
    for d in range(rank):
        strides[d] = layout.strides[slot][lead + d] * item
    return new_strided(rank, shape, strides, kind)


cdef bint schedule_by_lengths(FusedGroup g, FusedPlan plan, Layout *layout, Schedule *schedule) noexcept:
    cdef uint32_t dimension_sets[MAX_STAGES]
    cdef int stage[MAX_SLOTS]
    cdef uint32_t longs
    cdef int i, s, stages = 0
    for i in range(plan.count):
        longs = layout.longs[plan.tile_ops[i].out]
        for s in range(stages):
            if dimension_sets[s] == longs:
                break
        else:
            if stages == MAX_STAGES:
                return False
            s = stages
            while s > 0 and count_bits(dimension_sets[s - 1]) > count_bits(longs):
                dimension_sets[s] = dimension_sets[s - 1]
                s -= 1
            dimension_sets[s] = longs
            stages += 1
    for i in range(plan.count):
        s = 0
        while dimension_sets[s] != layout.longs[plan.tile_ops[i].out]:
            s += 1
        stage[i] = s
    if stages == 1:
        schedule[0] = plan.uniform_schedule
        return True
    return g.assign_buffers(plan, stage, stages, schedule)


cdef int count_bits(uint32_t longs) noexcept nogil:
    cdef int n = 0
    while longs:
        longs &= longs - 1
        n += 1
    return n


cdef bint address_stage(FusedGroup g, FusedPlan plan, Run *run, Layout *layout, int *order) noexcept:
    cdef bint placed[MAX_SLOTS]
    cdef npy_intp shape[MAX_RANK]
    cdef TileOp *tile_op
    cdef int i, k, d, slot, leader = NO_INDEX
    cdef Schedule *schedule = run.schedule
    for i in range(run.first, run.last):
        slot = plan.tile_ops[schedule.order[i]].out
        if leader == NO_INDEX or (plan.is_required[slot] and not plan.is_required[leader]):
            leader = slot
    sort_result_dims(layout, leader, order)
    run.size, run.first_gather, run.gathers = 1, 0, 0
    for d in range(layout.ndim):
        shape[d] = length(layout, leader, order[d])
        run.size *= shape[d]
    for i in range(run.first, run.last):
        slot = plan.tile_ops[schedule.order[i]].out
        if plan.is_required[slot] and not is_contiguous_in_order(layout, slot, order):
            return False
    for slot in range(g.inputs):
        placed[slot] = plan.is_element[slot]
    for slot in range(g.values, plan.slots):
        placed[slot] = plan.producer[slot] == NO_INDEX
    for i in range(run.last):
        placed[plan.tile_ops[schedule.order[i]].out] = i >= run.first
    for i in range(run.first, run.last):
        tile_op = &plan.tile_ops[schedule.order[i]]
        for k in range(tile_op.arity):
            slot = tile_op.operands[k]
            if not placed[slot]:
                if not address_input(plan, run, layout, slot, shape, order):
                    return False
                placed[slot] = True
    return True


cdef void sort_result_dims(Layout *layout, int slot, int *order) noexcept nogil:
    """Sort the dimensions of a slot by descending strides, so that `order` starts with the outermost
    dimension.
    """
    cdef int d, k
    for d in range(layout.ndim):
        k = d
        while k > 0 and layout.strides[slot][order[k - 1]] < layout.strides[slot][d]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = d


cdef bint is_contiguous_in_order(Layout *layout, int slot, int *order) noexcept nogil:
    """Return whether a result has no gaps if its dimensions are in the given order."""
    cdef npy_intp stride = 1
    cdef int d
    for d in range(layout.ndim - 1, -1, -1):
        if length(layout, slot, order[d]) != 1:
            if layout.strides[slot][order[d]] != stride:
                return False
            stride *= layout.shape[order[d]]
    return True


cdef void address_materialized(Layout *layout, int slot, char *data, int *order, npy_intp item) noexcept:
    cdef npy_intp stride = item
    cdef int d
    layout.data[slot] = data
    for d in range(layout.ndim - 1, -1, -1):
        layout.strides[slot][order[d]] = stride
        stride *= length(layout, slot, order[d])


cdef bint address_input(FusedPlan plan, Run *run, Layout *layout, int slot, npy_intp *shape, int *order) noexcept nogil:
    """Set the address from which the steps read an input.

    A contiguous input, or a single repeated element, is read in place. For any other input, each tile is
    copied to a buffer. Return False if no buffer is free.
    """
    cdef Gather *into = &run.gather[run.gathers]
    cdef npy_intp strides[MAX_RANK]
    cdef npy_intp item = item_size(plan.kind[slot])
    cdef int d
    if run.schedule.buffers + run.gathers - run.first_gather >= MAX_BUFFERS or run.gathers >= MAX_GATHERS:
        return False
    for d in range(layout.ndim):
        strides[d] = layout.strides[slot][order[d]] if layout.longs[slot] >> order[d] & 1 else 0
    run.address[slot].data = layout.data[slot]
    init_gather(into, layout.data[slot], layout.ndim, shape, strides, item)
    if into.ndim == 1 and (into.strides[0] == item or (into.strides[0] == 0 and not plan.in_rows[slot])):
        run.address[slot].stride = run.address[slot].advance = into.strides[0]
        return True
    into.slot = slot
    run.address[slot].stride, run.address[slot].advance = item, 0
    run.gathers += 1
    return True


cdef bint configure_scalar_loops(FusedGroup g, FusedPlan plan, IValue *r, const int32_t *at, Run *run) noexcept:
    """Prepare the loops of operations with scalar parameters. Return False if a loop does not support its
    parameters.
    """
    cdef IValue *others[MAX_ARGUMENTS]
    cdef TileOp *tile_op
    cdef int i, k, op_index
    for i in range(plan.count):
        tile_op = &plan.tile_ops[i]
        op_index = tile_op.out - g.inputs
        if tile_op.tile != NO_INDEX and tile_op.by_channels == NULL:
            for k in range(1, g.arity[op_index]):
                others[k - 1] = &r[at[g.operands[op_index][k]]]
            if not tile_op.read(plan.kind[tile_op.out], others, &run.tile[tile_op.tile]):
                return False
    return True


cdef bint address_channels(FusedGroup g, FusedPlan plan, IValue *r, const int32_t *at, Run *run, PyArrayObject *like, list owners) except -1:
    cdef IValue *others[MAX_EPILOGUE_ARGUMENTS]
    cdef Tile *tile
    cdef TileOp *tile_op
    cdef npy_intp count, inner = 1
    cdef int i, k, d, op_index
    if ndim_of(like) < 2:
        return False
    if not (ndim_of(like) > 3 and is_channels_last(like)):
        if flags_of(like) & CONTIGUOUS_FLAGS != CONTIGUOUS_FLAGS:
            return False
        for d in range(2, ndim_of(like)):
            inner *= dims_of(like)[d]
    for i in range(plan.count):
        tile_op = &plan.tile_ops[i]
        if tile_op.by_channels == NULL:
            continue
        op_index = tile_op.out - g.inputs
        for k in range(1, g.arity[op_index]):
            others[k - 1] = &r[at[g.operands[op_index][k]]]
        tile = &run.tile[tile_op.tile]
        tile.inner, tile.channels = inner, dims_of(like)[1]
        count = 2 * tile.channels
        vectors = new_array(1, &count, number_of_scalar_type(plan.kind[tile_op.out]))
        owners.append(vectors)
        tile.vectors = data_of(<PyArrayObject *>vectors)
        if not tile_op.by_channels(plan.kind[tile_op.out], others, tile, data_of(<PyArrayObject *>vectors)):
            return False
    return True


cdef bint address_scalars(FusedGroup g, FusedPlan plan, IValue *r, const int32_t *at, Run *run) noexcept:
    """Set the addresses of 0-dim tensors, and of numbers converted to the dtypes of their slots.

    Return False if a conversion fails.
    """
    cdef int i, slot
    for i in range(g.inputs):
        if plan.guards[i] & AN_ELEMENT:
            if not flags_of(run.input[i]) & cnp.NPY_ARRAY_ALIGNED:
                return False
            run.address[i].data = data_of(run.input[i])
            run.address[i].stride = run.address[i].advance = 0
    if plan.tiles and not configure_scalar_loops(g, plan, r, at, run):
        return False
    for slot in range(g.values, plan.slots):
        i = plan.source[slot]
        if plan.producer[slot] != NO_INDEX:
            continue
        run.address[slot].data = <char *>&run.numbers[slot]
        run.address[slot].stride = run.address[slot].advance = 0
        if plan.guards[i] & A_NUMBER:
            if not store_number(plan.kind[slot], &r[at[i]], run.address[slot].data):
                return False
        elif not store_element(plan.kind[slot], <Tensor>r[at[i]].v.o, run.address[slot].data):
            return False
    return True
