"""Floats of one width as those of another: `x.half()`, `x.to(ts.bfloat16)`, `x.double()`.

In: the registers of `aten::_to_copy`, with a tensor whose elements lie in order and a dtype.  Out: the register of the copy.

Doubles become 16-bit floats by way of float32, as in PyTorch.  Other dtypes, layouts and devices are left to the record.
"""

from libc.stdint cimport int32_t, uint16_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, run_record
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, HALF, PyArrayObject, data_of, size_of
from ts._core.tensor.tensor cimport Tensor
from ts._core.value.ivalue cimport IValue, TAG_INT, TAG_NONE
from ts.backends.cpu.kernels.gil cimport Away, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport flat_array, new_like, put_array, scalar_type
from ts.backends.cpu.kernels.short_floats cimport BRAIN, shorten, widen
from ts.backends.cpu.kernels.table cimport register_kernel

cdef extern from "short_floats.h" nogil:
    void widen_floats_row(const float *x, npy_intp n, double *out)
    void shorten_doubles_row(const double *x, npy_intp n, float *out)

cdef enum:
    TILE = 1024                        # elements of scratch


cdef inline bint is_float(long kind) noexcept nogil:
    return kind == FLOAT or kind == DOUBLE or kind == HALF or kind == BRAIN


cdef inline int width(int kind) noexcept nogil:
    return 8 if kind == DOUBLE else 4 if kind == FLOAT else 2


cdef void read_floats(const char *x, int kind, npy_intp n, float *out) noexcept nogil:
    if kind == DOUBLE:
        shorten_doubles_row(<const double *>x, n, out)
    else:
        widen(x, 2, n, kind == BRAIN, out)


cdef void write_floats(const float *x, npy_intp n, int kind, char *out) noexcept nogil:
    if kind == DOUBLE:
        widen_floats_row(x, n, <double *>out)
    else:
        shorten(x, n, kind == BRAIN, out, 2)


cdef void convert(const char *x, int source, npy_intp n, int target, char *out) noexcept nogil:
    cdef float scratch[TILE]
    cdef npy_intp count
    if target == FLOAT:
        read_floats(x, source, n, <float *>out)
        return
    if source == FLOAT:
        write_floats(<const float *>x, n, target, out)
        return
    while n > 0:
        count = min(n, <npy_intp>TILE)
        read_floats(x, source, count, scratch)
        write_floats(scratch, count, target, out)
        x += count * width(source)
        out += count * width(target)
        n -= count


cdef int to_copy(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = flat_array(&r[at[0]])
    cdef IValue *wanted = &r[at[1]]
    cdef int source, target, i
    cdef object made
    cdef char *out
    cdef Away away
    if x == NULL or wanted.tag != TAG_INT or (<Tensor>r[at[0]].v.o).wants_grad:
        return run_record(op, r, at)
    for i in (2, 3, 4, 6):             # layout, device, pin_memory, memory_format
        if r[at[i]].tag != TAG_NONE:
            return run_record(op, r, at)
    source = scalar_type(&r[at[0]])
    if not is_float(source) or not is_float(wanted.v.i) or source == wanted.v.i:
        return run_record(op, r, at)
    target = <int>wanted.v.i
    made = new_like(x, target)
    out = data_of(<PyArrayObject *>made)
    away = leave_gil(size_of(x), r, at, op.nargs)
    convert(data_of(x), source, size_of(x), target, out)
    take_gil(away)
    return put_array(&r[at[op.nargs]], made, target)


register_kernel("aten::_to_copy", to_copy)
