"""Joining, picking and choosing elements of CPU tensors whose elements lie in order: bytes are moved, whatever they mean.

In: registers with tensors of one dtype and index or mask tensors.  Out: the register of the result.

    cat([x, y], 1), stack([x, y])             index_select, embedding, gather, take, x[i], x[i, j]
    where(c, x, y), masked_fill               masked_select, x[mask], nonzero

Rows are copied as wholes, single elements as integers of their width.  Indices are looked at before anything is
read; one that does not fit, another layout or dtype is left to the record's own kernel, which has the messages.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.float cimport FLT_MAX
from libc.math cimport fabs, isfinite
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.value.container cimport List
from ts._core.dispatch.operator cimport Operator, run_record
from ts.backends.cpu.kernels.table cimport register_kernel
from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_NONE, TAG_OBJECT
from ts.backends.cpu.kernels.kernel cimport (
    MOST_DIMS,
    PyThreadState,
    flat_array,
    leave_gil,
    new_flat,
    new_like,
    put_array,
    scalar_type,
    take_gil,
)
from ts._core.tensor.ndarray cimport (
    BOOL,
    DOUBLE,
    FLOAT,
    INT32,
    INT64,
    PyArrayObject,
    data_of,
    dims_of,
    ndim_of,
    size_of,
)
from ts._core.tensor.tensor cimport Tensor, wrap_cpu

cnp.import_array()

cdef extern from "lanes.h" nogil:
    bint within_wide(const int64_t *x, npy_intp n, int64_t low, int64_t high)
    bint within_narrow(const int32_t *x, npy_intp n, int64_t low, int64_t high)
    bint pick_four(const int32_t *x, npy_intp size, const int64_t *index, npy_intp n, int32_t *out)
    bint pick_eight(const int64_t *x, npy_intp size, const int64_t *index, npy_intp n, int64_t *out)
    void pick_four_of_rows(const int32_t *x, npy_intp rows, npy_intp size, const int64_t *index, npy_intp n, int32_t *out)
    void pick_eight_of_rows(const int64_t *x, npy_intp rows, npy_intp size, const int64_t *index, npy_intp n, int64_t *out)
    void join_rows(const char **source, const npy_intp *length, npy_intp parts, npy_intp count, char *to)


cdef enum:
    MOST_PARTS = 16                    # that are joined row by row


ctypedef fused element:
    int8_t
    int16_t
    int32_t
    int64_t


cdef inline npy_intp item_size(PyArrayObject *a) noexcept:
    return cnp.PyArray_ITEMSIZE(<cnp.ndarray>a)


cdef inline bint plain_width(npy_intp width) noexcept:
    return width == 1 or width == 2 or width == 4 or width == 8


# ---------------------------------------------------------------- joining

cdef PyArrayObject *part_of(List parts, Py_ssize_t i, int kind, int nd) noexcept:
    """Part `i`, where it is of this dtype and rank."""
    cdef PyArrayObject *a = flat_array(&parts.items[i])
    return a if a != NULL and scalar_type(&parts.items[i]) == kind and ndim_of(a) == nd else NULL


cdef int join(Operator op, IValue *r, const int32_t *at, bint stacked) except -1:
    cdef List parts = <List>r[at[0]].v.o
    cdef int64_t dim = r[at[1]].v.i
    cdef npy_intp dims[MOST_DIMS + 1]
    cdef npy_intp outer = 1, inner, total = 0, length, o
    cdef PyArrayObject *first
    cdef PyArrayObject *a
    cdef Py_ssize_t i
    cdef int nd, d, kind
    cdef object made
    cdef char *out
    cdef char *target
    cdef char *source
    cdef const char *sources[MOST_PARTS]
    cdef npy_intp lengths[MOST_PARTS]
    cdef PyThreadState *state
    if type(parts) is not List or parts.size == 0:
        return run_record(op, r, at)
    first = flat_array(&parts.items[0])
    if first == NULL or ndim_of(first) + stacked > MOST_DIMS:
        return run_record(op, r, at)
    kind = scalar_type(&parts.items[0])
    nd = ndim_of(first)
    if dim < 0:
        dim += nd + stacked
    if not 0 <= dim < nd + stacked or size_of(first) == 0:
        return run_record(op, r, at)
    for i in range(parts.size):
        a = part_of(parts, i, kind, nd)
        if a == NULL or size_of(a) == 0:
            return run_record(op, r, at)
        for d in range(nd):
            if dims_of(a)[d] != dims_of(first)[d] and (stacked or d != dim):
                return run_record(op, r, at)
        total += 1 if stacked else dims_of(a)[dim]
    inner = item_size(first)
    for d in range(nd):
        dims[d + (stacked and d >= dim)] = dims_of(first)[d]
        if d < dim:
            outer *= dims_of(first)[d]
        elif stacked or d > dim:
            inner *= dims_of(first)[d]
    dims[dim] = total
    made = new_flat(nd + stacked, dims, kind)
    out = data_of(<PyArrayObject *>made)
    state = leave_gil(outer * total * inner // 8)
    if outer > 1 and parts.size <= MOST_PARTS and total * inner > 8 * parts.size:
        for i in range(parts.size):
            a = flat_array(&parts.items[i])
            sources[i] = data_of(a)
            lengths[i] = inner if stacked else inner * dims_of(a)[dim]
        join_rows(sources, lengths, parts.size, outer, out)
        take_gil(state)
        return put_array(&r[at[op.nargs]], made, kind)
    for i in range(parts.size):
        a = flat_array(&parts.items[i])
        length = inner if stacked else inner * dims_of(a)[dim]
        source = data_of(a)
        target = out
        if outer == 1:
            memcpy(target, source, length)
        elif length == 4:
            for o in range(outer):
                (<int32_t *>(target + o * total * inner))[0] = (<int32_t *>source)[o]
        elif length == 8:
            for o in range(outer):
                (<int64_t *>(target + o * total * inner))[0] = (<int64_t *>source)[o]
        else:
            for o in range(outer):
                memcpy(target + o * total * inner, source + o * length, length)
        out += length
    take_gil(state)
    return put_array(&r[at[op.nargs]], made, kind)


cdef int cat(Operator op, IValue *r, const int32_t *at) except -1:
    return join(op, r, at, False)


cdef int stack(Operator op, IValue *r, const int32_t *at) except -1:
    return join(op, r, at, True)


# ---------------------------------------------------------------- rows by index

cdef PyArrayObject *index_array(IValue *x) noexcept:
    cdef PyArrayObject *a = flat_array(x)
    return a if a != NULL and (scalar_type(x) == INT64 or scalar_type(x) == INT32) else NULL


cdef bint all_within(PyArrayObject *index, bint narrow, int64_t low, int64_t high) noexcept nogil:
    """Whether every index is in [low, high)."""
    if narrow:
        return within_narrow(<const int32_t *>data_of(index), size_of(index), low, high)
    return within_wide(<const int64_t *>data_of(index), size_of(index), low, high)


cdef inline int64_t index_at(char *index, bint narrow, npy_intp i) noexcept nogil:
    return (<int32_t *>index)[i] if narrow else (<int64_t *>index)[i]


cdef void pick(
    const element *x, npy_intp outer, npy_intp n, char *index, bint narrow, npy_intp count, element *out
) noexcept nogil:
    """Single elements; negative indices count from the end."""
    cdef npy_intp o, i
    cdef int64_t j
    for o in range(outer):
        if narrow:
            for i in range(count):
                j = (<int32_t *>index)[i]
                out[i] = x[j + n if j < 0 else j]
        else:
            for i in range(count):
                j = (<int64_t *>index)[i]
                out[i] = x[j + n if j < 0 else j]
        x += n
        out += count


cdef void pick_rows(
    char *x, npy_intp outer, npy_intp n, npy_intp length, char *index, bint narrow, npy_intp count, char *out
) noexcept nogil:
    """out[o, i] = x[o, index[i]], rows of `length` bytes."""
    cdef npy_intp o, i
    cdef int64_t j
    if not narrow and outer > 1 and (length == 4 or length == 8) and within_wide(<int64_t *>index, count, 0, n):
        if length == 4:
            pick_four_of_rows(<int32_t *>x, outer, n, <int64_t *>index, count, <int32_t *>out)
        else:
            pick_eight_of_rows(<int64_t *>x, outer, n, <int64_t *>index, count, <int64_t *>out)
    elif length == 4:
        pick[int32_t](<int32_t *>x, outer, n, index, narrow, count, <int32_t *>out)
    elif length == 8:
        pick[int64_t](<int64_t *>x, outer, n, index, narrow, count, <int64_t *>out)
    elif length == 2:
        pick[int16_t](<int16_t *>x, outer, n, index, narrow, count, <int16_t *>out)
    elif length == 1:
        pick[int8_t](<int8_t *>x, outer, n, index, narrow, count, <int8_t *>out)
    else:
        for o in range(outer):
            for i in range(count):
                j = index_at(index, narrow, i)
                memcpy(out, x + (j + n if j < 0 else j) * length, length)
                out += length
            x += n * length


cdef bint pick_checked(char *x, npy_intp n, npy_intp length, char *index, npy_intp count, char *out) noexcept nogil:
    """out[i] = x[index[i]], where the elements are of a size that this is for, and all indices in [0, n)."""
    if length == 4:
        return pick_four(<int32_t *>x, n, <int64_t *>index, count, <int32_t *>out)
    return length == 8 and pick_eight(<int64_t *>x, n, <int64_t *>index, count, <int64_t *>out)


cdef object selected(IValue *source, int64_t dim, IValue *by, bint from_end, bint vector):
    """source.index_select(dim, by), where `by` may have any shape unless it has to be a vector; None: not here."""
    cdef PyArrayObject *a = flat_array(source)
    cdef PyArrayObject *index = index_array(by)
    cdef npy_intp dims[2 * MOST_DIMS]
    cdef npy_intp outer = 1, length
    cdef int d, nd = 0
    cdef bint narrow, done
    cdef object made
    cdef char *out
    cdef PyThreadState *state
    if a == NULL or index == NULL or (vector and ndim_of(index) > 1):
        return None
    if dim < 0:
        dim += ndim_of(a)
    if not 0 <= dim < ndim_of(a) or ndim_of(a) + ndim_of(index) > MOST_DIMS:
        return None
    narrow = scalar_type(by) == INT32
    length = item_size(a)
    for d in range(<int>dim):
        outer *= dims_of(a)[d]
        dims[nd] = dims_of(a)[d]
        nd += 1
    if vector:
        dims[nd] = size_of(index)
        nd += 1
    else:
        for d in range(ndim_of(index)):
            dims[nd] = dims_of(index)[d]
            nd += 1
    for d in range(<int>dim + 1, ndim_of(a)):
        length *= dims_of(a)[d]
        dims[nd] = dims_of(a)[d]
        nd += 1
    if length == 0 or outer == 0:
        return None
    made = new_flat(nd, dims, scalar_type(source))
    out = data_of(<PyArrayObject *>made)
    state = leave_gil(outer * size_of(index) * length // 8)
    done = outer == 1 and not narrow and pick_checked(
        data_of(a), dims_of(a)[dim], length, data_of(index), size_of(index), out
    )
    if not done:
        done = all_within(index, narrow, -dims_of(a)[dim] if from_end else 0, dims_of(a)[dim])
        if done:
            pick_rows(data_of(a), outer, dims_of(a)[dim], length, data_of(index), narrow, size_of(index), out)
    take_gil(state)
    return made if done else None


cdef int put_or_run(Operator op, IValue *r, const int32_t *at, object made, IValue *like) except -1:
    """The result, of the dtype of `like`; the record's own kernel makes it where that is None."""
    return run_record(op, r, at) if made is None else put_array(&r[at[op.nargs]], made, scalar_type(like))


cdef int index_select(Operator op, IValue *r, const int32_t *at) except -1:
    return put_or_run(op, r, at, selected(&r[at[0]], r[at[1]].v.i, &r[at[2]], False, True), &r[at[0]])


cdef int embedding(Operator op, IValue *r, const int32_t *at) except -1:
    if flat_array(&r[at[0]]) == NULL or ndim_of(flat_array(&r[at[0]])) != 2:
        return run_record(op, r, at)
    return put_or_run(op, r, at, selected(&r[at[0]], 0, &r[at[1]], False, False), &r[at[0]])


cdef int take(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef PyArrayObject *index = flat_array(&r[at[1]])
    cdef object made
    cdef char *out
    cdef bint done
    cdef PyThreadState *state
    if a == NULL or index == NULL or scalar_type(&r[at[1]]) != INT64 or size_of(a) == 0:
        return run_record(op, r, at)
    made = new_like(index, scalar_type(&r[at[0]]))
    out = data_of(<PyArrayObject *>made)
    state = leave_gil(size_of(index))
    done = pick_checked(data_of(a), size_of(a), item_size(a), data_of(index), size_of(index), out)
    if not done:
        done = all_within(index, False, -size_of(a), size_of(a))
        if done:
            pick_rows(data_of(a), 1, size_of(a), item_size(a), data_of(index), False, size_of(index), out)
    take_gil(state)
    if not done:
        return run_record(op, r, at)
    return put_array(&r[at[2]], made, scalar_type(&r[at[0]]))


# ---------------------------------------------------------------- gather

cdef void gather_along(
    const element *x, npy_intp n, npy_intp inner, char *index, bint narrow, npy_intp outer, npy_intp count, element *out
) noexcept nogil:
    """out[o, i, j] = x[o, index[o, i, j], j]"""
    cdef npy_intp o, i, j, place = 0
    for o in range(outer):
        if inner == 1:
            pick(x, 1, n, index, narrow, count, out)
            x += n
            out += count
            index += count * (4 if narrow else 8)
            continue
        for i in range(count):
            for j in range(inner):
                out[place] = x[index_at(index, narrow, place) * inner + j]
                place += 1
        x += n * inner


cdef int gather(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef PyArrayObject *index = index_array(&r[at[2]])
    cdef int64_t dim = r[at[1]].v.i
    cdef npy_intp outer = 1, inner = 1, width
    cdef int d
    cdef bint narrow
    cdef object made
    cdef char *out
    cdef PyThreadState *state
    if a == NULL or index == NULL or ndim_of(a) != ndim_of(index) or size_of(index) == 0:
        return run_record(op, r, at)
    if dim < 0:
        dim += ndim_of(a)
    width = item_size(a)
    if not 0 <= dim < ndim_of(a) or not plain_width(width):
        return run_record(op, r, at)
    for d in range(ndim_of(a)):
        if d == dim:
            continue
        if dims_of(a)[d] != dims_of(index)[d]:
            return run_record(op, r, at)
        if d < dim:
            outer *= dims_of(a)[d]
        else:
            inner *= dims_of(a)[d]
    narrow = scalar_type(&r[at[2]]) == INT32
    if not all_within(index, narrow, 0, dims_of(a)[dim]):
        return run_record(op, r, at)
    made = new_like(index, scalar_type(&r[at[0]]))
    out = data_of(<PyArrayObject *>made)
    state = leave_gil(size_of(index))
    if width == 4:
        gather_along[int32_t](
            <int32_t *>data_of(a), dims_of(a)[dim], inner, data_of(index), narrow, outer, dims_of(index)[dim], <int32_t *>out
        )
    elif width == 8:
        gather_along[int64_t](
            <int64_t *>data_of(a), dims_of(a)[dim], inner, data_of(index), narrow, outer, dims_of(index)[dim], <int64_t *>out
        )
    elif width == 2:
        gather_along[int16_t](
            <int16_t *>data_of(a), dims_of(a)[dim], inner, data_of(index), narrow, outer, dims_of(index)[dim], <int16_t *>out
        )
    else:
        gather_along[int8_t](
            <int8_t *>data_of(a), dims_of(a)[dim], inner, data_of(index), narrow, outer, dims_of(index)[dim], <int8_t *>out
        )
    take_gil(state)
    return put_array(&r[at[op.nargs]], made, scalar_type(&r[at[0]]))


# ---------------------------------------------------------------- choosing by a mask

cdef bint same_shape(PyArrayObject *a, PyArrayObject *b) noexcept:
    cdef int d
    if ndim_of(a) != ndim_of(b):
        return False
    for d in range(ndim_of(a)):
        if dims_of(a)[d] != dims_of(b)[d]:
            return False
    return True


cdef void choose(
    const uint8_t *mask, npy_intp n, const element *x, npy_intp x_step, const element *y, npy_intp y_step, element *out
) noexcept nogil:
    """out[i] = x[i] if mask[i] else y[i]; a step is 1, or 0 for one number."""
    cdef npy_intp i
    cdef element one
    if x_step == 0:
        one = x[0]
        if y_step == 0:
            for i in range(n):
                out[i] = one if mask[i] else y[0]
        else:
            for i in range(n):
                out[i] = one if mask[i] else y[i]
    elif y_step == 0:
        one = y[0]
        for i in range(n):
            out[i] = x[i] if mask[i] else one
    else:
        for i in range(n):
            out[i] = x[i] if mask[i] else y[i]


cdef bint chosen(npy_intp width, PyArrayObject *mask, char *x, npy_intp x_step, char *y, npy_intp y_step, char *out) noexcept:
    cdef const uint8_t *m = <const uint8_t *>data_of(mask)
    cdef npy_intp n = size_of(mask)
    cdef PyThreadState *state = leave_gil(n)
    if width == 4:
        choose[int32_t](m, n, <int32_t *>x, x_step, <int32_t *>y, y_step, <int32_t *>out)
    elif width == 8:
        choose[int64_t](m, n, <int64_t *>x, x_step, <int64_t *>y, y_step, <int64_t *>out)
    elif width == 2:
        choose[int16_t](m, n, <int16_t *>x, x_step, <int16_t *>y, y_step, <int16_t *>out)
    else:
        choose[int8_t](m, n, <int8_t *>x, x_step, <int8_t *>y, y_step, <int8_t *>out)
    take_gil(state)
    return True


cdef bint store(IValue *number, int kind, char *out) noexcept:
    """A number in the dtype `kind`; false where that would not be exact, or changes the category."""
    if kind == FLOAT or kind == DOUBLE:
        if number.tag != TAG_FLOAT and number.tag != TAG_INT and number.tag != TAG_BOOL:
            return False
        if kind == FLOAT:
            if number.tag == TAG_FLOAT and isfinite(number.v.f) and fabs(number.v.f) > FLT_MAX:
                return False
            (<float *>out)[0] = <float>number.v.f if number.tag == TAG_FLOAT else <float>number.v.i
        else:
            (<double *>out)[0] = number.v.f if number.tag == TAG_FLOAT else <double>number.v.i
        return True
    if kind == INT64 and (number.tag == TAG_INT or number.tag == TAG_BOOL):
        (<int64_t *>out)[0] = number.v.i
        return True
    if kind == BOOL and number.tag == TAG_BOOL:
        (<uint8_t *>out)[0] = number.v.i != 0
        return True
    return False


cdef int where(Operator op, IValue *r, const int32_t *at) except -1:
    """Tensors of one dtype and shape, or one tensor and a number or a tensor without dimensions."""
    cdef PyArrayObject *mask = flat_array(&r[at[0]])
    cdef PyArrayObject *a
    cdef char *data[2]
    cdef npy_intp steps[2]
    cdef char numbers[2][8]
    cdef int kind = -1, i
    cdef npy_intp width = 0
    cdef object made
    if mask == NULL or scalar_type(&r[at[0]]) != BOOL:
        return run_record(op, r, at)
    for i in range(2):
        if r[at[i + 1]].tag == TAG_OBJECT:
            a = flat_array(&r[at[i + 1]])
            if a == NULL or not (same_shape(a, mask) or ndim_of(a) == 0):
                return run_record(op, r, at)
            if kind >= 0 and scalar_type(&r[at[i + 1]]) != kind:
                return run_record(op, r, at)
            kind = scalar_type(&r[at[i + 1]])
            width = item_size(a)
            data[i] = data_of(a)
            steps[i] = 0 if ndim_of(a) == 0 else 1
    if kind < 0 or not plain_width(width):
        return run_record(op, r, at)
    for i in range(2):
        if r[at[i + 1]].tag != TAG_OBJECT:
            if not store(&r[at[i + 1]], kind, numbers[i]):
                return run_record(op, r, at)
            data[i] = numbers[i]
            steps[i] = 0
    made = new_like(mask, kind)
    chosen(width, mask, data[0], steps[0], data[1], steps[1], data_of(<PyArrayObject *>made))
    return put_array(&r[at[op.nargs]], made, kind)


cdef int masked_fill(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef PyArrayObject *mask = flat_array(&r[at[1]])
    cdef char number[8]
    cdef int kind
    cdef object made
    if a == NULL or mask == NULL or scalar_type(&r[at[1]]) != BOOL or not same_shape(a, mask):
        return run_record(op, r, at)
    kind = scalar_type(&r[at[0]])
    if not plain_width(item_size(a)) or not store(&r[at[2]], kind, number):
        return run_record(op, r, at)
    made = new_like(a, kind)
    chosen(item_size(a), mask, number, 0, data_of(a), 1, data_of(<PyArrayObject *>made))
    return put_array(&r[at[op.nargs]], made, kind)


# ---------------------------------------------------------------- what a mask lets through

cdef npy_intp count_true(const uint8_t *mask, npy_intp n) noexcept nogil:
    cdef npy_intp i, count = 0
    for i in range(n):
        count += mask[i] != 0
    return count


cdef void compress(const uint8_t *mask, npy_intp n, const element *x, element *out, npy_intp count) noexcept nogil:
    """Every element is written to where the next one goes, and stays there if the mask lets it through."""
    cdef npy_intp i, place = 0
    for i in range(n):
        if place == count:
            return
        out[place] = x[i]
        place += mask[i] != 0


cdef object let_through(PyArrayObject *a, int kind, PyArrayObject *mask):
    cdef const uint8_t *m = <const uint8_t *>data_of(mask)
    cdef npy_intp n = size_of(a), width = item_size(a), count = count_true(m, n)
    cdef object made = new_flat(1, &count, kind)
    cdef char *out = data_of(<PyArrayObject *>made)
    cdef PyThreadState *state = leave_gil(n)
    if width == 4:
        compress[int32_t](m, n, <int32_t *>data_of(a), <int32_t *>out, count)
    elif width == 8:
        compress[int64_t](m, n, <int64_t *>data_of(a), <int64_t *>out, count)
    elif width == 2:
        compress[int16_t](m, n, <int16_t *>data_of(a), <int16_t *>out, count)
    else:
        compress[int8_t](m, n, <int8_t *>data_of(a), <int8_t *>out, count)
    take_gil(state)
    return made


cdef object masked(IValue *source, IValue *by):
    cdef PyArrayObject *a = flat_array(source)
    cdef PyArrayObject *mask = flat_array(by)
    if a == NULL or mask == NULL or scalar_type(by) != BOOL or ndim_of(a) == 0 or not same_shape(a, mask):
        return None
    return let_through(a, scalar_type(source), mask) if plain_width(item_size(a)) else None


cdef int masked_select(Operator op, IValue *r, const int32_t *at) except -1:
    return put_or_run(op, r, at, masked(&r[at[0]], &r[at[1]]), &r[at[0]])


cdef int index(Operator op, IValue *r, const int32_t *at) except -1:
    """x[i] by one tensor of integers, or by a mask of all of it."""
    cdef List indices = <List>r[at[1]].v.o
    if type(indices) is not List or indices.size != 1 or indices.items[0].tag != TAG_OBJECT:
        return run_record(op, r, at)
    if flat_array(&indices.items[0]) != NULL and scalar_type(&indices.items[0]) == BOOL:
        return put_or_run(op, r, at, masked(&r[at[0]], &indices.items[0]), &r[at[0]])
    return put_or_run(op, r, at, selected(&r[at[0]], 0, &indices.items[0], True, False), &r[at[0]])


cdef int nonzero(Operator op, IValue *r, const int32_t *at) except -1:
    """Of a mask with one or two dimensions."""
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef const uint8_t *mask
    cdef npy_intp dims[2]
    cdef npy_intp i, columns, place = 0, n
    cdef int64_t *out
    cdef object made
    cdef PyThreadState *state
    if a == NULL or scalar_type(&r[at[0]]) != BOOL or not 1 <= ndim_of(a) <= 2:
        return run_record(op, r, at)
    mask = <const uint8_t *>data_of(a)
    n = size_of(a)
    dims[0] = count_true(mask, n)
    dims[1] = ndim_of(a)
    made = new_flat(2, dims, INT64)
    out = <int64_t *>data_of(<PyArrayObject *>made)
    columns = dims_of(a)[1] if ndim_of(a) == 2 else 0
    state = leave_gil(n)
    if ndim_of(a) == 1:
        for i in range(n):
            if place == dims[0]:
                break
            out[place] = i
            place += mask[i] != 0
    else:
        for i in range(n):
            if mask[i]:
                out[place] = i // columns
                out[place + 1] = i % columns
                place += 2
    take_gil(state)
    return put_array(&r[at[op.nargs]], made, INT64)


register_kernel("aten::cat", cat)
register_kernel("aten::concat", cat)
register_kernel("aten::concatenate", cat)
register_kernel("aten::stack", stack)
register_kernel("aten::index_select", index_select)
register_kernel("aten::embedding", embedding)
register_kernel("aten::take", take)
register_kernel("aten::gather", gather)
register_kernel("aten::where.self", where)
register_kernel("aten::where.ScalarOther", where)
register_kernel("aten::where.ScalarSelf", where)
register_kernel("aten::masked_fill.Scalar", masked_fill)
register_kernel("aten::masked_select", masked_select)
register_kernel("aten::index.Tensor", index)
register_kernel("aten::index.Tensor_hacked_twin", index)
register_kernel("aten::nonzero", nonzero)
