"""Concatenation of contiguous CPU tensors of any dtype.

Input: interpreter registers with a list of tensors of one dtype, and a dimension. Output: the register of the
result. For other arguments, the operator's Python kernel runs. Example:

    cat([x, y], 1)
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.value.container cimport List, list_slot
from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.parallel_for cimport parallel_copy, parallel_ranges
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel
from ts._core.value.ivalue cimport IValue
from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS, contiguous_array_or_null, item_size, new_contiguous, set_result, scalar_type
from ts.backends.cpu.kernels.unaligned_types cimport eight_bytes, four_bytes

cnp.import_array()

cdef extern from "simd.h" nogil:
    void join_rows(const char **source, const npy_intp *length, npy_intp parts, npy_intp count, char *to)

cdef enum:
    # Maximal number of tensors for which the result is written row by row: first row 0 of each tensor, then
    # row 1 of each tensor. With more tensors, each tensor is copied completely before the next one.
    MAX_INTERLEAVED_PARTS = 16


cdef PyArrayObject *matching_tensor(List tensors, Py_ssize_t i, int kind, int nd) noexcept:
    """Return the array of tensor `i` of the list if it is contiguous with dtype `kind` and rank `nd`, else
    NULL.
    """
    cdef PyArrayObject *a = contiguous_array_or_null(list_slot(<PyObject *>tensors, i))
    return a if a != NULL and scalar_type(list_slot(<PyObject *>tensors, i)) == kind and ndim_of(a) == nd else NULL


cdef void copy_part(const char *source, npy_intp length, npy_intp rows, npy_intp pitch, char *to) noexcept nogil:
    """Copy `rows` rows of `length` bytes to `to`. The destination rows are `pitch` bytes apart."""
    cdef npy_intp i
    if rows == 1:
        parallel_copy(to, source, length)
    elif length == 4:
        for i in range(rows):
            (<four_bytes *>(to + i * pitch))[0] = (<const four_bytes *>source)[i]
    elif length == 8:
        for i in range(rows):
            (<eight_bytes *>(to + i * pitch))[0] = (<const eight_bytes *>source)[i]
    else:
        for i in range(rows):
            memcpy(to + i * pitch, source + i * length, length)


cdef struct JoinedRows:
    const char **sources
    const npy_intp *lengths
    Py_ssize_t count
    npy_intp row_bytes                 # bytes of a row of the result
    char *out


cdef int join_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Copy the rows [start, end) of the result."""
    cdef JoinedRows *joined = <JoinedRows *>context
    cdef const char *sources[MAX_INTERLEAVED_PARTS]
    cdef Py_ssize_t i
    for i in range(joined.count):
        sources[i] = joined.sources[i] + start * joined.lengths[i]
    join_rows(sources, joined.lengths, joined.count, end - start, joined.out + start * joined.row_bytes)
    return 0


cdef int join(Operator op, IValue *r, const int32_t *at, bint stacked) except -1:
    cdef List tensors = <List>r[at[0]].v.o
    cdef int64_t dim = r[at[1]].v.i
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp outer = 1, inner, total = 0
    cdef PyArrayObject *first
    cdef PyArrayObject *a
    cdef Py_ssize_t count, i
    cdef int nd, d, kind
    cdef object result
    cdef char *out
    cdef const char *few_sources[MAX_INTERLEAVED_PARTS]
    cdef npy_intp few_lengths[MAX_INTERLEAVED_PARTS]
    cdef const char **sources = few_sources
    cdef npy_intp *lengths = few_lengths
    cdef JoinedRows joined
    cdef ReleasedGil gil_state
    if type(tensors) is not List or tensors.size == 0:
        return UNSUPPORTED
    first = contiguous_array_or_null(list_slot(<PyObject *>tensors, 0))
    if first == NULL or ndim_of(first) + stacked > MAX_DIMS:
        return UNSUPPORTED
    count = tensors.size
    kind = scalar_type(list_slot(<PyObject *>tensors, 0))
    nd = ndim_of(first)
    if dim < 0:
        dim += nd + stacked
    if not 0 <= dim < nd + stacked or size_of(first) == 0:
        return UNSUPPORTED
    for i in range(count):
        a = matching_tensor(tensors, i, kind, nd)
        if a == NULL or size_of(a) == 0:
            return UNSUPPORTED
        for d in range(nd):
            if dims_of(a)[d] != dims_of(first)[d] and (stacked or d != dim):
                return UNSUPPORTED
        total += 1 if stacked else dims_of(a)[dim]
    inner = item_size(first)
    for d in range(nd):
        dims[d + (stacked and d >= dim)] = dims_of(first)[d]
        if d < dim:
            outer *= dims_of(first)[d]
        elif stacked or d > dim:
            inner *= dims_of(first)[d]
    dims[dim] = total
    result = new_contiguous(nd + stacked, dims, kind)
    out = data_of(<PyArrayObject *>result)
    if count > MAX_INTERLEAVED_PARTS:
        sources = <const char **>malloc(count * (sizeof(char *) + sizeof(npy_intp)))
        if sources == NULL:
            raise MemoryError()
        lengths = <npy_intp *>(sources + count)
    # Read the addresses before the GIL is released, because another thread may change the list afterwards.
    for i in range(count):
        a = contiguous_array_or_null(list_slot(<PyObject *>tensors, i))
        sources[i] = data_of(a)
        lengths[i] = inner if stacked else inner * dims_of(a)[dim]
    gil_state = leave_gil(outer * total * inner // 8, r, at, op.nargs)
    if outer > 1 and count <= MAX_INTERLEAVED_PARTS and total * inner > 8 * count:
        joined.sources, joined.lengths, joined.count, joined.out = sources, lengths, count, out
        joined.row_bytes = total * inner
        parallel_ranges(join_range, &joined, outer, total * inner * 0.125)
    else:
        for i in range(count):
            copy_part(sources[i], lengths[i], outer, total * inner, out)
            out += lengths[i]
    take_gil(gil_state)
    if sources != few_sources:
        free(sources)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int cat(Operator op, IValue *r, const int32_t *at) except -1:
    return join(op, r, at, False)


cdef int stack(Operator op, IValue *r, const int32_t *at) except -1:
    return join(op, r, at, True)


register_kernel("aten::cat", cat, CONTIGUOUS)
register_kernel("aten::concat", cat, CONTIGUOUS)
register_kernel("aten::concatenate", cat, CONTIGUOUS)
register_kernel("aten::stack", stack, CONTIGUOUS)
