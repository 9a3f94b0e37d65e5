"""flip and roll of contiguous CPU tensors of any dtype.

Input: interpreter registers with a tensor, dimensions and shifts. Output: the register of the copy. For other
arguments, the operator's Python kernel runs. The operators are:

    x.flip(0), x.fliplr(), x.flipud()      x.roll(1), x.roll([1, 2], [0, 1])
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.value.container cimport List, list_item
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport (
    MAX_DIMS, Axis, contiguous_array_or_null, item_size, new_like, set_result, read_axis, scalar_type
)
from ts.backends.cpu.kernels.unaligned_types cimport eight_bytes, element, four_bytes, two_bytes
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts.backends.cpu.kernels.view cimport wrap_dim

cnp.import_array()


# ---------------------------------------------------------------- flip

cdef inline void reverse_elements(const element *x, npy_intp n, element *out) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        out[i] = x[n - 1 - i]


cdef void reverse(const char *x, npy_intp n, npy_intp width, char *out) noexcept nogil:
    """Compute out[i] = x[n - 1 - i] for elements of `width` bytes."""
    cdef npy_intp i
    if width == 4:
        reverse_elements(<const four_bytes *>x, n, <four_bytes *>out)
    elif width == 8:
        reverse_elements(<const eight_bytes *>x, n, <eight_bytes *>out)
    elif width == 2:
        reverse_elements(<const two_bytes *>x, n, <two_bytes *>out)
    elif width == 1:
        reverse_elements(<const int8_t *>x, n, <int8_t *>out)
    else:
        for i in range(n):
            memcpy(out + i * width, x + (n - 1 - i) * width, width)


cdef void flip_along(
    const char *x, npy_intp item, int last, const npy_intp *dims, const bint *is_flipped, npy_intp inner, char *out
) noexcept nogil:
    """Reverse the dimensions marked in `is_flipped`.

    `last` is the last flipped dimension, `inner` the number of elements after it.
    """
    cdef npy_intp index[MAX_DIMS]
    cdef npy_intp step[MAX_DIMS]
    cdef npy_intp width = inner * item, row = dims[last] * width, rows = 1, i, size = row
    cdef int d
    for d in range(last - 1, -1, -1):
        step[d], index[d] = size, 0
        size *= dims[d]
        rows *= dims[d]
        if is_flipped[d]:
            x += step[d] * (dims[d] - 1)
            step[d] = -step[d]
    for i in range(rows):
        reverse(x, dims[last], width, out)
        out += row
        for d in range(last - 1, -1, -1):
            index[d] += 1
            x += step[d]
            if index[d] < dims[d]:
                break
            x -= step[d] * dims[d]
            index[d] = 0


cdef int store_flipped(Operator op, IValue *r, const int32_t *at, PyArrayObject *a, const bint *is_flipped, int last) except -1:
    """Store the flipped copy as the result. `last` is the last flipped dimension, or -1 if no dimension is
    flipped.
    """
    cdef npy_intp inner = 1, item = item_size(a)
    cdef int d, kind = scalar_type(&r[at[0]])
    cdef const char *x = data_of(a)
    cdef char *out
    cdef ReleasedGil gil_state
    result = new_like(a, kind)
    out = data_of(<PyArrayObject *>result)
    for d in range(last + 1, ndim_of(a)):
        inner *= dims_of(a)[d]
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    if last < 0 or size_of(a) == 0:
        memcpy(out, x, size_of(a) * item)
    else:
        flip_along(x, item, last, dims_of(a), is_flipped, inner, out)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int flip(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef List listed = <List>r[at[1]].v.o
    cdef bint is_flipped[MAX_DIMS]
    cdef int d, last = -1
    cdef Py_ssize_t i
    if a == NULL:
        return UNSUPPORTED
    for d in range(ndim_of(a)):
        is_flipped[d] = False
    for i in range(listed.size):
        d = wrap_dim(list_item(<PyObject *>listed, i).v.i, ndim_of(a))
        if d < 0 or is_flipped[d]:
            return UNSUPPORTED
        is_flipped[d] = True
        last = max(last, d)
    return store_flipped(op, r, at, a, is_flipped, last)


cdef int flip_dimension(Operator op, IValue *r, const int32_t *at, int dim) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef bint is_flipped[2]
    if a == NULL or ndim_of(a) <= dim or (dim == 0 and ndim_of(a) < 1):
        return UNSUPPORTED
    is_flipped[0], is_flipped[1] = dim == 0, dim == 1
    return store_flipped(op, r, at, a, is_flipped, dim)


cdef int flipud(Operator op, IValue *r, const int32_t *at) except -1:
    return flip_dimension(op, r, at, 0)


cdef int fliplr(Operator op, IValue *r, const int32_t *at) except -1:
    return flip_dimension(op, r, at, 1)


# ---------------------------------------------------------------- roll

cdef void roll_axis(const char *x, Axis *axis, npy_intp item, int64_t shift, char *out) noexcept nogil:
    """Rotate the elements along an axis of length n by `shift`, 0 <= shift < n."""
    cdef npy_intp row = axis.n * axis.inner * item, first = shift * axis.inner * item, o
    for o in range(axis.outer):
        memcpy(out, x + row - first, first)
        memcpy(out + first, x, row - first)
        x += row
        out += row


cdef inline int64_t wrap_shift(int64_t shift, npy_intp n) noexcept:
    shift %= n
    return shift + n if shift < 0 else shift


cdef int roll(Operator op, IValue *r, const int32_t *at) except -1:
    """Roll along one dimension after the other. Each step writes a new array."""
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef List shifts = <List>r[at[1]].v.o
    cdef List listed = <List>r[at[2]].v.o
    cdef Axis axis
    cdef npy_intp item
    cdef int kind
    cdef int64_t shift
    cdef Py_ssize_t i
    cdef PyArrayObject *source = a
    cdef char *out
    cdef ReleasedGil gil_state
    if a == NULL or size_of(a) == 0 or shifts.size == 0 or (listed.size != shifts.size and (listed.size or shifts.size > 1)):
        return UNSUPPORTED
    kind, item = scalar_type(&r[at[0]]), item_size(a)
    result = None
    for i in range(shifts.size):
        axis.outer, axis.n, axis.inner = 1, size_of(a), 1
        if listed.size and read_axis(a, list_item(<PyObject *>listed, i).v.i, &axis) < 0:
            return UNSUPPORTED
        shift = wrap_shift(list_item(<PyObject *>shifts, i).v.i, axis.n)
        owner, result = result, new_like(a, kind)
        out = data_of(<PyArrayObject *>result)
        gil_state = leave_gil(size_of(a) // 4, r, at, op.nargs)
        roll_axis(data_of(source), &axis, item, shift, out)
        take_gil(gil_state)
        source = <PyArrayObject *>result
    return set_result(&r[at[op.nargs]], result, kind)


register_kernel("aten::flip", flip)
register_kernel("aten::flipud", flipud)
register_kernel("aten::fliplr", fliplr)
register_kernel("aten::roll", roll)
