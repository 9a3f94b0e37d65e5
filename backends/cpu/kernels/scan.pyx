"""Cumulative sums (prefix sums) and cumulative products, with instruction-level parallelism.

Input: interpreter registers with a tensor and a dimension. Output: the register of the result.

Running totals are accumulated in double. For other arguments, the operator's Python kernel runs. Examples:

    cumsum(x, 0), cumprod(x, -1)
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.parallel_for cimport parallel_ranges
from ts.backends.cpu.kernels.kernel_registry cimport FLOAT32_CONTIGUOUS, register_kernel
from ts._core.value.ivalue cimport IValue
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT64, PyArrayObject, data_of, size_of
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport (
    Axis, contiguous_array_or_null, new_like, set_result, read_axis, same_dtype, scalar_type
)

cnp.import_array()

cdef double SCAN_COST = 2              # time per element in units of 0.5 ns

cdef enum:
    COLUMNS = 256  # maximal number of columns that are scanned at a time. Their running totals are on the stack.

ctypedef fused scanned:
    float
    double
    int64_t


cdef void scan_columns(
    bint product, const scanned *x, npy_intp n, npy_intp stride, npy_intp width, scanned *out
) noexcept nogil:
    """Compute the cumulative products (if `product`) or cumulative sums of `width` columns of `n` rows.

    Rows are `stride` elements apart.
    """
    cdef double total[COLUMNS]
    cdef int64_t integer_total[COLUMNS]
    cdef npy_intp i, j
    for j in range(width):
        total[j] = integer_total[j] = 1 if product else 0
    for i in range(n):
        if scanned is int64_t:
            for j in range(width):
                integer_total[j] = integer_total[j] * x[j] if product else integer_total[j] + x[j]
                out[j] = integer_total[j]
        elif product:
            for j in range(width):
                total[j] *= x[j]
                out[j] = <scanned>total[j]
        else:
            for j in range(width):
                total[j] += x[j]
                out[j] = <scanned>total[j]
        x += stride
        out += stride


cdef void scan(bint product, const scanned *x, npy_intp outer, npy_intp n, npy_intp inner, scanned *out) noexcept nogil:
    cdef npy_intp o, i, c
    cdef int64_t integer_total
    cdef double total, two, three, four
    for o in range(outer):
        if inner > 1:
            c = 0
            while c < inner:
                scan_columns(product, x + c, n, inner, min(<npy_intp>COLUMNS, inner - c), out + c)
                c += COLUMNS
        elif scanned is int64_t:
            integer_total = x[0]
            out[0] = integer_total
            for i in range(1, n):
                integer_total = integer_total * x[i] if product else integer_total + x[i]
                out[i] = integer_total
        else:
            total = 1 if product else 0
            i = 0
            if scanned is float:
                # Process four elements per iteration. Only one of the four additions then depends on the
                # previous running total, so the dependency chain is shorter.
                while i + 4 <= n:
                    if product:
                        two = <double>x[i] * x[i + 1]
                        three = two * x[i + 2]
                        four = two * (<double>x[i + 2] * x[i + 3])
                        out[i] = <float>(total * x[i])
                        out[i + 1] = <float>(total * two)
                        out[i + 2] = <float>(total * three)
                        total *= four
                    else:
                        two = <double>x[i] + x[i + 1]
                        three = two + x[i + 2]
                        four = two + (<double>x[i + 2] + x[i + 3])
                        out[i] = <float>(total + x[i])
                        out[i + 1] = <float>(total + two)
                        out[i + 2] = <float>(total + three)
                        total += four
                    out[i + 3] = <float>total
                    i += 4
            while i < n:
                total = total * x[i] if product else total + x[i]
                out[i] = <scanned>total
                i += 1
        x += n * inner
        out += n * inner


cdef struct Scan:
    bint product
    int kind
    char *x
    npy_intp n
    npy_intp inner
    char *out


cdef int scan_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Compute the outer indices [start, end)."""
    cdef Scan *task = <Scan *>context
    cdef npy_intp offset = start * task.n * task.inner * (sizeof(float) if task.kind == FLOAT else sizeof(double))
    cdef char *x = task.x + offset
    cdef char *out = task.out + offset
    if task.kind == FLOAT:
        scan[float](task.product, <float *>x, end - start, task.n, task.inner, <float *>out)
    elif task.kind == DOUBLE:
        scan[double](task.product, <double *>x, end - start, task.n, task.inner, <double *>out)
    else:
        scan[int64_t](task.product, <int64_t *>x, end - start, task.n, task.inner, <int64_t *>out)
    return 0


cdef int run_scan(Operator op, IValue *r, const int32_t *at, bint product) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef Axis axis
    cdef int kind
    cdef object result
    cdef Scan task
    cdef ReleasedGil gil_state
    if a == NULL:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if kind not in (FLOAT, DOUBLE, INT64) or size_of(a) == 0 or not same_dtype(&r[at[2]], kind):
        return UNSUPPORTED
    if read_axis(a, r[at[1]].v.i, &axis) < 0:
        return UNSUPPORTED
    result = new_like(a, kind)
    task.product, task.kind, task.x, task.n, task.inner = product, kind, data_of(a), axis.n, axis.inner
    task.out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    parallel_ranges(scan_range, &task, axis.outer, axis.n * axis.inner * SCAN_COST)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int cumsum(Operator op, IValue *r, const int32_t *at) except -1:
    return run_scan(op, r, at, False)


cdef int cumprod(Operator op, IValue *r, const int32_t *at) except -1:
    return run_scan(op, r, at, True)


register_kernel("aten::cumsum", cumsum, FLOAT32_CONTIGUOUS)
register_kernel("aten::cumprod", cumprod, FLOAT32_CONTIGUOUS)
