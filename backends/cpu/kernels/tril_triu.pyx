"""tril, triu, their indices, and identity matrices for CPU tensors.

Input: interpreter registers with a contiguous tensor or sizes, and with a diagonal. Output: the register of
the result. For other arguments, the operator's Python kernel runs. The operators are:

    x.tril(), x.triu(-1)      tril_indices(3, 3), triu_indices(3, 3)      eye(3), eye(3, 4)
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport INT64, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.value.ivalue cimport IValue, TAG_BOOL
from ts.backends.cpu.kernels.create cimport is_plain_cpu, read_dtype, store_scalar
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, item_size, new_contiguous, new_like, set_result, same_dtype, scalar_type
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel

cnp.import_array()

# Maximal product of rows and columns. Larger results are left to the operator's Python kernel, which checks the
# memory limit.
cdef int64_t MAX_ELEMENTS = 1 << 24


# ---------------------------------------------------------------- tril and triu

cdef inline npy_intp columns_to_diagonal(npy_intp row, int64_t diagonal, npy_intp columns) noexcept nogil:
    """Return the number of elements of a row from its start to its element on the diagonal, inclusive."""
    return min(max(row + diagonal + 1, <npy_intp>0), columns)


cdef void copy_lower(
    const char *x, npy_intp matrices, npy_intp rows, npy_intp columns, npy_intp width, int64_t diagonal, char *out
) noexcept nogil:
    cdef npy_intp m, i, copied_bytes, length = columns * width
    for m in range(matrices):
        for i in range(rows):
            copied_bytes = columns_to_diagonal(i, diagonal, columns) * width
            memcpy(out, x, copied_bytes)
            memset(out + copied_bytes, 0, length - copied_bytes)
            x += length
            out += length


cdef void copy_upper(
    const char *x, npy_intp matrices, npy_intp rows, npy_intp columns, npy_intp width, int64_t diagonal, char *out
) noexcept nogil:
    cdef npy_intp m, i, zeroed_bytes, length = columns * width
    for m in range(matrices):
        for i in range(rows):
            zeroed_bytes = columns_to_diagonal(i, diagonal - 1, columns) * width
            memset(out, 0, zeroed_bytes)
            memcpy(out + zeroed_bytes, x + zeroed_bytes, length - zeroed_bytes)
            x += length
            out += length


cdef inline int64_t clamp_diagonal(int64_t diagonal, npy_intp rows, npy_intp columns) noexcept:
    """Clamp the diagonal to [-rows, columns]. Diagonals outside of this range give the same results."""
    return max(<int64_t>-rows, min(diagonal, <int64_t>columns))


cdef int run_triangle(Operator op, IValue *r, const int32_t *at, bint upper) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef npy_intp rows, columns, matrices, width
    cdef int64_t diagonal
    cdef int nd
    cdef char *x
    cdef char *out
    cdef ReleasedGil gil_state
    if a == NULL or ndim_of(a) < 2 or size_of(a) == 0:
        return UNSUPPORTED
    nd, width = ndim_of(a), item_size(a)
    rows, columns = dims_of(a)[nd - 2], dims_of(a)[nd - 1]
    matrices = size_of(a) // (rows * columns)
    diagonal = clamp_diagonal(r[at[1]].v.i, rows, columns)
    result = new_like(a, scalar_type(&r[at[0]]))
    x, out = data_of(a), data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    if upper:
        copy_upper(x, matrices, rows, columns, width, diagonal, out)
    else:
        copy_lower(x, matrices, rows, columns, width, diagonal, out)
    take_gil(gil_state)
    return set_result(&r[at[2]], result, scalar_type(&r[at[0]]))


cdef int tril(Operator op, IValue *r, const int32_t *at) except -1:
    return run_triangle(op, r, at, False)


cdef int triu(Operator op, IValue *r, const int32_t *at) except -1:
    return run_triangle(op, r, at, True)


# ---------------------------------------------------------------- tril_indices and triu_indices

cdef int indices(Operator op, IValue *r, const int32_t *at, bint upper) except -1:
    """Return the row and column indices of a triangle as a (2, n) tensor."""
    cdef int64_t rows = r[at[0]].v.i, columns = r[at[1]].v.i, diagonal
    cdef npy_intp dims[2]
    cdef npy_intp i, j, edge
    cdef int64_t *row
    cdef int64_t *column
    if not (0 <= rows <= MAX_ELEMENTS and 0 <= columns <= MAX_ELEMENTS and same_dtype(&r[at[3]], INT64)):
        return UNSUPPORTED
    if rows * columns > MAX_ELEMENTS or not is_plain_cpu(&r[at[4]], &r[at[5]], &r[at[6]]):
        return UNSUPPORTED
    diagonal = clamp_diagonal(r[at[2]].v.i, rows, columns) - (1 if upper else 0)
    dims[0], dims[1] = 2, 0
    for i in range(rows):
        edge = columns_to_diagonal(i, diagonal, columns)
        dims[1] += columns - edge if upper else edge
    result = new_contiguous(2, dims, INT64)
    row = <int64_t *>data_of(<PyArrayObject *>result)
    column = row + dims[1]
    for i in range(rows):
        edge = columns_to_diagonal(i, diagonal, columns)
        for j in range(edge if upper else 0, columns if upper else edge):
            row[0], column[0] = i, j
            row += 1
            column += 1
    return set_result(&r[at[op.nargs]], result, INT64)


cdef int tril_indices(Operator op, IValue *r, const int32_t *at) except -1:
    return indices(op, r, at, False)


cdef int triu_indices(Operator op, IValue *r, const int32_t *at) except -1:
    return indices(op, r, at, True)


# ---------------------------------------------------------------- eye

cdef int identity(Operator op, IValue *r, const int32_t *at, int64_t rows, int64_t columns, int dtype_at) except -1:
    cdef IValue one
    cdef char scalar_bytes[8]
    cdef npy_intp dims[2]
    cdef npy_intp i, width
    cdef int kind = read_dtype(&r[at[dtype_at]], -1)
    cdef char *out
    one.tag = TAG_BOOL
    one.v.i = 1
    if not (0 <= rows <= MAX_ELEMENTS and 0 <= columns <= MAX_ELEMENTS) or rows * columns > MAX_ELEMENTS:
        return UNSUPPORTED
    if kind < 0 or not store_scalar(&one, kind, scalar_bytes):
        return UNSUPPORTED
    if not is_plain_cpu(&r[at[dtype_at + 1]], &r[at[dtype_at + 2]], &r[at[dtype_at + 3]]):
        return UNSUPPORTED
    dims[0], dims[1] = rows, columns
    result = new_contiguous(2, dims, kind)
    out, width = data_of(<PyArrayObject *>result), item_size(<PyArrayObject *>result)
    memset(out, 0, rows * columns * width)
    for i in range(min(rows, columns)):
        memcpy(out + i * (columns + 1) * width, scalar_bytes, width)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int eye(Operator op, IValue *r, const int32_t *at) except -1:
    return identity(op, r, at, r[at[0]].v.i, r[at[0]].v.i, 1)


cdef int eye_m(Operator op, IValue *r, const int32_t *at) except -1:
    return identity(op, r, at, r[at[0]].v.i, r[at[1]].v.i, 2)


register_kernel("aten::tril", tril, CONTIGUOUS)
register_kernel("aten::triu", triu, CONTIGUOUS)
register_kernel("aten::tril_indices", tril_indices)
register_kernel("aten::triu_indices", triu_indices)
register_kernel("aten::eye", eye)
register_kernel("aten::eye.m", eye_m)
