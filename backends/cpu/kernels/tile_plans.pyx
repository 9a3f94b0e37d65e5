"""Planning of fusion groups: the loops of the rows for inputs of given dtypes, and the buffers of their results.

In: a program (`ts.fusion.program`), registers with tensors and numbers.  Out: the `Plan` for them.

A plan is created for each new combination of inputs and cached. The plan used last is checked first.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator
from ts._core.tensor.ndarray cimport BOOL, CDOUBLE, CFLOAT, DOUBLE, FLOAT, HALF, INT64, PyArrayObject, ndim_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_INT, TAG_OBJECT
from ts._core.value.sealed cimport seal
from ts.backends.cpu.kernels.convert cimport conversion_data, convert_tile, converts
from ts.backends.cpu.kernels.elementwise cimport SCALAR_TYPES, Loops, item_size
from ts.backends.cpu.kernels.kernel cimport is_tensor
from ts.backends.cpu.kernels.masked cimport choice_of
from ts.backends.cpu.kernels.pointwise cimport loops_behind
from ts.backends.cpu.kernels.short_floats cimport BRAIN
from ts.backends.cpu.kernels.table cimport ReadChannels, ReadTile, channels_named, choice_named
from ts.backends.cpu.kernels.table cimport conversion_named, end_named, tile_named, view_named

from ts import dtypes


cdef uint32_t word_of(IValue *x) noexcept:
    cdef Tensor t
    if x.tag == TAG_FLOAT or x.tag == TAG_INT:
        return A_NUMBER | <uint32_t>x.tag
    if x.tag != TAG_OBJECT or type(<object>x.v.o) is str:
        return ANOTHER
    if not is_tensor(x):
        return NOTHING
    t = <Tensor>x.v.o
    if t.backend != BACKEND_CPU or t.scalar_type >= SCALAR_TYPES:
        return NOTHING
    return (AN_ELEMENT if ndim_of(<PyArrayObject *>t.array) == 0 else A_TENSOR) | <uint32_t>t.scalar_type


cdef str name_of(uint32_t word):
    if word & ANOTHER:
        return "constant"
    if word & A_DTYPE:
        return str(dtypes.BY_CODE.get(word >> 16, "int (number)")).removeprefix("torch.") + " (dtype)"
    if word & A_NUMBER:
        return "float (number)" if word & 0xff == TAG_FLOAT else "int (number)"
    name = str(dtypes.BY_CODE[word & 0xff]).removeprefix("torch.")
    return f"{name} (0-dim)" if word & AN_ELEMENT else name


@cython.final
cdef class Plan:
    """Execution plan of a group for inputs of given dtypes, or the reason why there is none."""

    def inputs(self, int count):
        """Return names of the inputs' dtypes, with (0-dim) or (number) if they are that."""
        return [name_of(self.words[i]) for i in range(min(count, <int>MOST_INPUTS))]

    cdef bint holds(self, const uint32_t *words, int count) noexcept:
        cdef int i
        for i in range(count):
            if self.words[i] != words[i]:
                return False
        return True


# ---------------------------------------------------------------- slots and steps

cdef Step *add_step(Plan plan, int out, int kind) noexcept:
    cdef Step *step = &plan.steps[plan.count]
    step.out, step.tile, step.by_channels = out, NOWHERE, NULL
    plan.kind[out], plan.made_by[out] = kind, plan.count
    plan.count += 1
    return step


cdef void finish_step(Plan plan, Step *step) noexcept:
    """Set the flags of the result from those of the step's operands."""
    cdef int k
    plan.is_element[step.out] = True
    for k in range(step.arity):
        plan.is_element[step.out] = plan.is_element[step.out] and plan.is_element[step.operands[k]]
    plan.has_elements = plan.has_elements or plan.is_element[step.out]


cdef inline bint is_whole(int kind) noexcept:
    return 0 <= kind <= INT64 or kind == BOOL


cdef inline int category(int kind) noexcept:
    return 0 if kind == BOOL else 1 if is_whole(kind) else 2


cdef int default_kind(Plan plan):
    plan.default = dtypes.get_default_dtype().code
    return plan.default


cdef int common_kind(Plan plan, int first, int second):
    """Return the dtype that two slots are promoted to, or NOWHERE if it is unsupported.

    By PyTorch's rule: within a category, tensors with dimensions take precedence over 0-dim tensors, and
    these over numbers.
    """
    cdef int a = plan.kind[first], b = plan.kind[second]
    cdef uint32_t word
    if b == NOWHERE:
        first, second, a, b = second, first, b, a
    if b == NOWHERE or b in (CFLOAT, CDOUBLE) or a in (CFLOAT, CDOUBLE):
        return NOWHERE
    if a == NOWHERE:
        word = plan.words[first]
        if word & ANOTHER:
            return NOWHERE
        if word & 0xff == TAG_FLOAT:
            return b if category(b) == 2 else default_kind(plan)
        return INT64 if b == BOOL else b
    if a == b:
        return a
    if plan.is_element[first] == plan.is_element[second]:
        return dtypes.promote(dtypes.BY_CODE[a], dtypes.BY_CODE[b]).code
    if plan.is_element[first]:
        a, b = b, a
    return b if category(b) > category(a) else a


cdef int in_kind(Plan plan, int slot, int beside, int kind) noexcept:
    """Return a slot with the elements of `slot` in dtype `kind`, or NOWHERE if there is no conversion."""
    if plan.kind[slot] == kind:
        return slot
    if plan.kind[slot] == NOWHERE:
        return number_slot(plan, slot, kind)
    if plan.made_by[slot] == NOWHERE and plan.is_element[slot] and beside != NOWHERE and not plan.is_element[beside]:
        if plan.kind[slot] in (INT64, FLOAT, DOUBLE):
            return number_slot(plan, slot, kind)
    return converted(plan, slot, kind)


cdef int another_slot(Plan plan, int source, int kind) noexcept:
    """Append a slot that holds the elements of `source` in dtype `kind`; NOWHERE if there are too many slots."""
    cdef int slot = plan.slots
    if slot >= MOST_SLOTS:
        return NOWHERE
    plan.source[slot], plan.kind[slot], plan.is_element[slot] = source, kind, plan.is_element[source]
    plan.slots += 1
    return slot


cdef int number_slot(Plan plan, int input, int kind) noexcept:
    """Return the slot of a number or a 0-dim input in dtype `kind`; it is written before the group runs."""
    cdef int slot
    if not plan.is_element[input] or plan.made_by[input] != NOWHERE or plan.words[input] & ANOTHER:
        return NOWHERE
    if kind == BOOL or plan.kind[input] == BOOL:
        return NOWHERE
    for slot in range(plan.slots):
        if plan.source[slot] == input and plan.kind[slot] == kind and plan.made_by[slot] == NOWHERE:
            return slot
    return another_slot(plan, input, kind)


cdef int converted(Plan plan, int slot, int kind) noexcept:
    """Return the slot of a conversion of `slot` to dtype `kind`, adding the step if it does not exist."""
    cdef Step *step
    cdef int found
    if plan.kind[slot] == kind:
        return slot
    for found in range(plan.slots):
        if plan.source[found] == slot and plan.kind[found] == kind and plan.made_by[found] != NOWHERE:
            return found
    if kind in (HALF, BRAIN) and not converts(plan.kind[slot], kind):
        slot = converted(plan, slot, FLOAT)  # integers convert through float32, as in NumPy
        return NOWHERE if slot == NOWHERE else converted(plan, slot, kind)
    if not converts(plan.kind[slot], kind) or plan.count >= MOST_SLOTS:
        return NOWHERE
    found = another_slot(plan, slot, kind)
    if found == NOWHERE:
        return NOWHERE
    step = add_step(plan, found, kind)
    step.arity, step.operands[0] = 1, slot
    step.function, step.data = convert_tile, conversion_data(plan.kind[slot], kind)
    plan.in_rows[slot] = True
    finish_step(plan, step)
    return found


cdef Step *add_tile(Plan plan, int out, int first) noexcept:
    """Add a step whose loop is configured when it runs; it reads one slot as contiguous rows. NULL if there are too many."""
    cdef Step *step
    if plan.tiles >= MOST_TILES:
        return NULL
    step = add_step(plan, out, plan.kind[first])
    step.arity, step.operands[0], step.tile = 1, first, plan.tiles
    plan.in_rows[first] = True
    plan.tiles += 1
    finish_step(plan, step)
    return step


@cython.final
cdef class Group:
    """Program of a fusion group in C form, with its cached plans."""

    cdef int read(self, program) except -1:
        """Read the rows of a program; ValueError if it exceeds a limit."""
        cdef int i, k
        self.program = program
        self.plans = []
        self.inputs = len(program.inputs)
        self.rows = len(program.rows)
        self.outputs = len(program.outputs)
        self.ends = len(program.ends)
        if self.inputs > MOST_INPUTS or self.inputs + self.rows > MOST_SLOTS // 2 or self.ends > MOST_ENDS:
            raise ValueError("the fusion group has too many inputs, operators or epilogues")
        self.operators = [row.operator for row in program.rows]
        self.in_any_order = True
        for i in range(self.inputs):
            self.is_dtype[i] = False
            self.is_argument[i] = program.inputs[i] == "-"
        for i in range(self.rows):
            operands = program.rows[i].operands
            by_channels = program.rows[i].operator.record.channels
            if len(operands) > (MOST_END_ARGUMENTS if by_channels else MOST_ARGUMENTS):
                raise ValueError("an operator of the fusion group has more than four arguments")
            self.by_channels = self.by_channels or by_channels
            self.is_plain[i] = program.rows[i].operator.record.layout == ("contiguous",)
            self.in_any_order = self.in_any_order and not self.is_plain[i]
            self.arity[i] = len(operands)
            if conversion_named(program.rows[i].operator.key) and len(operands) > 1 and operands[1] < self.inputs:
                self.is_dtype[operands[1]] = True
            for k in range(self.arity[i]):
                self.operands[i][k] = operands[k]
        for i in range(self.outputs):
            self.out_at[i] = program.outputs[i]
        self.read_heads(program.heads)
        self.end_operators = [end.operator for end in program.ends]
        for i in range(self.ends):
            operands = program.ends[i].operands
            if len(operands) > MOST_END_ARGUMENTS:
                raise ValueError("an epilogue of the fusion group has more than nine arguments")
            self.end_read[i] = end_named(self.end_operators[i].key)
            self.end_arity[i] = len(operands)
            for k in range(self.end_arity[i]):
                self.end_operands[i][k] = operands[k]
        return 0

    cdef int read_heads(self, tuple heads) except -1:
        cdef Head *head
        cdef int i, k
        self.heads = len(heads)
        if self.heads > MOST_HEADS:
            raise ValueError("the fusion group has more than sixteen views")
        for i in range(self.heads):
            head, operands = &self.head[i], heads[i].operands
            head.input, head.part, head.parts = heads[i].input, heads[i].part, heads[i].parts
            head.read = view_named(heads[i].operator.key)
            head.arity = len(operands)
            if head.read == NULL or head.arity > MOST_VIEW_ARGUMENTS:
                raise ValueError("the fusion group has a view that the CPU kernel does not support")
            for k in range(head.arity):
                head.operands[k] = operands[k]
        return 0

    cdef Plan plan_for(self, IValue *r, const int32_t *at):
        """Return the plan for these inputs, creating it if necessary; None if an input is unsupported."""
        cdef uint32_t words[MOST_INPUTS]
        cdef Plan plan
        cdef int i
        for i in range(self.inputs):
            words[i] = ANOTHER if self.is_argument[i] else word_of(&r[at[i]])
            if self.is_dtype[i] and words[i] == (A_NUMBER | TAG_INT):
                if not 0 <= r[at[i]].v.i < SCALAR_TYPES:
                    return None
                words[i] = A_NUMBER | A_DTYPE | <uint32_t>(r[at[i]].v.i << 16) | TAG_INT
            if words[i] == NOTHING:
                return None
        plan = self.last
        if plan is not None and plan.holds(words, self.inputs):
            return plan
        for plan in self.plans:
            if plan.holds(words, self.inputs):
                self.last = plan
                return plan
        plan = self.planned(words)
        if len(self.plans) >= MOST_PLANS:
            self.plans = self.plans[1:]
        self.plans = [*self.plans, plan]
        self.last = plan
        return plan

    cdef Plan planned(self, uint32_t *words):
        cdef Plan plan = Plan.__new__(Plan)
        cdef int stage[MOST_SLOTS]
        cdef int i
        for i in range(MOST_SLOTS):
            stage[i] = 0
        for i in range(self.inputs):
            plan.words[i] = words[i]
        plan.refused = self.choose_loops(plan) or self.choose_results(plan)
        if not plan.refused and not self.arrange(plan, stage, 1, &plan.whole):
            plan.refused = "it needs too many buffers"
        plan.runnable = plan.refused == ""
        return plan

    cdef str choose_loops(self, Plan plan):
        """Determine the dtype of all slots and the loop of each row; return the reason if a row has none, else ""."""
        cdef int i
        cdef Operator op
        cdef ReadTile read
        plan.slots = self.inputs + self.rows
        plan.tiles = plan.count = 0
        plan.default = NOWHERE
        plan.loops = []
        for i in range(MOST_SLOTS):
            plan.at[i], plan.made_by[i], plan.source[i] = i, NOWHERE, NOWHERE
        for i in range(self.inputs):
            plan.kind[i] = <int>(plan.words[i] & 0xff) if plan.words[i] & (A_TENSOR | AN_ELEMENT) else NOWHERE
            plan.is_element[i] = not plan.words[i] & A_TENSOR
        for i in range(self.rows):
            op = self.operators[i]
            key = op.key
            order, read = choice_named(key), tile_named(key)
            if channels_named(key) != NULL:
                reason = self.choose_channels(plan, i, channels_named(key))
            elif order is not None:
                reason = self.choose_choice(plan, i, order)
            elif read != NULL:
                reason = self.choose_tile(plan, i, read)
            elif conversion_named(key):
                reason = self.choose_conversion(plan, i)
            else:
                reason = self.choose_loop(plan, i, loops_behind(op))
            if reason:
                return f"{op.name} has {reason}"
        plan.tile = BUFFER // 4
        for i in range(plan.slots):
            if plan.kind[i] != NOWHERE and item_size(plan.kind[i]) > 4:
                plan.tile = BUFFER // 8
        return ""

    cdef str choose_loop(self, Plan plan, int row, Loops loops):
        """Add the step of an operator with ufunc loops; return the reason if that is impossible, else ""."""
        cdef int first = plan.at[self.operands[row][0]], second = NOWHERE, kind = plan.kind[first]
        cdef Step *step
        if loops is None or loops.arity != self.arity[row]:
            return "no loop"
        if loops.arity == 2:
            second = plan.at[self.operands[row][1]]
            if loops.name == "subtract" and (kind == BOOL or plan.kind[second] == BOOL):
                return "no loop for that dtype"
            kind = common_kind(plan, first, second)
            if kind == HALF and not (plan.kind[first] in (HALF, NOWHERE) and plan.kind[second] in (HALF, NOWHERE)):
                return "operands of two dtypes"  # NumPy's own loops compute these; they order signed zeros differently
        if loops.to_float and is_whole(kind):
            kind = default_kind(plan)
        if kind < 0 or kind in (CFLOAT, CDOUBLE) or loops.function[kind] == NULL:
            return "no loop for that dtype"
        plan.loops.append(loops)
        first = in_kind(plan, first, second, kind)
        if second != NOWHERE:
            second = in_kind(plan, second, first, kind)
        if first == NOWHERE or (second == NOWHERE and loops.arity == 2):
            return "operands of two dtypes"
        step = add_step(plan, self.inputs + row, loops.result_type[kind])
        step.arity, step.function, step.data = loops.arity, loops.function[kind], loops.data[kind]
        step.operands[0], step.operands[1] = first, second
        finish_step(plan, step)
        return ""

    cdef str choose_tile(self, Plan plan, int row, ReadTile read):
        """Add the step of an operator that reads scalar parameters when it runs."""
        cdef int first = plan.at[self.operands[row][0]], kind = plan.kind[first], k
        cdef Step *step
        if self.arity[row] != (<Operator>self.operators[row]).nargs:
            return "too few arguments"
        if kind != FLOAT and kind != DOUBLE:
            return "no loop for that dtype"
        for k in range(1, self.arity[row]):
            if self.operands[row][k] >= self.inputs or plan.kind[self.operands[row][k]] != NOWHERE:
                return "a tensor where it reads a number"
        step = add_tile(plan, self.inputs + row, first)
        if step == NULL:
            return "too many operators with scalar parameters in its group"
        step.read = read
        return ""

    cdef str choose_channels(self, Plan plan, int row, ReadChannels read):
        """Add the step of an operator that reads per-channel vectors when it runs."""
        cdef int first = plan.at[self.operands[row][0]], kind = plan.kind[first], k
        cdef Step *step
        for k in range(1, self.arity[row]):
            if self.operands[row][k] >= self.inputs or not self.is_argument[self.operands[row][k]]:
                return "an argument that is computed"
        if (kind != FLOAT and kind != DOUBLE) or self.arity[row] != (<Operator>self.operators[row]).nargs:
            return "no loop for that dtype"
        step = add_tile(plan, self.inputs + row, first)
        if step == NULL:
            return "too many operators with scalar parameters in its group"
        step.by_channels = read
        return ""

    cdef str choose_choice(self, Plan plan, int row, tuple order):
        """Add a selection by mask; `order` has the argument positions of the mask, the first and the second choice."""
        cdef int slots[3]
        cdef int k, kind = NOWHERE
        cdef Step *step
        if self.arity[row] != 3 or plan.kind[plan.at[self.operands[row][<int>order[0]]]] != BOOL:
            return "a mask that is not a bool tensor"
        for k in range(3):
            slots[k] = plan.at[self.operands[row][<int>order[k]]]
            if k and plan.kind[slots[k]] != NOWHERE:
                if kind != NOWHERE and plan.kind[slots[k]] != kind:
                    return "operands of two dtypes"
                kind = plan.kind[slots[k]]
        if kind == NOWHERE or kind in (BOOL, CFLOAT, CDOUBLE):
            return "no loop for that dtype"
        for k in range(1, 3):
            if plan.kind[slots[k]] != kind:
                slots[k] = number_slot(plan, slots[k], kind)
            if slots[k] == NOWHERE:
                return "operands of two dtypes"
        step = add_step(plan, self.inputs + row, kind)
        step.arity, step.function, step.data = 3, choice_of(item_size(kind)), NULL
        for k in range(3):
            step.operands[k] = slots[k]
        finish_step(plan, step)
        return ""

    cdef str choose_conversion(self, Plan plan, int row):
        """Add a conversion to a dtype, or to another tensor's dtype; an operand of that dtype needs no step."""
        cdef int first = plan.at[self.operands[row][0]], target, to
        if self.arity[row] != 2 or plan.kind[first] == NOWHERE:
            return "other arguments than a dtype"
        target = plan.at[self.operands[row][1]]
        if target < self.inputs and plan.words[target] & A_DTYPE:
            to = plan.words[target] >> 16
        else:
            to = plan.kind[target]
        if to == NOWHERE or plan.kind[first] == NOWHERE:
            return "an unsupported dtype"
        target = converted(plan, first, to)
        if target == NOWHERE:
            return "no loop for that dtype"
        plan.at[self.inputs + row] = target
        return ""

    cdef str choose_results(self, Plan plan):
        """Set the slots of the results and of the epilogues' inputs; each result has a step, and no slot is returned twice."""
        cdef int i, slot
        for slot in range(MOST_SLOTS):
            plan.given[slot] = plan.kept[slot] = False
        for i in range(self.outputs):
            plan.out_at[i] = NOWHERE
            if self.out_at[i] >= self.inputs + self.rows:
                continue
            slot = plan.out_at[i] = plan.at[self.out_at[i]]
            if plan.made_by[slot] == NOWHERE or plan.given[slot]:
                return "a conversion returns its operand unchanged"
            plan.given[slot] = plan.kept[slot] = True
        for i in range(self.ends):
            slot = plan.end_slot[i] = plan.at[self.end_operands[i][0]]
            if plan.made_by[slot] == NOWHERE:
                return "a conversion returns its operand unchanged"
            plan.kept[slot] = True
        plan.keeps = 0
        for slot in range(plan.slots):
            if plan.kept[slot]:
                plan.keep_at[plan.keeps] = slot
                plan.keeps += 1
        return ""

    cdef bint arrange(self, Plan plan, const int *stage, int stages, Schedule *schedule) noexcept:
        cdef int last[MOST_SLOTS]      # of a slot: position in the schedule of its last read
        cdef bint whole[MOST_SLOTS]
        cdef bint taken[MOST_BUFFERS]
        cdef int i, k, b, s, slot, n = 0
        for slot in range(plan.slots):
            last[slot], whole[slot] = NOWHERE, plan.kept[slot]
        for s in range(stages):
            for i in range(plan.count):
                if stage[i] == s:
                    schedule.steps[n] = i
                    n += 1
            schedule.end[s] = n
        schedule.stages = stages
        for i in range(n):
            for k in range(plan.steps[schedule.steps[i]].arity):
                slot = plan.steps[schedule.steps[i]].operands[k]
                last[slot] = i
                if plan.made_by[slot] != NOWHERE and stage[plan.made_by[slot]] != stage[schedule.steps[i]]:
                    whole[slot] = True
        for b in range(MOST_BUFFERS):
            taken[b] = False
        schedule.buffers = 0
        for i in range(n):
            slot = plan.steps[schedule.steps[i]].out
            schedule.buffer[slot] = NOWHERE
            self.free_buffers(plan, schedule, i, last, taken, True)
            if not whole[slot]:
                for b in range(MOST_BUFFERS):
                    if not taken[b]:
                        break
                else:
                    return False
                schedule.buffer[slot] = b
                taken[b] = last[slot] != NOWHERE
                schedule.buffers = max(schedule.buffers, b + 1)
            self.free_buffers(plan, schedule, i, last, taken, False)
        return True

    cdef void free_buffers(self, Plan plan, Schedule *schedule, int at, int *last, bint *taken, bint before) noexcept:
        """Release buffers that this step reads last.

        Before its result has a buffer: those it can overwrite in place; afterwards: the others.
        """
        cdef Step *step = &plan.steps[schedule.steps[at]]
        cdef npy_intp width = item_size(plan.kind[step.out])
        cdef int k, slot
        for k in range(step.arity):
            slot = step.operands[k]
            if plan.made_by[slot] != NOWHERE and last[slot] == at and schedule.buffer[slot] != NOWHERE:
                if before == (step.tile == NOWHERE and item_size(plan.kind[slot]) == width):
                    taken[schedule.buffer[slot]] = False


cdef Group read_group(program):
    cdef Group group = Group.__new__(Group)
    group.read(program)
    return group


seal(Plan)
seal(Group)
