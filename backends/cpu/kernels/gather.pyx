"""Elements of CPU tensors by their indices: bytes are moved, whatever they mean.

In: registers with a tensor whose elements lie in order, and one of indices.  Out: the register of the result.

    index_select, embedding, gather, take, x[i]

Rows are copied as wholes, single elements as integers of their width.  An index that does not fit, another layout or
dtype is left to the record's own kernel, which has the messages.

Indices are tested before anything is read, and read again to pick: a thread that writes to the tensor of indices meanwhile
can lead outside of the other tensor, here as in PyTorch.
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.value.container cimport List
from ts._core.dispatch.operator cimport Operator, run_record
from ts.backends.cpu.kernels.table cimport register_kernel
from ts._core.value.ivalue cimport IValue, TAG_OBJECT
from ts._core.tensor.ndarray cimport BOOL, INT32, INT64, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts.backends.cpu.kernels.gil cimport Away, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport (
    MOST_DIMS, flat_array, has_plain_width, item_size, new_flat, new_like, put_made, scalar_type
)
from ts.backends.cpu.kernels.masked cimport masked

cnp.import_array()

cdef extern from "simd.h" nogil:
    bint within_wide(const int64_t *x, npy_intp n, int64_t low, int64_t high)
    bint within_narrow(const int32_t *x, npy_intp n, int64_t low, int64_t high)
    bint pick_four(const int32_t *x, npy_intp size, const int64_t *index, npy_intp n, int32_t *out)
    bint pick_eight(const int64_t *x, npy_intp size, const int64_t *index, npy_intp n, int64_t *out)
    void pick_four_of_rows(const int32_t *x, npy_intp rows, npy_intp size, const int64_t *index, npy_intp n, int32_t *out)
    void pick_eight_of_rows(const int64_t *x, npy_intp rows, npy_intp size, const int64_t *index, npy_intp n, int64_t *out)


ctypedef fused element:
    int8_t
    int16_t
    int32_t
    int64_t


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


cdef object selected(
    int nargs, IValue *r, const int32_t *at, IValue *source, int64_t dim, IValue *by, bint from_end, bint vector
):
    """source.index_select(dim, by), where `by` may have any shape unless it has to be a vector; None: not here.

    Both are among the `nargs` arguments, or in their lists.
    """
    cdef PyArrayObject *a = flat_array(source)
    cdef PyArrayObject *index = index_array(by)
    cdef npy_intp dims[MOST_DIMS]
    cdef npy_intp outer = 1, length
    cdef int d, nd = 0
    cdef bint narrow, done
    cdef object made
    cdef char *out
    cdef Away away
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
    away = leave_gil(outer * size_of(index) * length // 8, r, at, nargs)
    done = outer == 1 and not narrow and pick_checked(
        data_of(a), dims_of(a)[dim], length, data_of(index), size_of(index), out
    )
    if not done:
        done = all_within(index, narrow, -dims_of(a)[dim] if from_end else 0, dims_of(a)[dim])
        if done:
            pick_rows(data_of(a), outer, dims_of(a)[dim], length, data_of(index), narrow, size_of(index), out)
    take_gil(away)
    return made if done else None


cdef inline int put_or_run(Operator op, IValue *r, const int32_t *at, object made) except -1:
    """The result; the record's own kernel makes it where that is None."""
    return run_record(op, r, at) if made is None else put_made(&r[at[op.nargs]], made)


cdef int index_select(Operator op, IValue *r, const int32_t *at) except -1:
    return put_or_run(op, r, at, selected(op.nargs, r, at, &r[at[0]], r[at[1]].v.i, &r[at[2]], False, True))


cdef int embedding(Operator op, IValue *r, const int32_t *at) except -1:
    if flat_array(&r[at[0]]) == NULL or ndim_of(flat_array(&r[at[0]])) != 2:
        return run_record(op, r, at)
    return put_or_run(op, r, at, selected(op.nargs, r, at, &r[at[0]], 0, &r[at[1]], False, False))


cdef int take(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef PyArrayObject *index = flat_array(&r[at[1]])
    cdef object made
    cdef char *out
    cdef bint done
    cdef Away away
    if a == NULL or index == NULL or scalar_type(&r[at[1]]) != INT64 or size_of(a) == 0:
        return run_record(op, r, at)
    made = new_like(index, scalar_type(&r[at[0]]))
    out = data_of(<PyArrayObject *>made)
    away = leave_gil(size_of(index), r, at, op.nargs)
    done = pick_checked(data_of(a), size_of(a), item_size(a), data_of(index), size_of(index), out)
    if not done:
        done = all_within(index, False, -size_of(a), size_of(a))
        if done:
            pick_rows(data_of(a), 1, size_of(a), item_size(a), data_of(index), False, size_of(index), out)
    take_gil(away)
    if not done:
        return run_record(op, r, at)
    return put_made(&r[at[2]], made)


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
    cdef Away away
    if a == NULL or index == NULL or ndim_of(a) != ndim_of(index) or size_of(index) == 0:
        return run_record(op, r, at)
    if dim < 0:
        dim += ndim_of(a)
    width = item_size(a)
    if not 0 <= dim < ndim_of(a) or not has_plain_width(width):
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
    away = leave_gil(size_of(index), r, at, op.nargs)
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
    take_gil(away)
    return put_made(&r[at[op.nargs]], made)


# ---------------------------------------------------------------- x[...]

cdef int index(Operator op, IValue *r, const int32_t *at) except -1:
    """x[i] by one tensor of integers, or by a mask of all of it."""
    cdef List indices = <List>r[at[1]].v.o
    if type(indices) is not List or indices.size != 1 or indices.items[0].tag != TAG_OBJECT:
        return run_record(op, r, at)
    if flat_array(&indices.items[0]) != NULL and scalar_type(&indices.items[0]) == BOOL:
        return put_or_run(op, r, at, masked(op.nargs, r, at, &r[at[0]], &indices.items[0]))
    return put_or_run(op, r, at, selected(op.nargs, r, at, &r[at[0]], 0, &indices.items[0], True, False))


register_kernel("aten::index_select", index_select)
register_kernel("aten::embedding", embedding)
register_kernel("aten::take", take)
register_kernel("aten::gather", gather)
register_kernel("aten::index.Tensor", index)
register_kernel("aten::index.Tensor_hacked_twin", index)
