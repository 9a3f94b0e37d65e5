"""Fused groups: rows of pointwise operators, run together on tiles of elements that stay in the first-level cache.

In: registers with tensors and numbers, and the group's program (`ts.fusion.program`).  Out: whether it ran, and its results.

    rows                               slots while a tile runs
      2 = mul(0, 1)                      inputs      where their elements lie, or a copy of the tile's where they have gaps
      3 = add(2, 0)                      results     in the result's own memory if somebody reads it, else in a buffer
      4 = tanh(3)                        numbers     one element with a step of 0

The loops are those by which the operators run one by one, on operands of the same dtypes, so the bits are the same.  Which
loops they are follows from the inputs' dtypes: a `Plan`, made when such inputs come for the first time.  A group has few
of them, and the last one that held is looked at first.

What has no way here is left: the result is False, and the code goes on with the operators one by one.
"""

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_Occurred
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, set_kernel
from ts._core.tensor.ndarray cimport BOOL, CDOUBLE, CFLOAT, DOUBLE, FLOAT, INT64, RELEASE_GIL_FROM, PyArrayObject, data_of, dims_of, flags_of, ndim_of
from ts._core.tensor.ndarray cimport new_array, same_shape, size_of, strides_of
from ts._core.tensor.overlap cimport repeats
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, number_of_scalar_type
from ts._core.thread.context cimport LIMITED, context_flags
from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_OBJECT, copy_value
from ts._core.value.sealed cimport seal
from ts.backends.cpu.kernels.elementwise cimport SCALAR_TYPES, Loops, item_size, store_element, store_number
from ts.backends.cpu.kernels.gil cimport Away, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport FLAT, MOST_DIMS, is_tensor, put_array
from ts.backends.cpu.kernels.masked cimport choice_of
from ts.backends.cpu.kernels.parts cimport require_part
from ts.backends.cpu.kernels.pointwise cimport loops_behind
from ts.backends.cpu.kernels.table cimport ReadTile, Tile, choice_named, register_kernel, tile_named
from ts.backends.cpu.kernels.walk cimport Loop, Operand, broadcast_into, lay_out

from ts import dtypes
from ts.backends.cpu import workers

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object new_alike "PyArray_NewLikeArray"(cnp.ndarray, cnp.NPY_ORDER, cnp.dtype, int)  # steals the dtype

cdef enum:
    TILE = 1024                        # elements
    BUFFER = TILE * 8                  # bytes of one
    MOST_BUFFERS = 12                  # in the cache together
    MOST_PLANS = 6                     # of a group
    MOST_SLOTS = 128                   # inputs, results and numbers of a group
    MOST_INPUTS = 32
    MOST_OPERANDS = 3
    MOST_ARGUMENTS = 4                 # of a row, operands and what it reads beside them
    MOST_TILES = 24                    # rows that read numbers beside their tensor
    NOWHERE = -1

cdef enum Word:                        # what a plan asks of an input: one word
    NOTHING = 0                        # no way here
    A_NUMBER = 1 << 8                  # and its tag
    A_TENSOR = 1 << 9                  # and its ScalarType
    AN_ELEMENT = 1 << 10               # the same, without dimensions
    ANOTHER = 1 << 11                  # None, a bool, a text: rows read it when they run


cdef inline uint32_t word_of(IValue *x) noexcept:
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


# ---------------------------------------------------------------- plans

ctypedef struct Step:                  # a row
    Loop function
    void *data
    int arity
    int operands[MOST_OPERANDS]        # slots
    int out
    int tile                           # which of the run's tiles has the loop; NOWHERE: the loop is here
    ReadTile read


@cython.final
cdef class Plan:
    """How a group runs on inputs of given dtypes; or that it does not, and why."""
    cdef uint32_t words[MOST_INPUTS]
    cdef readonly str refused          # "" where it runs
    cdef bint runnable
    cdef readonly int64_t runs
    cdef list loops                    # what the steps' data is part of
    cdef int slots
    cdef int kind[MOST_SLOTS]          # ScalarType of what is in a slot
    cdef int buffer[MOST_SLOTS]        # the tile's buffer of a slot, or NOWHERE
    cdef int number_of[MOST_SLOTS]     # of a slot behind the results: the input whose number it holds
    cdef int buffers
    cdef int tiles                     # rows that have one
    cdef bint is_element[MOST_SLOTS]   # a slot of one element, however long the tile is
    cdef Step steps[MOST_SLOTS]

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
    cdef readonly object program
    cdef list operators                # of the rows
    cdef readonly list plans
    cdef readonly int64_t left_to_limits     # how often it did not run: because `ts.limits` hold
    cdef readonly int64_t left_for_inputs    # ... because of a device, a dtype, a number
    cdef readonly int64_t left_for_shapes    # ... because of shapes, or how elements lie
    cdef int inputs
    cdef int rows
    cdef int outputs
    cdef int out_at[MOST_SLOTS]
    cdef int arity[MOST_SLOTS]
    cdef int operands[MOST_SLOTS][MOST_ARGUMENTS]
    cdef bint in_any_order             # whether results lie as the operands do, in whatever order that is
    cdef int64_t sources[MOST_SLOTS]   # by slot: a bit for each input that its elements come from
    cdef Plan last

    cdef int read(self, program) except -1:
        """Take the rows over; ValueError where they are too many."""
        cdef int i, k, slot
        self.program = program
        self.plans = []
        self.inputs = len(program.inputs)
        self.rows = len(program.rows)
        self.outputs = len(program.outputs)
        if self.inputs > MOST_INPUTS or self.inputs + self.rows > MOST_SLOTS // 2:
            raise ValueError("a group of so many operators does not run as one")
        self.operators = [row.operator for row in program.rows]
        self.in_any_order = True
        for i in range(self.inputs):
            self.sources[i] = <int64_t>1 << i
        for i in range(self.rows):
            operands = program.rows[i].operands
            if len(operands) > MOST_ARGUMENTS:
                raise ValueError("a row has no more than four arguments")
            if program.rows[i].operator.record.tile:
                self.in_any_order = False
            self.arity[i] = len(operands)
            slot = self.inputs + i
            self.sources[slot] = 0
            for k in range(self.arity[i]):
                self.operands[i][k] = operands[k]
                self.sources[slot] |= self.sources[self.operands[i][k]]
        for i in range(self.outputs):
            self.out_at[i] = program.outputs[i]
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
        cdef int i
        for i in range(self.inputs):
            plan.words[i] = words[i]
        plan.refused = self.choose_loops(plan) or self.choose_buffers(plan)
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
            if plan.is_element[self.inputs + i]:
                return f"{op.name} is on single elements"
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
        if not plan.is_element[slot] or alone or kind == BOOL or plan.kind[slot] == BOOL or slot >= self.inputs:
            return NOWHERE
        if plan.words[slot] & ANOTHER:
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
        plan.number_of[slot], plan.kind[slot], plan.buffer[slot] = input, kind, NOWHERE
        plan.slots += 1
        return slot

    cdef str choose_buffers(self, Plan plan):
        """A buffer for each result that nobody outside reads, until its last reader; and for inputs that are gathered."""
        cdef int last[MOST_SLOTS]
        cdef bint taken[MOST_BUFFERS]
        cdef int i, k, b, slot
        for slot in range(MOST_SLOTS):
            last[slot] = NOWHERE
        for b in range(MOST_BUFFERS):
            taken[b] = False
        for i in range(self.rows):
            for k in range(plan.steps[i].arity):
                last[plan.steps[i].operands[k]] = i
        for i in range(self.outputs):
            last[self.out_at[i]] = self.rows
        plan.buffers = 0
        for i in range(self.rows):
            slot = self.inputs + i
            plan.buffer[slot] = NOWHERE
            self.free_buffers(plan, i, last, taken, True)
            if last[slot] != self.rows:
                for b in range(MOST_BUFFERS):
                    if not taken[b]:
                        break
                else:
                    return "it needs too many tiles"
                plan.buffer[slot] = b
                taken[b] = last[slot] != NOWHERE
                plan.buffers = max(plan.buffers, b + 1)
            self.free_buffers(plan, i, last, taken, False)
        return ""

    cdef void free_buffers(self, Plan plan, int row, int *last, bint *taken, bint before) noexcept:
        """Those that a row is the last to read: before its result has one, if it may be written over them; or the others."""
        cdef Step *step = &plan.steps[row]
        cdef npy_intp width = item_size(plan.kind[step.out])
        cdef int k, slot
        for k in range(step.arity):
            slot = step.operands[k]
            if self.inputs <= slot < self.inputs + self.rows and last[slot] == row and plan.buffer[slot] != NOWHERE:
                if before == (step.tile == NOWHERE and item_size(plan.kind[slot]) == width):
                    taken[plan.buffer[slot]] = False


seal(Plan)
seal(Group)

# ---------------------------------------------------------------- places

ctypedef struct Place:                 # where the elements of a slot are
    char *data
    npy_intp step                      # from one to the next; 0: there is one
    npy_intp advance                   # from tile to tile, for one element: 0 for buffers


ctypedef struct Gather:                # an input that is copied tile by tile
    int slot
    int ndim
    npy_intp item
    npy_intp shape[MOST_DIMS]
    npy_intp strides[MOST_DIMS]
    const char *data
    char *tile


ctypedef struct Run:
    npy_intp size
    int gathers
    Place place[MOST_SLOTS]
    Gather gather[MOST_BUFFERS]
    double numbers[MOST_SLOTS]
    Tile tile[MOST_TILES]


cdef void copy_run(const char *x, npy_intp stride, npy_intp item, npy_intp n, char *out) noexcept nogil:
    cdef npy_intp i
    if stride == item:
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
    """The elements [start, start + count) in the order in which they are written down."""
    cdef npy_intp index[MOST_DIMS]
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


cdef void lay_gather(Gather *g, Operand *operand, int ndim, npy_intp *shape, npy_intp item) noexcept nogil:
    """Dimensions that are one in memory become one."""
    cdef int d, n = 0
    g.item, g.data = item, operand.data
    for d in range(ndim):
        if shape[d] == 1:
            continue
        if n and g.strides[n - 1] == operand.strides[d] * shape[d]:
            g.shape[n - 1] *= shape[d]
            g.strides[n - 1] = operand.strides[d]
        else:
            g.shape[n], g.strides[n] = shape[d], operand.strides[d]
            n += 1
    if n == 0:
        g.shape[0], g.strides[0], n = 1, item, 1
    g.ndim = n


cdef bint in_c_order(Operand *operand, int ndim, npy_intp *shape) noexcept nogil:
    """Whether outer dimensions have the longer strides, as far as there are any."""
    cdef npy_intp last = 0
    cdef int d
    for d in range(ndim - 1, -1, -1):
        if shape[d] != 1 and operand.strides[d] != 0:
            if operand.strides[d] < last:
                return False
            last = operand.strides[d]
    return True


cdef bint without_gaps(Operand *operand, int ndim, npy_intp *shape, npy_intp item) noexcept nogil:
    cdef int d
    for d in range(ndim - 1, -1, -1):
        if shape[d] != 1:
            if operand.strides[d] != item:
                return False
            item *= shape[d]
    return True


cdef bint alike(PyArrayObject *a, PyArrayObject *b) noexcept nogil:
    """Whether two of one shape have their elements at the same places."""
    cdef int d
    for d in range(ndim_of(a)):
        if strides_of(a)[d] != strides_of(b)[d]:
            return False
    return True


cdef bint is_dense(PyArrayObject *a, npy_intp item) noexcept:
    """Whether the elements fill their memory, in whatever order."""
    cdef npy_intp extent = item
    cdef int d
    for d in range(ndim_of(a)):
        extent += (dims_of(a)[d] - 1) * strides_of(a)[d]
    return extent == size_of(a) * item and not repeats(a)


cdef inline PyArrayObject *array_at(IValue *r, const int32_t *at, int i) noexcept:
    return <PyArrayObject *>(<Tensor>r[at[i]].v.o).array


cdef bint place_flat(Group g, Plan plan, IValue *r, const int32_t *at, Run *run, PyArrayObject **first) noexcept:
    """All tensors have one shape, and their elements lie in the same order, without gaps."""
    cdef PyArrayObject *a
    cdef PyArrayObject *like = NULL
    cdef npy_intp item = 0
    cdef bint flat = True
    cdef int i
    for i in range(g.inputs):
        if not plan.words[i] & A_TENSOR:
            continue
        a = array_at(r, at, i)
        if like == NULL:
            like = a
            item = item_size(plan.kind[i])
            flat = flags_of(a) & FLAT == FLAT
            if not flat and (not g.in_any_order or not flags_of(a) & cnp.NPY_ARRAY_ALIGNED or not is_dense(a, item)):
                return False
        elif not same_shape(a, like) or not flags_of(a) & cnp.NPY_ARRAY_ALIGNED:
            return False
        elif flat:
            if flags_of(a) & FLAT != FLAT:
                return False
        elif item_size(plan.kind[i]) != item or not alike(a, like):
            return False
        run.place[i].data = data_of(a)
        run.place[i].step = run.place[i].advance = item_size(plan.kind[i])
    first[0] = like
    run.size = size_of(like)
    return True


cdef bint place_broadcast(Group g, Plan plan, IValue *r, const int32_t *at, Run *run, int *ndim, npy_intp *shape) noexcept:
    """Tensors that broadcast, or have gaps, but have their dimensions in the order in which they are written."""
    cdef Operand operand
    cdef PyArrayObject *a
    cdef int64_t long_in[MOST_DIMS]    # by dimension: a bit for each input that has its length
    cdef npy_intp item
    cdef int i, d, lead, n = 0
    for i in range(g.inputs):
        if plan.words[i] & A_TENSOR:
            n = max(n, ndim_of(array_at(r, at, i)))
    for d in range(n):
        shape[d] = 1
        long_in[d] = 0
    for i in range(g.inputs):
        if plan.words[i] & A_TENSOR:
            a = array_at(r, at, i)
            if not flags_of(a) & cnp.NPY_ARRAY_ALIGNED or not broadcast_into(shape, n, a):
                return False
    run.size = 1
    for d in range(n):
        run.size *= shape[d]
    for i in range(g.inputs):
        if not plan.words[i] & A_TENSOR:
            continue
        a = array_at(r, at, i)
        lead = n - ndim_of(a)
        for d in range(ndim_of(a)):
            if dims_of(a)[d] == shape[lead + d]:
                long_in[lead + d] |= <int64_t>1 << i
        item = item_size(plan.kind[i])
        lay_out(&operand, a, n, shape)
        if without_gaps(&operand, n, shape, item):
            run.place[i].data = operand.data
            run.place[i].step = run.place[i].advance = item
            continue
        if not in_c_order(&operand, n, shape) or plan.buffers + run.gathers >= MOST_BUFFERS:
            return False
        lay_gather(&run.gather[run.gathers], &operand, n, shape, item)
        run.gather[run.gathers].slot = i
        run.place[i].step, run.place[i].advance = item, 0
        run.gathers += 1
    # Each result has the whole shape: what is smaller would be computed again and again, or come out too large.
    for i in range(g.inputs, g.inputs + g.rows):
        for d in range(n):
            if shape[d] != 1 and not g.sources[i] & long_in[d]:
                return False
    ndim[0] = n
    return True


cdef bint read_tiles(Group g, Plan plan, IValue *r, const int32_t *at, Run *run) noexcept:
    """The loops of rows by numbers."""
    cdef IValue *others[MOST_ARGUMENTS]
    cdef Step *step
    cdef int i, k
    for i in range(g.rows):
        step = &plan.steps[i]
        if step.tile != NOWHERE:
            for k in range(1, g.arity[i]):
                others[k - 1] = &r[at[g.operands[i][k]]]
            if not step.read(plan.kind[step.out], others, &run.tile[step.tile]):
                return False
    return True


cdef bint place_elements(Group g, Plan plan, IValue *r, const int32_t *at, Run *run) noexcept:
    """Tensors without dimensions, and numbers."""
    cdef int i, slot
    for i in range(g.inputs):
        if plan.words[i] & AN_ELEMENT:
            if not flags_of(array_at(r, at, i)) & cnp.NPY_ARRAY_ALIGNED:
                return False
            run.place[i].data = data_of(array_at(r, at, i))
            run.place[i].step = run.place[i].advance = 0
    if plan.tiles and not read_tiles(g, plan, r, at, run):
        return False
    for slot in range(g.inputs + g.rows, plan.slots):
        i = plan.number_of[slot]
        run.place[slot].data = <char *>&run.numbers[slot]
        run.place[slot].step = run.place[slot].advance = 0
        if plan.words[i] & A_NUMBER:
            if not store_number(plan.kind[slot], &r[at[i]], run.place[slot].data):
                return False
        elif not store_element(plan.kind[slot], <Tensor>r[at[i]].v.o, run.place[slot].data):
            return False
    return True


# ---------------------------------------------------------------- running

# For groups that keep the GIL: nobody else computes meanwhile.
cdef char scratch[MOST_BUFFERS * BUFFER]


cdef void run_tiles(Group g, Plan plan, Run *run, char *memory, npy_intp start, npy_intp end) noexcept nogil:
    """The elements [start, end)."""
    cdef char *args[MOST_OPERANDS + 1]
    cdef npy_intp steps[MOST_OPERANDS + 1]
    cdef npy_intp count
    cdef Place *place
    cdef Step *step
    cdef int i, k, slot
    for slot in range(g.inputs, g.inputs + g.rows):
        if plan.buffer[slot] != NOWHERE:
            run.place[slot].data = memory + plan.buffer[slot] * BUFFER
            run.place[slot].step, run.place[slot].advance = item_size(plan.kind[slot]), 0
    for i in range(run.gathers):
        run.gather[i].tile = run.place[run.gather[i].slot].data = memory + (plan.buffers + i) * BUFFER
    while start < end:
        count = min(end - start, <npy_intp>TILE)
        for i in range(run.gathers):
            gather(&run.gather[i], start, count)
        for i in range(g.rows):
            step = &plan.steps[i]
            for k in range(step.arity):
                place = &run.place[step.operands[k]]
                args[k] = place.data + start * place.advance
                steps[k] = place.step
            place = &run.place[step.out]
            args[step.arity] = place.data + start * place.advance
            steps[step.arity] = place.step
            if step.tile == NOWHERE:
                step.function(args, &count, steps, step.data)
            else:
                run.tile[step.tile].function(args, &count, steps, &run.tile[step.tile])
        start += count


cdef int run_alone(Group g, Plan plan, Run *run, Operator op, IValue *r, const int32_t *at) except -1:
    """On this thread; without the GIL where there is enough to do."""
    cdef char *memory
    cdef Away away
    if run.size < RELEASE_GIL_FROM:
        run_tiles(g, plan, run, scratch, 0, run.size)
        return 0
    memory = <char *>malloc(MOST_BUFFERS * BUFFER)
    if memory == NULL:
        raise MemoryError
    away = leave_gil(run.size, r, at, op.nargs)
    run_tiles(g, plan, run, memory, 0, run.size)
    take_gil(away)
    free(memory)
    return 0


@cython.final
cdef class Shared:
    """A run that several threads share: each has tiles in a row, and buffers of its own."""
    cdef Group group
    cdef Plan plan
    cdef Run *run
    cdef list held                     # the arrays that it reads: others may exchange those of tensors meanwhile

    def part(self, Py_ssize_t part, Py_ssize_t parts):
        """For `workers.run`."""
        cdef Run own
        cdef char *memory
        cdef npy_intp tiles
        require_part(part, parts, self.run != NULL)
        memory = <char *>malloc(MOST_BUFFERS * BUFFER)
        if memory == NULL:
            raise MemoryError
        own = self.run[0]
        tiles = (own.size + TILE - 1) // TILE
        with nogil:
            run_tiles(
                self.group, self.plan, &own, memory,
                tiles * part // parts * TILE, min(own.size, tiles * (part + 1) // parts * TILE),
            )
        free(memory)


seal(Shared)


cdef int run_shared(Group g, Plan plan, Run *run, IValue *r, const int32_t *at, int parts) except -1:
    cdef Shared shared = Shared.__new__(Shared)
    cdef int i
    shared.group, shared.plan, shared.run, shared.held = g, plan, run, []
    for i in range(g.inputs):
        if plan.words[i] & (A_TENSOR | AN_ELEMENT):
            shared.held.append(<object>array_at(r, at, i))
    try:
        workers.run(shared.part, parts)
    finally:
        shared.run = NULL
    return 0


cdef int leave(Operator op, IValue *r, const int32_t *at) except -1:
    """Nothing was done: results are some tensor, which nobody reads."""
    cdef int i, out
    cdef IValue some = r[at[op.tensor_at]]
    for i in range(1, op.nrets):
        out = at[op.nargs + i]
        if r[out].tag == TAG_OBJECT and r[out].v.o == some.v.o:
            continue
        copy_value(&r[out], &some)
    r[at[op.nargs]].v.i = 0
    r[at[op.nargs]].tag = TAG_BOOL
    return 0


cdef int run_group(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Group g = <Group>op.state[BACKEND_CPU]
    cdef Plan plan
    cdef Run run
    cdef npy_intp shape[MOST_DIMS]
    cdef PyArrayObject *first = NULL
    cdef int i, ndim = 0, slot, kind, parts
    cdef cnp.dtype dtype
    if context_flags() & LIMITED:
        g.left_to_limits += 1
        return leave(op, r, at)
    plan = g.plan_for(r, at)
    run.gathers = 0
    if plan is None or not plan.runnable or not place_elements(g, plan, r, at, &run):
        g.left_for_inputs += 1
        return leave(op, r, at)
    if not place_flat(g, plan, r, at, &run, &first):
        first = NULL
        if not place_broadcast(g, plan, r, at, &run, &ndim, shape):
            g.left_for_shapes += 1
            return leave(op, r, at)
    if run.size == 0:
        g.left_for_shapes += 1
        return leave(op, r, at)
    made = []
    for i in range(g.outputs):
        slot = g.out_at[i]
        kind = plan.kind[slot]
        if first == NULL:
            array = new_array(ndim, shape, number_of_scalar_type(kind))
        elif flags_of(first) & FLAT == FLAT:
            array = new_array(ndim_of(first), dims_of(first), number_of_scalar_type(kind))
        else:
            dtype = cnp.PyArray_DescrFromType(number_of_scalar_type(kind))
            Py_INCREF(dtype)
            array = new_alike(<cnp.ndarray>first, cnp.NPY_KEEPORDER, dtype, 0)
        run.place[slot].data = data_of(<PyArrayObject *>array)
        run.place[slot].step = run.place[slot].advance = item_size(kind)
        made.append(array)
    parts = 1 if run.size < RELEASE_GIL_FROM else workers.parts(run.size * g.rows // 2)
    if parts > 1:
        run_shared(g, plan, &run, r, at, parts)
    else:
        run_alone(g, plan, &run, op, r, at)
    if PyErr_Occurred():
        return -1
    plan.runs += 1
    for i in range(g.outputs):
        put_array(&r[at[op.nargs + 1 + i]], made[i], plan.kind[g.out_at[i]])
    r[at[op.nargs]].v.i = 1
    r[at[op.nargs]].tag = TAG_BOOL
    return 0


cdef int first_run(Operator op, IValue *r, const int32_t *at) except -1:
    """Read the program, once."""
    try:
        group = Group.__new__(Group)
        (<Group>group).read(op.record.program)
    except ValueError:
        set_kernel(op, BACKEND_CPU, leave, None)
        return leave(op, r, at)
    op.record.group = group
    set_kernel(op, BACKEND_CPU, run_group, group)
    return run_group(op, r, at)


register_kernel("prim::FusionGroup", first_run)
