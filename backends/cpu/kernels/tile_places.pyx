"""Where elements lie that a group reads and writes: `tile_places.pxd` says what for."""

cimport numpy as cnp

from libc.stdint cimport int16_t, int32_t, int64_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of, same_shape, size_of, strides_of
from ts._core.tensor.overlap cimport repeats
from ts._core.tensor.tensor cimport Tensor
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.elementwise cimport item_size, store_element, store_number
from ts.backends.cpu.kernels.kernel cimport FLAT, MOST_DIMS
from ts.backends.cpu.kernels.tile_plans cimport A_NUMBER, A_TENSOR, AN_ELEMENT, MOST_ARGUMENTS, MOST_BUFFERS, NOWHERE, Group, Plan, Step
from ts.backends.cpu.kernels.walk cimport Operand, broadcast_into, lay_out

cnp.import_array()


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
