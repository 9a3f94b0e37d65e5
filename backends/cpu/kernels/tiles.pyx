"""Fused groups: rows of pointwise operators, run together on tiles of elements that stay in the first-level cache.

In: registers with tensors and numbers, and the group's program (`ts.fusion.program`).  Out: whether it ran, and its results.

    rows                               slots while a tile runs
      2 = mul(0, 1)                      inputs      where their elements lie, or a copy of the tile's where they have gaps
      3 = add(2, 0)                      results     in the result's own memory if somebody reads it, else in a buffer
      4 = tanh(3)                        numbers     one element with a step of 0

The loops are those by which the operators run one by one, on operands of the same dtypes, so the bits are the same.  Which
loops they are, a plan says (`tile_plans`); where the elements are, `tile_places`.

What has no way here is left: the result is False, and the code goes on with the operators one by one.
"""

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_Occurred
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, set_kernel
from ts._core.tensor.ndarray cimport RELEASE_GIL_FROM, PyArrayObject, data_of, dims_of, flags_of, ndim_of, new_array
from ts._core.tensor.tensor cimport BACKEND_CPU, number_of_scalar_type
from ts._core.thread.context cimport LIMITED, context_flags
from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_OBJECT, copy_value
from ts._core.value.sealed cimport seal
from ts.backends.cpu.kernels.elementwise cimport item_size
from ts.backends.cpu.kernels.gil cimport Away, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport FLAT, MOST_DIMS, put_array
from ts.backends.cpu.kernels.parts cimport require_part
from ts.backends.cpu.kernels.table cimport register_kernel
from ts.backends.cpu.kernels.tile_places cimport Place, Run, array_at, gather, place_broadcast, place_elements, place_flat
from ts.backends.cpu.kernels.tile_plans cimport A_TENSOR, AN_ELEMENT, BUFFER, MOST_BUFFERS, MOST_OPERANDS, NOWHERE, TILE
from ts.backends.cpu.kernels.tile_plans cimport Group, Plan, Step, read_group

from ts.backends.cpu import workers

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object new_alike "PyArray_NewLikeArray"(cnp.ndarray, cnp.NPY_ORDER, cnp.dtype, int)  # steals the dtype

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
        group = read_group(op.record.program)
    except ValueError:
        set_kernel(op, BACKEND_CPU, leave, None)
        return leave(op, r, at)
    op.record.group = group
    set_kernel(op, BACKEND_CPU, run_group, group)
    return run_group(op, r, at)


register_kernel("prim::FusionGroup", first_run)
