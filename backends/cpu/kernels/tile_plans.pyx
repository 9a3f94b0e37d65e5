"""How a group runs: which loops its rows are for inputs of given dtypes, and which buffers their results have.

In: a program (`ts.fusion.program`), registers with tensors and numbers.  Out: the `Plan` for them.

Plans are made when such inputs come for the first time.  A group has few of them, and the last one that held is
looked at first.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator
from ts._core.tensor.ndarray cimport BOOL, CDOUBLE, CFLOAT, DOUBLE, FLOAT, PyArrayObject, ndim_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_INT, TAG_OBJECT
from ts._core.value.sealed cimport seal
from ts.backends.cpu.kernels.elementwise cimport SCALAR_TYPES, Loops, item_size
from ts.backends.cpu.kernels.kernel cimport is_tensor
from ts.backends.cpu.kernels.masked cimport choice_of
from ts.backends.cpu.kernels.pointwise cimport loops_behind
from ts.backends.cpu.kernels.table cimport ReadTile, choice_named, tile_named

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
    if word & A_NUMBER:
        return "float (number)" if word & 0xff == TAG_FLOAT else "int (number)"
    name = str(dtypes.BY_CODE[word & 0xff]).removeprefix("torch.")
    return f"{name} (0-dim)" if word & AN_ELEMENT else name


@cython.final
cdef class Plan:
    """How a group runs on inputs of given dtypes; or that it does not, and why."""

    def inputs(self, int count):
        """What the inputs are: names of dtypes, with (0-dim) and (number) where they are that."""
        return [name_of(self.words[i]) for i in range(min(count, <int>MOST_INPUTS))]

    cdef bint holds(self, const uint32_t *words, int count) noexcept:
        cdef int i
        for i in range(count):
            if self.words[i] != words[i]:
                return False
        return True


@cython.final
cdef class Group:
    """A program as the kernel reads it, and the plans that were made for it."""

    cdef int read(self, program) except -1:
        """Take the rows over; ValueError where they are too many."""
        cdef int i, k
        self.program = program
        self.plans = []
        self.inputs = len(program.inputs)
        self.rows = len(program.rows)
        self.outputs = len(program.outputs)
        if self.inputs > MOST_INPUTS or self.inputs + self.rows > MOST_SLOTS // 2:
            raise ValueError("a group of so many operators does not run as one")
        self.operators = [row.operator for row in program.rows]
        self.in_any_order = True
        for i in range(self.inputs + self.rows):
            self.given[i] = False
        for i in range(self.rows):
            operands = program.rows[i].operands
            if len(operands) > MOST_ARGUMENTS:
                raise ValueError("a row has no more than four arguments")
            self.is_plain[i] = program.rows[i].operator.record.layout == ("contiguous",)
            self.in_any_order = self.in_any_order and not self.is_plain[i]
            self.arity[i] = len(operands)
            for k in range(self.arity[i]):
                self.operands[i][k] = operands[k]
        for i in range(self.outputs):
            self.out_at[i] = program.outputs[i]
            self.given[self.out_at[i]] = True
        return 0

    cdef Plan plan_for(self, IValue *r, const int32_t *at):
        """The plan for these inputs, made now if there is none; None where there cannot be one."""
        cdef uint32_t words[MOST_INPUTS]
        cdef Plan plan
        cdef int i
        for i in range(self.inputs):
            words[i] = word_of(&r[at[i]])
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
        for i in range(self.rows):
            stage[i] = 0
        for i in range(self.inputs):
            plan.words[i] = words[i]
        plan.refused = self.choose_loops(plan)
        if not plan.refused and not self.arrange(plan, stage, 1, &plan.whole):
            plan.refused = "it needs too many tiles"
        plan.runnable = plan.refused == ""
        return plan

    cdef str choose_loops(self, Plan plan):
        """Kinds of all slots, and the loop of each row; the reason where one has none."""
        cdef int i
        cdef Operator op
        cdef ReadTile read
        plan.slots = self.inputs + self.rows
        plan.tiles = 0
        plan.loops = []
        for i in range(self.inputs):
            plan.kind[i] = <int>(plan.words[i] & 0xff) if plan.words[i] & (A_TENSOR | AN_ELEMENT) else NOWHERE
            plan.is_element[i] = not plan.words[i] & A_TENSOR
        for i in range(self.rows):
            op = self.operators[i]
            plan.steps[i].out = self.inputs + i
            plan.steps[i].tile = NOWHERE
            key = op.key
            order, read = choice_named(key), tile_named(key)
            if order is not None:
                reason = self.choose_choice(plan, i, order)
            elif read != NULL:
                reason = self.choose_tile(plan, i, read)
            else:
                reason = self.choose_loop(plan, i, loops_behind(op))
            if reason:
                return f"{op.name} has {reason}"
            plan.has_elements = plan.has_elements or plan.is_element[self.inputs + i]
        plan.tile = BUFFER // 4
        for i in range(plan.slots):
            if plan.kind[i] != NOWHERE and item_size(plan.kind[i]) > 4:
                plan.tile = BUFFER // 8
        return ""

    cdef str choose_loop(self, Plan plan, int row, Loops loops):
        """That of a ufunc."""
        cdef Step *step = &plan.steps[row]
        cdef int first = self.operands[row][0], second, kind = plan.kind[first]
        if loops is None or loops.arity != self.arity[row]:
            return "no loop"
        if kind < 0 or kind in (CFLOAT, CDOUBLE) or loops.function[kind] == NULL:
            return "no loop for that dtype"
        step.arity, step.function, step.data = self.arity[row], loops.function[kind], loops.data[kind]
        plan.loops.append(loops)
        step.operands[0] = first
        plan.kind[step.out] = loops.result_type[kind]
        plan.is_element[step.out] = plan.is_element[first]
        if step.arity == 2:
            second = self.operands[row][1]
            step.operands[1] = self.in_kind(plan, second, kind, plan.is_element[first])
            if step.operands[1] == NOWHERE:
                return "operands of two dtypes"
            if step.operands[1] == second:
                plan.is_element[step.out] = plan.is_element[first] and plan.is_element[second]
        return ""

    cdef str choose_tile(self, Plan plan, int row, ReadTile read):
        """One that reads numbers when it runs."""
        cdef Step *step = &plan.steps[row]
        cdef int first = self.operands[row][0], kind = plan.kind[first], k
        if self.arity[row] != (<Operator>self.operators[row]).nargs:
            return "too few arguments"
        if kind != FLOAT and kind != DOUBLE:
            return "no loop for that dtype"
        for k in range(1, self.arity[row]):
            if self.operands[row][k] >= self.inputs or plan.kind[self.operands[row][k]] != NOWHERE:
                return "a tensor where it reads a number"
        if plan.tiles >= MOST_TILES:
            return "too many like it beside it"
        step.arity, step.operands[0], step.read, step.tile = 1, first, read, plan.tiles
        plan.in_rows[first] = True
        plan.tiles += 1
        plan.kind[step.out] = kind
        plan.is_element[step.out] = plan.is_element[first]
        return ""

    cdef str choose_choice(self, Plan plan, int row, tuple order):
        """One of two, by a mask; `order`: which arguments these are, the mask first."""
        cdef Step *step = &plan.steps[row]
        cdef int k, slot, kind = NOWHERE
        cdef bint one = True
        if self.arity[row] != 3 or plan.kind[self.operands[row][<int>order[0]]] != BOOL:
            return "a mask that is none"
        for k in range(3):
            slot = step.operands[k] = self.operands[row][<int>order[k]]
            one = one and plan.is_element[slot]
            if k and plan.kind[slot] != NOWHERE:
                if kind != NOWHERE and plan.kind[slot] != kind:
                    return "operands of two dtypes"
                kind = plan.kind[slot]
        if kind == NOWHERE or kind in (BOOL, CFLOAT, CDOUBLE):
            return "no loop for that dtype"
        for k in range(1, 3):
            step.operands[k] = self.in_kind(plan, step.operands[k], kind, False)
            if step.operands[k] == NOWHERE:
                return "operands of two dtypes"
        step.arity, step.function, step.data = 3, choice_of(item_size(kind)), NULL
        plan.kind[step.out], plan.is_element[step.out] = kind, one
        return ""

    cdef int in_kind(self, Plan plan, int slot, int kind, bint alone) noexcept:
        """The slot itself if it is of that dtype; one for its number in it, unless what it meets is `alone` an element."""
        if plan.kind[slot] == kind:
            return slot
        if not plan.is_element[slot] or kind == BOOL or plan.kind[slot] == BOOL or slot >= self.inputs:
            return NOWHERE
        if plan.words[slot] & ANOTHER or (alone and plan.words[slot] & AN_ELEMENT):
            return NOWHERE
        return self.number_slot(plan, slot, kind)

    cdef int number_slot(self, Plan plan, int input, int kind) noexcept:
        """The slot that holds the number of an input in a dtype."""
        cdef int slot
        for slot in range(self.inputs + self.rows, plan.slots):
            if plan.number_of[slot] == input and plan.kind[slot] == kind:
                return slot
        if plan.slots >= MOST_SLOTS:
            return NOWHERE
        slot = plan.slots
        plan.number_of[slot], plan.kind[slot] = input, kind
        plan.slots += 1
        return slot

    cdef bint arrange(self, Plan plan, const int *stage, int stages, Schedule *schedule) noexcept:
        cdef int last[MOST_SLOTS]      # of a slot: where in the schedule it is read last
        cdef bint whole[MOST_SLOTS]
        cdef bint taken[MOST_BUFFERS]
        cdef int i, k, b, s, slot, n = 0
        for slot in range(plan.slots):
            last[slot], whole[slot] = NOWHERE, self.given[slot] if slot < self.inputs + self.rows else False
        for s in range(stages):
            for i in range(self.rows):
                if stage[i] == s:
                    schedule.steps[n] = i
                    n += 1
            schedule.end[s] = n
        schedule.stages = stages
        for i in range(n):
            for k in range(plan.steps[schedule.steps[i]].arity):
                slot = plan.steps[schedule.steps[i]].operands[k]
                last[slot] = i
                if self.inputs <= slot < self.inputs + self.rows and stage[slot - self.inputs] != stage[schedule.steps[i]]:
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
        """Those that a step is the last to read: before its result has one, if it may be written over them; or the others."""
        cdef Step *step = &plan.steps[schedule.steps[at]]
        cdef npy_intp width = item_size(plan.kind[step.out])
        cdef int k, slot
        for k in range(step.arity):
            slot = step.operands[k]
            if self.inputs <= slot < self.inputs + self.rows and last[slot] == at and schedule.buffer[slot] != NOWHERE:
                if before == (step.tile == NOWHERE and item_size(plan.kind[slot]) == width):
                    taken[schedule.buffer[slot]] = False


cdef Group read_group(program):
    cdef Group group = Group.__new__(Group)
    group.read(program)
    return group


seal(Plan)
seal(Group)
