"""Boolean reductions of contiguous CPU tensors: any, all, count_nonzero.

Input: interpreter registers with a tensor, the dimensions to reduce, and `keepdim`. Output: the register of
the result.

The kernels support bool, float32, float64, int32 and int64. For other arguments, the operator's Python kernel
runs. Example:

    (x > 0).any()
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memchr, memcmp
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel
from ts._core.value.ivalue cimport IValue
from ts._core.tensor.ndarray cimport BOOL, DOUBLE, FLOAT, INT32, INT64, PyArrayObject, data_of, size_of
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, new_contiguous, set_result, scalar_type
from ts.backends.cpu.kernels.reduce cimport Shape, read_shape

cnp.import_array()

ctypedef fused counted:
    float
    double
    int32_t
    int64_t
    uint8_t


cdef enum BooleanReduction:
    ANY
    ALL
    COUNT


cdef void reduce_bools(bint searched, const counted *x, Shape *s, uint8_t *out) noexcept nogil:
    """Compute any() of each row if `searched` is True, else all(), by a search for elements equal to `searched`."""
    cdef npy_intp o, i, j
    cdef bint matches
    for o in range(s.outer):
        if s.inner == 1:
            if counted is uint8_t:
                # A row has a nonzero byte if its first byte is nonzero, or if any byte differs from the next
                # byte. memcmp compares each byte with the next.
                matches = x[0] != 0 or memcmp(x, x + 1, s.n - 1) != 0 if searched else memchr(x, 0, s.n) != NULL
            else:
                matches = False
                for i in range(s.n):
                    if (x[i] != 0) == searched:
                        matches = True
                        break
            out[o] = matches == searched
        else:
            for j in range(s.inner):
                out[o * s.inner + j] = not searched
            for i in range(s.n):
                if searched:
                    for j in range(s.inner):
                        out[o * s.inner + j] |= x[i * s.inner + j] != 0
                else:
                    for j in range(s.inner):
                        out[o * s.inner + j] &= x[i * s.inner + j] != 0
        x += s.n * s.inner


cdef void count_true(const counted *x, Shape *s, int64_t *out) noexcept nogil:
    cdef npy_intp o, i, j
    cdef int64_t total
    for o in range(s.outer):
        if s.inner == 1:
            total = 0
            for i in range(s.n):
                total += x[i] != 0
            out[o] = total
        else:
            for j in range(s.inner):
                out[o * s.inner + j] = 0
            for i in range(s.n):
                for j in range(s.inner):
                    out[o * s.inner + j] += x[i * s.inner + j] != 0
        x += s.n * s.inner


cdef void reduce_elements(BooleanReduction reduction, const counted *x, Shape *s, void *out) noexcept nogil:
    if reduction == COUNT:
        count_true(x, s, <int64_t *>out)
    else:
        reduce_bools(reduction == ANY, x, s, <uint8_t *>out)


cdef int run_boolean_reduction(Operator op, IValue *r, const int32_t *at, BooleanReduction reduction, IValue *dims, bint keepdim) except -1:
    """Run a boolean reduction over the dimensions `dims`, or over all dimensions if it is NULL."""
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef Shape s
    cdef int kind, result = INT64 if reduction == COUNT else BOOL
    cdef object output
    cdef void *x
    cdef void *out
    cdef ReleasedGil gil_state
    if a == NULL or not read_shape(a, dims, keepdim, &s):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if kind not in (BOOL, FLOAT, DOUBLE, INT32, INT64):
        return UNSUPPORTED
    output = new_contiguous(s.nd, s.dims, result)
    x = data_of(a)
    out = data_of(<PyArrayObject *>output)
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    if kind == BOOL:
        reduce_elements(reduction, <uint8_t *>x, &s, out)
    elif kind == FLOAT:
        reduce_elements(reduction, <float *>x, &s, out)
    elif kind == DOUBLE:
        reduce_elements(reduction, <double *>x, &s, out)
    elif kind == INT32:
        reduce_elements(reduction, <int32_t *>x, &s, out)
    else:
        reduce_elements(reduction, <int64_t *>x, &s, out)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], output, result)


cdef int any_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_boolean_reduction(op, r, at, ANY, NULL, False)

cdef int all_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_boolean_reduction(op, r, at, ALL, NULL, False)

cdef int any_dim(Operator op, IValue *r, const int32_t *at) except -1:
    return run_boolean_reduction(op, r, at, ANY, &r[at[1]], r[at[2]].v.i)

cdef int all_dim(Operator op, IValue *r, const int32_t *at) except -1:
    return run_boolean_reduction(op, r, at, ALL, &r[at[1]], r[at[2]].v.i)

cdef int count(Operator op, IValue *r, const int32_t *at) except -1:
    return run_boolean_reduction(op, r, at, COUNT, &r[at[1]], False)


register_kernel("aten::any", any_all, CONTIGUOUS)
register_kernel("aten::all", all_all, CONTIGUOUS)
register_kernel("aten::any.dim", any_dim, CONTIGUOUS)
register_kernel("aten::all.dim", all_dim, CONTIGUOUS)
register_kernel("aten::count_nonzero", count, CONTIGUOUS)
register_kernel("aten::count_nonzero.dim_IntList", count, CONTIGUOUS)
