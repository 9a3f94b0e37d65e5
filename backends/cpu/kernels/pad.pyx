"""Padding of CPU tensors (constant padding, reflection padding, replicate padding, circular padding).

Input: interpreter registers with a tensor, pairs of widths (before, after), a mode, and a fill value. The
first pair belongs to the last dimension. Output: the register of the result.

For other arguments, the operator's Python kernel runs. Example:

    pad(x, [1, 2], "reflect")
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport BOOL, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.value.container cimport List, list_item
from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_NONE, TAG_OBJECT
from ts.backends.cpu.kernels.create cimport store_scalar
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS, contiguous_array_or_null, item_size, new_contiguous, set_result, scalar_type
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel

cnp.import_array()

cdef enum Mode:
    CONSTANT
    REFLECT
    REPLICATE
    CIRCULAR
    UNKNOWN

cdef enum:
    MAX_ELEMENT_BYTES = 16             # maximal size of an element

# Larger results are left to the operator's Python kernel, which raises the memory error.
cdef int64_t MAX_ELEMENTS = <int64_t>1 << 40


ctypedef struct PadGeometry:
    Mode mode
    int nd
    int first                          # the first padded dimension
    npy_intp before[MAX_DIMS]  # number of elements added before each dimension. A negative number removes elements.
    npy_intp size[MAX_DIMS]            # sizes of the source
    npy_intp new[MAX_DIMS]
    npy_intp step[MAX_DIMS]            # byte strides of the source
    npy_intp width
    char fill[MAX_ELEMENT_BYTES]


cdef inline npy_intp source_index(PadGeometry *p, int d, npy_intp i) noexcept nogil:
    """Return the source index for index `i` of the result along dimension `d`, or -1 for the fill value."""
    cdef npy_intp n = p.size[d]
    i -= p.before[d]
    if 0 <= i < n:
        return i
    if p.mode == REFLECT:
        return -i if i < 0 else 2 * (n - 1) - i
    if p.mode == REPLICATE:
        return 0 if i < 0 else n - 1
    if p.mode == CIRCULAR:
        return i + n if i < 0 else i - n
    return -1


cdef inline char *copy_element(const char *x, npy_intp width, char *out) noexcept nogil:
    if width == 4:
        memcpy(out, x, 4)
    elif width == 8:
        memcpy(out, x, 8)
    else:
        memcpy(out, x, width)
    return out + width


cdef inline char *write_fill(PadGeometry *p, char *out, npy_intp count) noexcept nogil:
    cdef npy_intp i
    for i in range(count):
        out = copy_element(p.fill, p.width, out)
    return out


cdef char *write_row(PadGeometry *p, const char *row, char *out) noexcept nogil:
    """Write one row of the result to `out`, and return the address after the row.

    The elements are those of the source row `row`, plus padding. If `row` is NULL, all are the fill value.
    """
    cdef int d = p.nd - 1
    cdef npy_intp n = p.new[d], i = 0, at, inside
    if row == NULL:
        return write_fill(p, out, n)
    while i < n:
        at = source_index(p, d, i)
        if at < 0:
            out = write_fill(p, out, 1)
            i += 1
        elif at == i - p.before[d]:
            inside = min(n - i, p.size[d] - at)
            memcpy(out, row + at * p.width, inside * p.width)
            out += inside * p.width
            i += inside
        else:
            out = copy_element(row + at * p.width, p.width, out)
            i += 1
    return out


cdef void write_rows(PadGeometry *p, const char *x, npy_intp outer, char *out) noexcept nogil:
    """Write all rows of the result.

    `outer` is the product of the dimensions before the first padded dimension.
    """
    cdef npy_intp index[MAX_DIMS]
    cdef npy_intp k, at, rows = 1
    cdef const char *row
    cdef const char *block = x
    cdef npy_intp apart = p.step[p.first] * p.size[p.first]
    cdef int d
    for d in range(p.first, p.nd - 1):
        rows *= p.new[d]
    for _ in range(outer):
        for d in range(p.first, p.nd):
            index[d] = 0
        for k in range(rows):
            row = block
            for d in range(p.first, p.nd - 1):
                at = source_index(p, d, index[d])
                if at < 0:
                    row = NULL
                    break
                row += at * p.step[d]
            out = write_row(p, row, out)
            d = p.nd - 2
            while d >= p.first:
                index[d] += 1
                if index[d] < p.new[d]:
                    break
                index[d] = 0
                d -= 1
        block += apart


# ---------------------------------------------------------------- arguments from registers

cdef Mode mode_of(IValue *x) noexcept:
    if x.tag != TAG_OBJECT or type(<object>x.v.o) is not str:
        return UNKNOWN
    if <str>x.v.o == "constant":
        return CONSTANT
    if <str>x.v.o == "reflect":
        return REFLECT
    if <str>x.v.o == "replicate":
        return REPLICATE
    return CIRCULAR if <str>x.v.o == "circular" else UNKNOWN


cdef bint is_valid_padding(PadGeometry *p, npy_intp before, npy_intp after, npy_intp n) noexcept:
    """Return whether this kernel supports the padding of a dimension with `n` elements in the mode `p.mode`.
    """
    if p.mode == CONSTANT:
        return n + before + after >= 0
    if n == 0 or n + before + after < 1 or -before >= n or -after >= n:
        return False
    if p.mode == REFLECT:
        return before < n and after < n
    return p.mode == REPLICATE or (0 <= before <= n and 0 <= after <= n)


cdef bint read_geometry(PadGeometry *p, PyArrayObject *a, IValue *pads) noexcept:
    cdef List pairs
    cdef int d, n
    cdef npy_intp before, after, total = 1
    if pads.tag != TAG_OBJECT or type(<object>pads.v.o) is not List:
        return False
    pairs = <List>pads.v.o
    p.nd = ndim_of(a)
    p.width = item_size(a)
    if pairs.size % 2 or pairs.size == 0 or pairs.size > 2 * p.nd or p.width > MAX_ELEMENT_BYTES:
        return False
    n = <int>pairs.size // 2
    if p.mode != CONSTANT and p.nd != n + 1 and p.nd != n + 2:
        return False
    p.first = p.nd - n
    for d in range(p.nd - 1, -1, -1):
        p.size[d] = dims_of(a)[d]
        p.step[d] = p.width if d == p.nd - 1 else p.step[d + 1] * p.size[d + 1]
        before = after = 0
        if d >= p.first:
            before = list_item(<PyObject *>pairs, 2 * (p.nd - 1 - d)).v.i
            after = list_item(<PyObject *>pairs, 2 * (p.nd - 1 - d) + 1).v.i
            if not -MAX_ELEMENTS < before < MAX_ELEMENTS or not -MAX_ELEMENTS < after < MAX_ELEMENTS:
                return False
            if not is_valid_padding(p, before, after, p.size[d]):
                return False
        p.before[d] = before
        p.new[d] = p.size[d] + before + after
        if p.new[d] > 1 and total > MAX_ELEMENTS // p.new[d]:
            return False
        total *= max(p.new[d], 1)
    return True


cdef bint read_fill(IValue *value, int kind, char *out) noexcept:
    """Write the fill value to `out` as an element of dtype `kind`. None, False and 0 are zeros of any dtype.

    `store_scalar` converts other numbers. Return False if it does not support the number and for other
    values.
    """
    if value.tag == TAG_NONE or (value.tag == TAG_INT and value.v.i == 0) or (value.tag == TAG_BOOL and value.v.i == 0):
        memset(out, 0, MAX_ELEMENT_BYTES)
        return True
    return (value.tag == TAG_FLOAT or value.tag == TAG_INT) and store_scalar(value, kind, out)


cdef int run_pad(Operator op, IValue *r, const int32_t *at, PadGeometry *p, IValue *value) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef npy_intp outer = 1
    cdef int kind, d
    cdef char *out
    cdef ReleasedGil gil_state
    if a == NULL or p.mode == UNKNOWN or not read_geometry(p, a, &r[at[1]]):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if not (read_fill(value, kind, p.fill) if p.mode == CONSTANT else value.tag == TAG_NONE):
        return UNSUPPORTED
    if (kind == BOOL or size_of(a) == 0) and p.mode != CONSTANT and p.mode != CIRCULAR:
        return UNSUPPORTED
    result = new_contiguous(p.nd, p.new, kind)
    out = data_of(<PyArrayObject *>result)
    for d in range(p.first):
        outer *= p.size[d]
    gil_state = leave_gil(size_of(<PyArrayObject *>result), r, at, op.nargs)
    write_rows(p, data_of(a), outer, out)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int pad(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PadGeometry geometry
    geometry.mode = mode_of(&r[at[2]])
    return run_pad(op, r, at, &geometry, &r[at[3]])


cdef int constant_pad(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PadGeometry geometry
    geometry.mode = CONSTANT
    return run_pad(op, r, at, &geometry, &r[at[2]])


register_kernel("aten::pad", pad)
register_kernel("aten::constant_pad_nd", constant_pad)
