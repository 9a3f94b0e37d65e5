"""Memory planning (scratch buffers) and choice of loops for fusion groups with given dtypes.

Input: a program (`ts.fusion.program`), and interpreter registers with tensors and numbers. Output: the
`FusedPlan` for the dtypes of the inputs.

Plans are cached.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator
from ts._core.tensor.ndarray cimport BOOL, CDOUBLE, CFLOAT, DOUBLE, FLOAT, HALF, INT64, PyArrayObject, ndim_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_INT, TAG_OBJECT
from ts._core.value.no_python_construction cimport seal
from ts.backends.cpu.kernels.convert cimport conversion_data, convert_tile, has_conversion
from ts.backends.cpu.kernels.elementwise cimport SCALAR_TYPES, Loops, item_size
from ts.backends.cpu.kernels.fused_chains cimport arithmetic_operation, merge_arithmetic
from ts.backends.cpu.kernels.kernel cimport is_tensor
from ts.backends.cpu.kernels.masked cimport selection_loop
from ts.backends.cpu.kernels.pointwise cimport loops_of_record
from ts.backends.cpu.kernels.row_loops cimport NOT_ARITHMETIC
from ts.backends.cpu.kernels.short_floats cimport BFLOAT16
from ts.backends.cpu.kernels.kernel_registry cimport ReadChannels, ReadTile, find_channels, find_choice
from ts.backends.cpu.kernels.kernel_registry cimport find_epilogue, find_tile, find_view, is_conversion

from ts import dtypes


cdef uint32_t argument_guard(IValue *x) noexcept:
    cdef Tensor t
    if x.tag == TAG_FLOAT or x.tag == TAG_INT:
        return A_NUMBER | <uint32_t>x.tag
    if x.tag != TAG_OBJECT or type(<object>x.v.o) is str:
        return OTHER_VALUE
    if not is_tensor(x):
        return UNSUPPORTED
    t = <Tensor>x.v.o
    if t.backend != BACKEND_CPU or t.scalar_type >= SCALAR_TYPES:
        return UNSUPPORTED
    return (AN_ELEMENT if ndim_of(<PyArrayObject *>t.array) == 0 else A_TENSOR) | <uint32_t>t.scalar_type


cdef tuple tensor_geometry(IValue *x):
    """Return dtype code, sizes and strides of a tensor, or None for other values."""
    if x.tag != TAG_OBJECT or not is_tensor(x):
        return None
    t = <Tensor>x.v.o
    array = t.array  # attributes of `t` could call `__torch_function__` of a subclass
    return t.scalar_type, array.shape, tuple([step // array.itemsize for step in array.strides])


cdef str describe_guard(uint32_t guard):
    if guard & OTHER_VALUE:
        return "constant"
    if guard & A_DTYPE:
        return str(dtypes.BY_CODE.get(guard >> 16, "int (number)")).removeprefix("torch.") + " (dtype)"
    if guard & A_NUMBER:
        return "float (number)" if guard & 0xff == TAG_FLOAT else "int (number)"
    name = str(dtypes.BY_CODE[guard & 0xff]).removeprefix("torch.")
    return f"{name} (0-dim)" if guard & AN_ELEMENT else name


@cython.final
cdef class FusedPlan:
    """Execution plan of a group for inputs of given dtypes, or the reason why the group cannot run."""

    def inputs(self, int count):
        """Return the names of the first `count` inputs' dtypes, such as "float32 (0-dim)" or "int (number)"."""
        return [describe_guard(self.guards[i]) for i in range(min(count, <int>MAX_INPUTS))]

    cdef bint matches(self, const uint32_t *guards, int count) noexcept:
        cdef int i
        for i in range(count):
            if self.guards[i] != guards[i]:
                return False
        return True


# ---------------------------------------------------------------- slots and steps

cdef TileOp *add_tile_op(FusedPlan plan, int out, int kind) noexcept:
    cdef TileOp *tile_op = &plan.tile_ops[plan.count]
    tile_op.out, tile_op.tile, tile_op.by_channels = out, NO_INDEX, NULL
    tile_op.arithmetic, tile_op.is_exp, tile_op.chain = NOT_ARITHMETIC, False, NO_INDEX
    plan.kind[out], plan.producer[out] = kind, plan.count
    plan.count += 1
    return tile_op


cdef void finish_tile_op(FusedPlan plan, TileOp *tile_op) noexcept:
    """Set the flags of a step's result from the flags of its operands."""
    cdef int k
    plan.is_element[tile_op.out] = True
    for k in range(tile_op.arity):
        plan.is_element[tile_op.out] = plan.is_element[tile_op.out] and plan.is_element[tile_op.operands[k]]
    plan.has_elements = plan.has_elements or plan.is_element[tile_op.out]


cdef inline bint is_integral(int kind) noexcept:
    return 0 <= kind <= INT64 or kind == BOOL


cdef inline int category(int kind) noexcept:
    return 0 if kind == BOOL else 1 if is_integral(kind) else 2


cdef int default_kind(FusedPlan plan):
    plan.default = dtypes.get_default_dtype().code
    return plan.default


cdef int common_kind(FusedPlan plan, int first, int second):
    """Return the dtype to which two slots are promoted, or NO_INDEX if the promotion is unsupported.

    For operands of one category (such as float), the dtype of a tensor with dimensions has precedence. The
    dtype of a 0-dim tensor comes next, and the dtype of a number last.
    """
    cdef int a = plan.kind[first], b = plan.kind[second]
    cdef uint32_t guard
    if b == NO_INDEX:
        first, second, a, b = second, first, b, a
    if b == NO_INDEX or b in (CFLOAT, CDOUBLE) or a in (CFLOAT, CDOUBLE):
        return NO_INDEX
    if a == NO_INDEX:
        guard = plan.guards[first]
        if guard & OTHER_VALUE:
            return NO_INDEX
        if guard & 0xff == TAG_FLOAT:
            return b if category(b) == 2 else default_kind(plan)
        return INT64 if b == BOOL else b
    if a == b:
        return a
    if plan.is_element[first] == plan.is_element[second]:
        return dtypes.promote(dtypes.BY_CODE[a], dtypes.BY_CODE[b]).code
    if plan.is_element[first]:
        a, b = b, a
    return b if category(b) > category(a) else a


cdef int slot_in_dtype(FusedPlan plan, int slot, int other, int kind) noexcept:
    """Return a slot that has the elements of `slot` in dtype `kind`, or NO_INDEX if no conversion exists.

    If `other` is the slot of a tensor with dimensions, a 0-dim input is converted once, before the group
    runs.
    """
    if plan.kind[slot] == kind:
        return slot
    if plan.kind[slot] == NO_INDEX:
        return number_slot(plan, slot, kind)
    if plan.producer[slot] == NO_INDEX and plan.is_element[slot] and other != NO_INDEX and not plan.is_element[other]:
        if plan.kind[slot] in (INT64, FLOAT, DOUBLE):
            return number_slot(plan, slot, kind)
    return converted_slot(plan, slot, kind)


cdef int new_slot(FusedPlan plan, int source, int kind) noexcept:
    """Append a slot for the elements of slot `source` in dtype `kind`, and return the index of the new slot.

    Return NO_INDEX if there are too many slots.
    """
    cdef int slot = plan.slots
    if slot >= MAX_SLOTS:
        return NO_INDEX
    plan.source[slot], plan.kind[slot], plan.is_element[slot] = source, kind, plan.is_element[source]
    plan.slots += 1
    return slot


cdef int number_slot(FusedPlan plan, int input, int kind) noexcept:
    """Return the slot that has the number or 0-dim tensor `input` in dtype `kind`.

    The element is converted before the group runs. Return NO_INDEX for other inputs and unsupported
    conversions.
    """
    cdef int slot
    if not plan.is_element[input] or plan.producer[input] != NO_INDEX or plan.guards[input] & OTHER_VALUE:
        return NO_INDEX
    if kind == BOOL or plan.kind[input] == BOOL:
        return NO_INDEX
    for slot in range(plan.slots):
        if plan.source[slot] == input and plan.kind[slot] == kind and plan.producer[slot] == NO_INDEX:
            return slot
    return new_slot(plan, input, kind)


cdef int converted_slot(FusedPlan plan, int slot, int kind) noexcept:
    """Return the slot of a conversion of `slot` to dtype `kind`. Add the conversion if it does not exist."""
    cdef TileOp *tile_op
    cdef int existing
    if plan.kind[slot] == kind:
        return slot
    for existing in range(plan.slots):
        if plan.source[existing] == slot and plan.kind[existing] == kind and plan.producer[existing] != NO_INDEX:
            return existing
    if kind in (HALF, BFLOAT16) and not has_conversion(plan.kind[slot], kind):
        # as in NumPy, integers are converted to half precision through float32
        slot = converted_slot(plan, slot, FLOAT)
        return NO_INDEX if slot == NO_INDEX else converted_slot(plan, slot, kind)
    if not has_conversion(plan.kind[slot], kind) or plan.count >= MAX_SLOTS:
        return NO_INDEX
    existing = new_slot(plan, slot, kind)
    if existing == NO_INDEX:
        return NO_INDEX
    tile_op = add_tile_op(plan, existing, kind)
    tile_op.arity, tile_op.operands[0] = 1, slot
    tile_op.function, tile_op.data = convert_tile, conversion_data(plan.kind[slot], kind)
    plan.in_rows[slot] = True
    finish_tile_op(plan, tile_op)
    return existing


cdef TileOp *add_tile(FusedPlan plan, int out, int first) noexcept:
    """Append a step whose loop is selected when the group runs. Return NULL if there are too many such steps.

    The step reads slot `first` as contiguous rows.
    """
    cdef TileOp *tile_op
    if plan.tiles >= MAX_SCALAR_LOOPS:
        return NULL
    tile_op = add_tile_op(plan, out, plan.kind[first])
    tile_op.arity, tile_op.operands[0], tile_op.tile = 1, first, plan.tiles
    plan.in_rows[first] = True
    plan.tiles += 1
    finish_tile_op(plan, tile_op)
    return tile_op


@cython.final
cdef class FusedGroup:
    """The program of a fusion group as C structures, with its cached plans."""

    cdef int read(self, program) except -1:
        """Read the operations of a program. Raise ValueError if the program exceeds a limit."""
        cdef int i, k
        self.program = program
        self.plans = []
        self.inputs = len(program.inputs)
        self.op_count = len(program.operations)
        self.outputs = len(program.outputs)
        self.epilogue_count = len(program.epilogues)
        self.continues = program.continues
        if self.inputs > MAX_INPUTS or self.inputs + self.op_count + self.epilogue_count > MAX_SLOTS // 2 or self.epilogue_count > MAX_EPILOGUES:
            raise ValueError("the fusion group has too many inputs, operators or epilogues")
        self.values = self.inputs + self.op_count + (self.epilogue_count if self.continues else 0)
        for i, value in enumerate(program.execution_order()):
            self.order[i] = value
        self.operators = [operation.operator for operation in program.operations]
        self.in_any_order = True
        for i in range(self.inputs):
            self.is_dtype[i] = False
            self.is_argument[i] = program.inputs[i] == "-"
        for i in range(self.op_count):
            operands = program.operations[i].operands
            by_channels = program.operations[i].operator.record.channels
            if len(operands) > (MAX_EPILOGUE_ARGUMENTS if by_channels else MAX_ARGUMENTS):
                raise ValueError("an operator of the fusion group has more than four arguments")
            self.by_channels = self.by_channels or by_channels
            self.is_plain[i] = program.operations[i].operator.record.layout == ("contiguous",)
            self.in_any_order = self.in_any_order and not self.is_plain[i]
            self.arity[i] = len(operands)
            if is_conversion(program.operations[i].operator.key) and len(operands) > 1 and operands[1] < self.inputs:
                self.is_dtype[operands[1]] = True
            for k in range(self.arity[i]):
                self.operands[i][k] = operands[k]
        for i in range(self.outputs):
            self.out_at[i] = program.outputs[i]
        self.read_views(program.view_inputs)
        self.epilogue_operators = [epilogue.operator for epilogue in program.epilogues]
        for i in range(self.epilogue_count):
            operands = program.epilogues[i].operands
            if len(operands) > MAX_EPILOGUE_ARGUMENTS:
                raise ValueError("an epilogue of the fusion group has more than nine arguments")
            self.is_read[i] = any([self.inputs + self.op_count + i in operation.operands for operation in program.operations])
            self.reduces[i] = any([argument.name == "keepdim" for argument in program.epilogues[i].operator.record.schema.arguments])
            self.epilogue_read[i] = find_epilogue(self.epilogue_operators[i].key)
            self.epilogue_arity[i] = len(operands)
            for k in range(self.epilogue_arity[i]):
                self.epilogue_operands[i][k] = operands[k]
        return 0

    cdef int read_views(self, tuple view_inputs) except -1:
        cdef ViewInput *view
        cdef int i, k
        self.view_count = len(view_inputs)
        if self.view_count > MAX_VIEWS:
            raise ValueError("the fusion group has more than sixteen views")
        for i in range(self.view_count):
            view, operands = &self.views[i], view_inputs[i].operands
            view.input, view.result_index, view.result_count = view_inputs[i].input, view_inputs[i].result_index, view_inputs[i].result_count
            view.read = find_view(view_inputs[i].operator.key)
            view.arity = len(operands)
            if view.read == NULL or view.arity > MAX_VIEW_ARGUMENTS:
                raise ValueError("the fusion group has a view that the CPU kernel does not support")
            for k in range(view.arity):
                view.operands[k] = operands[k]
        return 0

    cdef FusedPlan plan_for(self, IValue *r, const int32_t *at):
        """Return the plan for these inputs, created on first use, or None for unsupported inputs."""
        cdef uint32_t guards[MAX_INPUTS]
        cdef FusedPlan plan
        cdef int i
        for i in range(self.inputs):
            guards[i] = OTHER_VALUE if self.is_argument[i] else argument_guard(&r[at[i]])
            if self.is_dtype[i] and guards[i] == (A_NUMBER | TAG_INT):
                if not 0 <= r[at[i]].v.i < SCALAR_TYPES:
                    return None
                guards[i] = A_NUMBER | A_DTYPE | <uint32_t>(r[at[i]].v.i << 16) | TAG_INT
            if guards[i] == UNSUPPORTED:
                return None
        plan = self.last
        if plan is not None and plan.matches(guards, self.inputs):
            return plan
        for plan in self.plans:
            if plan.matches(guards, self.inputs):
                self.last = plan
                return plan
        plan = self.make_plan(guards)
        plan.example_inputs = tuple([None if self.is_argument[i] else tensor_geometry(&r[at[i]]) for i in range(self.inputs)])
        if len(self.plans) >= MAX_PLANS:
            self.plans = self.plans[1:]
        self.plans = [*self.plans, plan]
        self.last = plan
        return plan

    cdef FusedPlan make_plan(self, uint32_t *guards):
        cdef FusedPlan plan = FusedPlan.__new__(FusedPlan)
        cdef int stage[MAX_SLOTS]
        cdef int i
        for i in range(MAX_SLOTS):
            stage[i] = 0
        for i in range(self.inputs):
            plan.guards[i] = guards[i]
        plan.unsupported_reason = self.choose_loops(plan) or self.choose_results(plan)
        if not plan.unsupported_reason and self.continues:
            merge_arithmetic(self, plan)
        if not plan.unsupported_reason and not self.assign_buffers(plan, stage, 1, &plan.uniform_schedule):
            plan.unsupported_reason = "it needs too many buffers"
        plan.runnable = plan.unsupported_reason == ""
        return plan

    cdef str choose_loops(self, FusedPlan plan):
        """Determine the dtype of each slot and the loop of each operation.

        Return the reason if an operation has no loop, else "".
        """
        cdef int i, position
        cdef Operator op
        cdef ReadTile read
        plan.slots = self.values
        plan.tiles = plan.count = 0
        plan.default = NO_INDEX
        plan.loops = []
        for i in range(MAX_SLOTS):
            plan.at[i], plan.producer[i], plan.source[i] = i, NO_INDEX, NO_INDEX
        for i in range(self.inputs):
            plan.kind[i] = <int>(plan.guards[i] & 0xff) if plan.guards[i] & (A_TENSOR | AN_ELEMENT) else NO_INDEX
            plan.is_element[i] = not plan.guards[i] & A_TENSOR
        for position in range(self.op_count + self.epilogue_count):
            i = self.order[position] - self.inputs
            if i >= self.op_count:
                self.place_epilogue(plan, i - self.op_count)
                continue
            op = self.operators[i]
            key = op.key
            order, read = find_choice(key), find_tile(key)
            if find_channels(key) != NULL:
                reason = self.choose_channels(plan, i, find_channels(key))
            elif order is not None:
                reason = self.choose_choice(plan, i, order)
            elif read != NULL:
                reason = self.choose_tile(plan, i, read)
            elif is_conversion(key):
                reason = self.choose_conversion(plan, i)
            else:
                reason = self.choose_loop(plan, i, loops_of_record(op))
            if reason:
                return f"{op.name} has {reason}"
        plan.tile = TILE_BYTES // 4
        for i in range(plan.slots):
            if plan.kind[i] != NO_INDEX and item_size(plan.kind[i]) > 4:
                plan.tile = TILE_BYTES // 8
        return ""

    cdef void place_epilogue(self, FusedPlan plan, int e) noexcept:
        """Set the position of an epilogue among the steps, and the dtype of its result if operations read it.

        The dtype is the dtype of the epilogue's input. A run for which this is wrong is not fused.
        """
        cdef int slot = self.inputs + self.op_count + e
        plan.epilogue_position[e] = plan.count
        if self.continues:
            plan.kind[slot], plan.is_element[slot] = plan.kind[plan.at[self.epilogue_operands[e][0]]], False

    cdef str choose_loop(self, FusedPlan plan, int op_index, Loops loops):
        """Add the step of an operator with ufunc loops.

        Return the reason if the operator is unsupported, else "".
        """
        cdef int first = plan.at[self.operands[op_index][0]], second = NO_INDEX, kind = plan.kind[first]
        cdef TileOp *tile_op
        if loops is None or loops.arity != self.arity[op_index]:
            return "no loop"
        if loops.arity == 2:
            second = plan.at[self.operands[op_index][1]]
            if loops.name == "subtract" and (kind == BOOL or plan.kind[second] == BOOL):
                return "no loop for that dtype"
            kind = common_kind(plan, first, second)
            if kind == HALF and not (plan.kind[first] in (HALF, NO_INDEX) and plan.kind[second] in (HALF, NO_INDEX)):
                # Operands of two dtypes are not fused if one dtype is half precision. The separate operator
                # uses another NumPy loop for them, and zeros in its results may have another sign than those
                # of a fused loop.
                return "operands of two dtypes"
        if loops.to_float and is_integral(kind):
            kind = default_kind(plan)
        if kind < 0 or kind in (CFLOAT, CDOUBLE) or loops.function[kind] == NULL:
            return "no loop for that dtype"
        plan.loops.append(loops)
        first = slot_in_dtype(plan, first, second, kind)
        if second != NO_INDEX:
            second = slot_in_dtype(plan, second, first, kind)
        if first == NO_INDEX or (second == NO_INDEX and loops.arity == 2):
            return "operands of two dtypes"
        tile_op = add_tile_op(plan, self.inputs + op_index, loops.result_type[kind])
        tile_op.arity, tile_op.function, tile_op.data = loops.arity, loops.function[kind], loops.data[kind]
        tile_op.operands[0], tile_op.operands[1] = first, second
        tile_op.arithmetic, tile_op.is_exp = arithmetic_operation(loops.name), loops.name == "exp"
        finish_tile_op(plan, tile_op)
        return ""

    cdef str choose_tile(self, FusedPlan plan, int op_index, ReadTile read):
        """Add the step of an operator whose scalar parameters are read when the group runs.

        Return the reason if the operator is unsupported, else "".
        """
        cdef int first = plan.at[self.operands[op_index][0]], kind = plan.kind[first], k
        cdef TileOp *tile_op
        if self.arity[op_index] != (<Operator>self.operators[op_index]).nargs:
            return "too few arguments"
        if kind != FLOAT and kind != DOUBLE:
            return "no loop for that dtype"
        for k in range(1, self.arity[op_index]):
            if self.operands[op_index][k] >= self.inputs or plan.kind[self.operands[op_index][k]] != NO_INDEX:
                return "a tensor for an argument that must be a number"
        tile_op = add_tile(plan, self.inputs + op_index, first)
        if tile_op == NULL:
            return "too many operators with scalar parameters in its group"
        tile_op.read = read
        return ""

    cdef str choose_channels(self, FusedPlan plan, int op_index, ReadChannels read):
        """Add the step of an operator whose per-channel vectors are read when the group runs.

        Return the reason if the operator is unsupported, else "".
        """
        cdef int first = plan.at[self.operands[op_index][0]], kind = plan.kind[first], k
        cdef TileOp *tile_op
        for k in range(1, self.arity[op_index]):
            if self.operands[op_index][k] >= self.inputs or not self.is_argument[self.operands[op_index][k]]:
                return "an argument that is not a constant"
        if (kind != FLOAT and kind != DOUBLE) or self.arity[op_index] != (<Operator>self.operators[op_index]).nargs:
            return "no loop for that dtype"
        tile_op = add_tile(plan, self.inputs + op_index, first)
        if tile_op == NULL:
            return "too many operators with scalar parameters in its group"
        tile_op.by_channels = read
        return ""

    cdef str choose_choice(self, FusedPlan plan, int op_index, tuple order):
        """Add the step of an operator that selects elements of two operands by a mask (such as where).

        `order` has the argument positions of the mask and of the two operands. Return the reason if the
        operator is unsupported, else "".
        """
        cdef int slots[3]
        cdef int k, kind = NO_INDEX
        cdef TileOp *tile_op
        if self.arity[op_index] != 3 or plan.kind[plan.at[self.operands[op_index][<int>order[0]]]] != BOOL:
            return "a mask that is not a bool tensor"
        for k in range(3):
            slots[k] = plan.at[self.operands[op_index][<int>order[k]]]
            if k and plan.kind[slots[k]] != NO_INDEX:
                if kind != NO_INDEX and plan.kind[slots[k]] != kind:
                    return "operands of two dtypes"
                kind = plan.kind[slots[k]]
        if kind == NO_INDEX or kind in (BOOL, CFLOAT, CDOUBLE):
            return "no loop for that dtype"
        for k in range(1, 3):
            if plan.kind[slots[k]] != kind:
                slots[k] = number_slot(plan, slots[k], kind)
            if slots[k] == NO_INDEX:
                return "operands of two dtypes"
        tile_op = add_tile_op(plan, self.inputs + op_index, kind)
        tile_op.arity, tile_op.function, tile_op.data = 3, selection_loop(item_size(kind)), NULL
        for k in range(3):
            tile_op.operands[k] = slots[k]
        finish_tile_op(plan, tile_op)
        return ""

    cdef str choose_conversion(self, FusedPlan plan, int op_index):
        """Add a conversion to a given dtype or to a tensor's dtype, unless the operand has this dtype.

        Return the reason if the operator is unsupported, else "".
        """
        cdef int first = plan.at[self.operands[op_index][0]], target, to
        if self.arity[op_index] != 2 or plan.kind[first] == NO_INDEX:
            return "other arguments than a dtype"
        target = plan.at[self.operands[op_index][1]]
        if target < self.inputs and plan.guards[target] & A_DTYPE:
            to = plan.guards[target] >> 16
        else:
            to = plan.kind[target]
        if to == NO_INDEX or plan.kind[first] == NO_INDEX:
            return "an unsupported dtype"
        target = converted_slot(plan, first, to)
        if target == NO_INDEX:
            return "no loop for that dtype"
        plan.at[self.inputs + op_index] = target
        return ""

    cdef str choose_results(self, FusedPlan plan):
        """Set the slot of each result and of each epilogue's input.

        Return the reason if a slot is not written by a step, or if two results have the same slot, else "".
        """
        cdef int i, slot
        for slot in range(MAX_SLOTS):
            plan.is_result[slot] = plan.is_required[slot] = False
        for i in range(self.outputs):
            plan.out_at[i] = NO_INDEX
            if self.out_at[i] >= self.inputs + self.op_count:
                continue
            slot = plan.out_at[i] = plan.at[self.out_at[i]]
            if plan.producer[slot] == NO_INDEX or plan.is_result[slot]:
                return "a conversion returns its operand unchanged"
            plan.is_result[slot] = plan.is_required[slot] = True
        for i in range(self.epilogue_count):
            slot = plan.epilogue_slot[i] = plan.at[self.epilogue_operands[i][0]]
            if plan.producer[slot] == NO_INDEX and not self.continues:
                return "a conversion returns its operand unchanged"
            plan.is_required[slot] = plan.producer[slot] != NO_INDEX
        plan.required_count = 0
        for slot in range(plan.slots):
            if plan.is_required[slot]:
                plan.required_slots[plan.required_count] = slot
                plan.required_count += 1
        return ""

    cdef bint assign_buffers(self, FusedPlan plan, const int *stage, int stages, Schedule *schedule) noexcept:
        """Assign buffers to results (memory planning, buffer reuse). Return False if there are too few buffers."""
        cdef int last[MAX_SLOTS]       # slot -> position in the schedule of the last step that reads it
        cdef bint is_materialized[MAX_SLOTS]
        cdef bint in_use[MAX_BUFFERS]
        cdef int i, k, b, s, slot, n = 0
        for slot in range(plan.slots):
            last[slot], is_materialized[slot] = NO_INDEX, plan.is_required[slot]
        for s in range(stages):
            for i in range(plan.count):
                if stage[i] == s:
                    schedule.order[n] = i
                    n += 1
            schedule.end[s] = n
        schedule.stages = stages
        for i in range(n):
            for k in range(plan.tile_ops[schedule.order[i]].arity):
                slot = plan.tile_ops[schedule.order[i]].operands[k]
                last[slot] = i
                if plan.producer[slot] != NO_INDEX and stage[plan.producer[slot]] != stage[schedule.order[i]]:
                    is_materialized[slot] = True
        for b in range(MAX_BUFFERS):
            in_use[b] = False
        schedule.buffers = 0
        for i in range(n):
            slot = plan.tile_ops[schedule.order[i]].out
            schedule.buffer[slot] = NO_INDEX
            self.free_buffers(plan, schedule, i, last, in_use, True)
            if not is_materialized[slot]:
                for b in range(MAX_BUFFERS):
                    if not in_use[b]:
                        break
                else:
                    return False
                schedule.buffer[slot] = b
                in_use[b] = last[slot] != NO_INDEX
                schedule.buffers = max(schedule.buffers, b + 1)
            self.free_buffers(plan, schedule, i, last, in_use, False)
        return True

    cdef void free_buffers(self, FusedPlan plan, Schedule *schedule, int at, int *last, bint *in_use, bint before) noexcept:
        """Release the buffers whose last reader is step `at`.

        Each step has two calls. The call with `before` set releases the buffers that the step's result may
        overwrite. The call after the result has a buffer releases the others.
        """
        cdef TileOp *tile_op = &plan.tile_ops[schedule.order[at]]
        cdef npy_intp width = item_size(plan.kind[tile_op.out])
        cdef int k, slot
        for k in range(tile_op.arity):
            slot = tile_op.operands[k]
            if plan.producer[slot] != NO_INDEX and last[slot] == at and schedule.buffer[slot] != NO_INDEX:
                if before == (tile_op.tile == NO_INDEX and item_size(plan.kind[slot]) == width):
                    in_use[schedule.buffer[slot]] = False


cdef FusedGroup read_group(program):
    cdef FusedGroup group = FusedGroup.__new__(FusedGroup)
    group.read(program)
    return group


seal(FusedPlan)
seal(FusedGroup)
