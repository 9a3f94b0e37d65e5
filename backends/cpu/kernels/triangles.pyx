"""tril, triu, their indices, and identity matrices for CPU tensors.

In: registers with a contiguous tensor, or sizes, and the diagonal.  Out: the register of the result.

    x.tril(), x.triu(-1)      tril_indices(3, 3), triu_indices(3, 3)      eye(3), eye(3, 4)

Elements of any dtype are copied as bytes. Non-contiguous tensors are copied first; other devices, and other
dtypes of new tensors, are left to the record's own kernel.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, run_record
from ts._core.tensor.ndarray cimport INT64, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.value.ivalue cimport IValue, TAG_BOOL
from ts.backends.cpu.kernels.create cimport plain_place, store, wanted
from ts.backends.cpu.kernels.gil cimport Away, leave_gil, take_gil
from ts.backends.cpu.kernels.in_order cimport run_in_order
from ts.backends.cpu.kernels.kernel cimport flat_array, item_size, new_flat, new_like, put_array, same_dtype, scalar_type
from ts.backends.cpu.kernels.table cimport register_kernel

cnp.import_array()

cdef int64_t MOST = 1 << 24            # rows or columns of new tensors; for more, the record's kernel checks the memory


# ---------------------------------------------------------------- tril and triu

cdef inline npy_intp kept_until(npy_intp row, int64_t diagonal, npy_intp columns) noexcept nogil:
    """Return the number of columns of a row up to the diagonal; with `diagonal - 1`, strictly before it."""
    return min(max(row + diagonal + 1, <npy_intp>0), columns)


cdef void keep_lower(
    const char *x, npy_intp matrices, npy_intp rows, npy_intp columns, npy_intp width, int64_t diagonal, char *out
) noexcept nogil:
    cdef npy_intp m, i, kept, length = columns * width
    for m in range(matrices):
        for i in range(rows):
            kept = kept_until(i, diagonal, columns) * width
            memcpy(out, x, kept)
            memset(out + kept, 0, length - kept)
            x += length
            out += length


cdef void keep_upper(
    const char *x, npy_intp matrices, npy_intp rows, npy_intp columns, npy_intp width, int64_t diagonal, char *out
) noexcept nogil:
    cdef npy_intp m, i, gone, length = columns * width
    for m in range(matrices):
        for i in range(rows):
            gone = kept_until(i, diagonal - 1, columns) * width
            memset(out, 0, gone)
            memcpy(out + gone, x + gone, length - gone)
            x += length
            out += length


cdef inline int64_t within(int64_t diagonal, npy_intp rows, npy_intp columns) noexcept:
    """Clamp the diagonal to the range that makes a difference, [-rows, columns]."""
    return max(<int64_t>-rows, min(diagonal, <int64_t>columns))


cdef int triangle(Operator op, IValue *r, const int32_t *at, bint upper) except -1:
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef npy_intp rows, columns, matrices, width
    cdef int64_t diagonal
    cdef int nd
    cdef char *x
    cdef char *out
    cdef Away away
    if a == NULL or ndim_of(a) < 2 or size_of(a) == 0:
        return run_in_order(op, r, at)
    nd, width = ndim_of(a), item_size(a)
    rows, columns = dims_of(a)[nd - 2], dims_of(a)[nd - 1]
    matrices = size_of(a) // (rows * columns)
    diagonal = within(r[at[1]].v.i, rows, columns)
    made = new_like(a, scalar_type(&r[at[0]]))
    x, out = data_of(a), data_of(<PyArrayObject *>made)
    away = leave_gil(size_of(a), r, at, op.nargs)
    if upper:
        keep_upper(x, matrices, rows, columns, width, diagonal, out)
    else:
        keep_lower(x, matrices, rows, columns, width, diagonal, out)
    take_gil(away)
    return put_array(&r[at[2]], made, scalar_type(&r[at[0]]))


cdef int tril(Operator op, IValue *r, const int32_t *at) except -1:
    return triangle(op, r, at, False)


cdef int triu(Operator op, IValue *r, const int32_t *at) except -1:
    return triangle(op, r, at, True)


# ---------------------------------------------------------------- tril_indices and triu_indices

cdef int indices(Operator op, IValue *r, const int32_t *at, bint upper) except -1:
    """Return the row and column indices of a triangle as a (2, n) tensor."""
    cdef int64_t rows = r[at[0]].v.i, columns = r[at[1]].v.i, diagonal
    cdef npy_intp dims[2]
    cdef npy_intp i, j, edge
    cdef int64_t *row
    cdef int64_t *column
    if not (0 <= rows <= MOST and 0 <= columns <= MOST and same_dtype(&r[at[3]], INT64)):
        return run_record(op, r, at)
    if rows * columns > MOST or not plain_place(&r[at[4]], &r[at[5]], &r[at[6]]):
        return run_record(op, r, at)
    diagonal = within(r[at[2]].v.i, rows, columns) - (1 if upper else 0)
    dims[0], dims[1] = 2, 0
    for i in range(rows):
        edge = kept_until(i, diagonal, columns)
        dims[1] += columns - edge if upper else edge
    made = new_flat(2, dims, INT64)
    row = <int64_t *>data_of(<PyArrayObject *>made)
    column = row + dims[1]
    for i in range(rows):
        edge = kept_until(i, diagonal, columns)
        for j in range(edge if upper else 0, columns if upper else edge):
            row[0], column[0] = i, j
            row += 1
            column += 1
    return put_array(&r[at[op.nargs]], made, INT64)


cdef int tril_indices(Operator op, IValue *r, const int32_t *at) except -1:
    return indices(op, r, at, False)


cdef int triu_indices(Operator op, IValue *r, const int32_t *at) except -1:
    return indices(op, r, at, True)


# ---------------------------------------------------------------- eye

cdef int identity(Operator op, IValue *r, const int32_t *at, int64_t rows, int64_t columns, int dtype_at) except -1:
    cdef IValue one
    cdef char number[8]
    cdef npy_intp dims[2]
    cdef npy_intp i, width
    cdef int kind = wanted(&r[at[dtype_at]], -1)
    cdef char *out
    one.tag = TAG_BOOL
    one.v.i = 1
    if not (0 <= rows <= MOST and 0 <= columns <= MOST) or rows * columns > MOST or kind < 0 or not store(&one, kind, number):
        return run_record(op, r, at)
    if not plain_place(&r[at[dtype_at + 1]], &r[at[dtype_at + 2]], &r[at[dtype_at + 3]]):
        return run_record(op, r, at)
    dims[0], dims[1] = rows, columns
    made = new_flat(2, dims, kind)
    out, width = data_of(<PyArrayObject *>made), item_size(<PyArrayObject *>made)
    memset(out, 0, rows * columns * width)
    for i in range(min(rows, columns)):
        memcpy(out + i * (columns + 1) * width, number, width)
    return put_array(&r[at[op.nargs]], made, kind)


cdef int eye(Operator op, IValue *r, const int32_t *at) except -1:
    return identity(op, r, at, r[at[0]].v.i, r[at[0]].v.i, 1)


cdef int eye_of_two(Operator op, IValue *r, const int32_t *at) except -1:
    return identity(op, r, at, r[at[0]].v.i, r[at[1]].v.i, 2)


register_kernel("aten::tril", tril)
register_kernel("aten::triu", triu)
register_kernel("aten::tril_indices", tril_indices)
register_kernel("aten::triu_indices", triu_indices)
register_kernel("aten::eye", eye)
register_kernel("aten::eye.m", eye_of_two)
