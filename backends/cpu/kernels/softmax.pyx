"""softmax, log_softmax and logsumexp (log-sum-exp) of contiguous CPU tensors.

Input: interpreter registers with a floating tensor and a dimension. Output: the register of the result. For
other arguments, the operator's Python kernel runs. Examples:

    softmax(x, -1)         row by row: exp(x - max) / sum
    log_softmax(x, 0)      all columns in parallel, which are read row after row
    logsumexp(x, [1])
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.math cimport isinf, log
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.value.container cimport List, list_item
from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.parallel_for cimport parallel_ranges
from ts.backends.cpu.kernels.kernel_registry cimport FLOAT32_CONTIGUOUS, EpilogueArgs, register_epilogue, register_kernel
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts.backends.cpu.kernels.gil cimport EXPENSIVE_ELEMENT_COST, ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport (
    MAX_DIMS, Axis, contiguous_array_or_null, is_tensor, new_contiguous, set_result, read_axis, same_dtype, scalar_type
)
from ts.backends.cpu.kernels.elementwise cimport Loop, Loops
from ts.backends.cpu.kernels.reduce cimport BLOCK, LANES, block_sum, floating
from ts.backends.cpu.kernels.row_loops cimport RowLoops, rows_at_once
from ts.backends.cpu.kernels.vector_math cimport row_loops_here

from ts.backends.cpu.kernels.elementwise import ufunc_loops

cnp.import_array()

cdef const RowLoops *LOOPS = row_loops_here()
cdef double SOFTMAX_COST = 4           # time per element in units of 0.5 ns

cdef extern from "simd.h" nogil:
    void simd_maximum(float *peak, const float *x, npy_intp n)
    void simd_multiply(float *x, npy_intp n, const float *by)
    void simd_subtract(const float *x, npy_intp n, const float *by, float *out)

cdef enum:
    TILE = 2048                        # number of elements of a tile
    MAX_ROWS_AT_ONCE = 32              # upper bound of the result of `rows_at_once`


ctypedef struct Bound:                 # an inner loop and its `data` argument
    Loop function
    void *data

# Ufunc loops, at index 0 for float32 and 1 for float64.
cdef Bound _exp[2]
cdef Bound _log[2]
cdef Bound _maximum[2]
cdef Bound _add[2]
cdef Bound _subtract[2]
cdef Bound _divide[2]


cdef int find_float_and_double_loops(str name, Bound *pair) except -1:
    cdef Loops loops = ufunc_loops(name)
    pair[0].function, pair[1].function = loops.function[FLOAT], loops.function[DOUBLE]
    pair[0].data, pair[1].data = loops.data[FLOAT], loops.data[DOUBLE]
    return 0


cdef inline void run_bound_loop(Bound *loops, char **args, npy_intp n, const npy_intp *strides, floating kind) noexcept nogil:
    cdef Bound *chosen = &loops[0 if floating is float else 1]
    chosen.function(args, &n, strides, chosen.data)


find_float_and_double_loops("exp", _exp)
find_float_and_double_loops("log", _log)
find_float_and_double_loops("maximum", _maximum)
find_float_and_double_loops("add", _add)
find_float_and_double_loops("subtract", _subtract)
find_float_and_double_loops("divide", _divide)


# ---------------------------------------------------------------- rows of elements

cdef inline void apply_binary(Bound *loops, floating *x, floating *y, npy_intp y_stride, floating *out, npy_intp n) noexcept nogil:
    """Compute out[i] = x[i] op y[i * y_stride]."""
    cdef char *args[3]
    cdef npy_intp strides[3]
    args[0], args[1], args[2] = <char *>x, <char *>y, <char *>out
    strides[0] = strides[2] = sizeof(floating)
    strides[1] = y_stride * <npy_intp>sizeof(floating)
    run_bound_loop[floating](loops, args, n, strides, 0)


cdef inline void apply_unary(Bound *loops, floating *x, floating *out, npy_intp n) noexcept nogil:
    cdef char *args[2]
    cdef npy_intp strides[2]
    args[0], args[1] = <char *>x, <char *>out
    strides[0] = strides[1] = sizeof(floating)
    run_bound_loop[floating](loops, args, n, strides, 0)


cdef inline floating row_max(floating *x, npy_intp n) noexcept nogil:
    cdef char *args[3]
    cdef npy_intp strides[3]
    cdef floating peak = x[0]
    cdef npy_intp i
    if n < LANES:
        for i in range(1, n):
            if x[i] > peak or x[i] != x[i]:
                peak = x[i]
        return peak
    n -= 1
    args[0] = args[2] = <char *>&peak
    args[1] = <char *>(x + 1)
    strides[0] = strides[2] = 0
    strides[1] = sizeof(floating)
    run_bound_loop[floating](&_maximum[0], args, n, strides, 0)
    return peak


cdef inline double row_sum(const floating *x, npy_intp n) noexcept nogil:
    if floating is float:
        return LOOPS.sum(x, n)
    cdef double total = 0
    while n > BLOCK:
        total = block_sum(x, BLOCK, total)
        x += BLOCK
        n -= BLOCK
    return block_sum(x, n, total)


# ---------------------------------------------------------------- along the last dimension

cdef enum SoftmaxKind:
    SOFTMAX
    LOG_SOFTMAX
    LOG_SUM_EXP


cdef double infinite_max_or_nan(const float *x, npy_intp n, double peak) noexcept nogil:
    """Return NaN if the row `x` has a NaN, else `peak`. The caller passes the row's infinite maximum as `peak`."""
    cdef npy_intp i
    for i in range(n):
        if x[i] != x[i]:
            return x[i]
    return peak


cdef void softmax_last_dim_f32(SoftmaxKind what, const float *x, npy_intp rows, npy_intp n, float *out) noexcept nogil:
    cdef npy_intp i
    cdef float peak
    cdef float peaks[MAX_ROWS_AT_ONCE]
    cdef float totals[MAX_ROWS_AT_ONCE]
    if what == SOFTMAX:
        LOOPS.softmax(x, rows, n, out)
    elif what == LOG_SOFTMAX:
        while rows > 0:
            i = rows_at_once(rows, n)
            LOOPS.max_and_sum_of_exp(x, i, n, peaks, totals)
            apply_unary(_log, totals, totals, i)
            LOOPS.subtract_max_and_log(x, i, n, peaks, totals, out)
            x += i * n
            out += i * n
            rows -= i
    else:
        for i in range(rows):
            peak = LOOPS.max(x, n)
            out[i] = <float>infinite_max_or_nan(x, n, peak) if isinf(peak) else <float>(log(LOOPS.sum_of_exp(x, n, peak)) + peak)
            x += n


cdef void softmax_last_dim(SoftmaxKind what, floating *x, npy_intp rows, npy_intp n, floating *out, floating *scratch) noexcept nogil:
    """Compute the function `what` (softmax, log_softmax or logsumexp) of each row of `n` elements.

    `scratch` is a buffer of one tile. For softmax, `scratch` is unused, because `out` serves as the buffer.
    """
    cdef npy_intp tile = max(<npy_intp>1, TILE // n), count, i, j
    cdef floating *exponentials
    cdef floating *shifted_rows
    cdef floating peaks[TILE]
    cdef floating value
    cdef double total
    cdef Bound *normalize_loops = &_divide[0] if what == SOFTMAX else &_subtract[0]
    while rows > 0:
        count = min(tile, rows)
        shifted_rows = scratch if what == LOG_SUM_EXP else out
        exponentials = out if what == SOFTMAX else scratch
        for i in range(count):
            value = row_max(x + i * n, n)
            peaks[i] = value
            if what == LOG_SUM_EXP and (value - value) != 0 and value == value:
                # The maximum is infinite, so subtracting it would give NaN. Without the subtraction, the sum
                # of the exponentials is correct: infinite or 0.
                value = peaks[i] = 0
            if n < LANES:
                for j in range(n):
                    shifted_rows[i * n + j] = x[i * n + j] - value
            else:
                apply_binary(_subtract, x + i * n, &value, 0, shifted_rows + i * n, n)
        apply_unary(_exp, shifted_rows, exponentials, count * n)
        for i in range(count):
            total = row_sum(exponentials + i * n, n)
            if what == LOG_SUM_EXP:
                out[i] = <floating>(log(total) + peaks[i])
                continue
            value = <floating>(total if what == SOFTMAX else log(total))
            if n < LANES:
                if what == SOFTMAX:
                    for j in range(n):
                        out[i * n + j] /= value
                else:
                    for j in range(n):
                        out[i * n + j] -= value
            else:
                apply_binary(normalize_loops, out + i * n, &value, 0, out + i * n, n)
        x += count * n
        out += count if what == LOG_SUM_EXP else count * n
        rows -= count


# ---------------------------------------------------------------- along another dimension

cdef void softmax_outer_dim_f32(SoftmaxKind what, const float *x, npy_intp n, npy_intp inner, float *out, float *scratch) noexcept nogil:
    """Compute softmax or log_softmax of an (n, inner) float32 matrix along its first dimension."""
    cdef float *peak = scratch
    cdef float *total = scratch + inner
    cdef float *exponentials = scratch + 2 * inner
    cdef npy_intp i, j
    memcpy(peak, x, inner * sizeof(float))
    for i in range(1, n):
        simd_maximum(peak, x + i * inner, inner)
    for j in range(inner):
        total[j] = 0
    for i in range(n):
        LOOPS.exp_and_add(x + i * inner, inner, peak, out + i * inner if what == SOFTMAX else exponentials, total)
    if what == SOFTMAX:
        for j in range(inner):
            total[j] = 1 / total[j]
        for i in range(n):
            simd_multiply(out + i * inner, inner, total)
        return
    apply_unary(_log, total, total, inner)
    for i in range(n):
        simd_subtract(x + i * inner, inner, peak, out + i * inner)
        simd_subtract(out + i * inner, inner, total, out + i * inner)


cdef void softmax_outer_dim(SoftmaxKind what, floating *x, npy_intp n, npy_intp inner, floating *out, floating *scratch) noexcept nogil:
    """Compute the function `what` of an (n, inner) matrix along its first dimension.

    `scratch` is a buffer for three rows.
    """
    cdef floating *peak = scratch
    cdef floating *total = scratch + inner
    cdef floating *exponentials = scratch + 2 * inner
    cdef npy_intp i, j
    cdef Bound *normalize_loops = &_divide[0] if what == SOFTMAX else &_subtract[0]
    memcpy(peak, x, inner * sizeof(floating))
    for i in range(1, n):
        apply_binary(_maximum, peak, x + i * inner, 1, peak, inner)
    for j in range(inner):
        total[j] = 0
        if what == LOG_SUM_EXP and (peak[j] - peak[j]) != 0 and peak[j] == peak[j]:
            peak[j] = 0
    for i in range(n):
        if what == LOG_SUM_EXP:
            apply_binary(_subtract, x + i * inner, peak, 1, exponentials, inner)
            apply_unary(_exp, exponentials, exponentials, inner)
        else:
            apply_binary(_subtract, x + i * inner, peak, 1, out + i * inner, inner)
            if what == SOFTMAX:
                exponentials = out + i * inner
            apply_unary(_exp, out + i * inner, exponentials, inner)
        for j in range(inner):
            total[j] += exponentials[j]
    if what != SOFTMAX:
        apply_unary(_log, total, total, inner)
    if what == LOG_SUM_EXP:
        apply_binary(_add, total, peak, 1, out, inner)
        return
    for i in range(n):
        apply_binary(normalize_loops, out + i * inner, total, 1, out + i * inner, inner)


# ---------------------------------------------------------------- operators

cdef bint compute_softmax(SoftmaxKind what, floating *x, npy_intp outer, npy_intp n, npy_intp inner, floating *out) noexcept nogil:
    """Compute the function `what` of an array viewed as (outer, n, inner) along n. Return False if memory is
    exhausted.
    """
    cdef floating *scratch = NULL
    cdef npy_intp o, scratch_size = 3 * inner
    if floating is float:
        if inner == 1:
            softmax_last_dim_f32(what, x, outer, n, out)
            return True
    if inner == 1:
        scratch_size = 0 if what == SOFTMAX else max(<npy_intp>TILE, n)
    if scratch_size:
        scratch = <floating *>malloc_aligned(scratch_size * sizeof(floating))
        if scratch == NULL:
            return False
    if inner == 1:
        softmax_last_dim(what, x, outer, n, out, scratch)
    else:
        for o in range(outer):
            if floating is float:
                if what == LOG_SUM_EXP:
                    softmax_outer_dim(what, x, n, inner, out, scratch)
                else:
                    softmax_outer_dim_f32(what, x, n, inner, out, scratch)
            else:
                softmax_outer_dim(what, x, n, inner, out, scratch)
            x += n * inner
            out += inner if what == LOG_SUM_EXP else n * inner
    free(scratch)
    return True


cdef void softmax_rows(int kind, void *x, npy_intp rows, npy_intp n, void *out) noexcept nogil:
    if kind == FLOAT:
        compute_softmax[float](SOFTMAX, <float *>x, rows, n, 1, <float *>out)
    else:
        compute_softmax[double](SOFTMAX, <double *>x, rows, n, 1, <double *>out)


cdef bint compute_log_softmax(int kind, void *x, npy_intp outer, npy_intp n, npy_intp inner, void *out) noexcept nogil:
    if kind == FLOAT:
        return compute_softmax[float](LOG_SOFTMAX, <float *>x, outer, n, inner, <float *>out)
    return compute_softmax[double](LOG_SOFTMAX, <double *>x, outer, n, inner, <double *>out)


cdef struct Rows:
    SoftmaxKind what
    int kind
    char *x
    npy_intp n
    npy_intp inner
    char *out


cdef int run_rows(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Compute softmax, log_softmax or logsumexp (`rows.what`) for the outer indices [start, end)."""
    cdef Rows *rows = <Rows *>context
    cdef npy_intp size = sizeof(float) if rows.kind == FLOAT else sizeof(double)
    cdef char *x = rows.x + start * rows.n * rows.inner * size
    cdef char *out = rows.out + start * (1 if rows.what == LOG_SUM_EXP else rows.n) * rows.inner * size
    cdef bint done
    if rows.kind == FLOAT:
        done = compute_softmax[float](rows.what, <float *>x, end - start, rows.n, rows.inner, <float *>out)
    else:
        done = compute_softmax[double](rows.what, <double *>x, end - start, rows.n, rows.inner, <double *>out)
    return 0 if done else -1


cdef int run_softmax(Operator op, IValue *r, const int32_t *at, SoftmaxKind what, int64_t dim, bint keepdim) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef Axis axis
    cdef npy_intp dims[MAX_DIMS]
    cdef int i, nd = 0, kind
    cdef object result
    cdef Rows rows
    cdef ReleasedGil gil_state
    cdef int code
    if a == NULL:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    dim = read_axis(a, dim, &axis)
    if (kind != FLOAT and kind != DOUBLE) or dim < 0 or size_of(a) == 0:
        return UNSUPPORTED
    for i in range(ndim_of(a)):
        if i != dim or what != LOG_SUM_EXP or keepdim:
            dims[nd] = 1 if i == dim and what == LOG_SUM_EXP else dims_of(a)[i]
            nd += 1
    result = new_contiguous(nd, dims, kind)
    rows.what, rows.kind, rows.x, rows.n, rows.inner = what, kind, data_of(a), axis.n, axis.inner
    rows.out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(a) * EXPENSIVE_ELEMENT_COST, r, at, op.nargs)
    code = parallel_ranges(run_rows, &rows, axis.outer, axis.n * axis.inner * SOFTMAX_COST)
    take_gil(gil_state)
    if code:
        raise MemoryError()
    return set_result(&r[at[op.nargs]], result, kind)


cdef int softmax(Operator op, IValue *r, const int32_t *at) except -1:
    if is_tensor(&r[at[0]]) and not same_dtype(&r[at[2]], scalar_type(&r[at[0]])):
        return UNSUPPORTED
    return run_softmax(op, r, at, SOFTMAX, r[at[1]].v.i, True)


cdef int log_softmax(Operator op, IValue *r, const int32_t *at) except -1:
    if is_tensor(&r[at[0]]) and not same_dtype(&r[at[2]], scalar_type(&r[at[0]])):
        return UNSUPPORTED
    return run_softmax(op, r, at, LOG_SOFTMAX, r[at[1]].v.i, True)


cdef int log_sum_exp(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List dims
    if r[at[1]].tag != TAG_OBJECT or type(<object>r[at[1]].v.o) is not List:
        return UNSUPPORTED
    dims = <List>r[at[1]].v.o
    if dims.size != 1:
        return UNSUPPORTED
    return run_softmax(op, r, at, LOG_SUM_EXP, list_item(<PyObject *>dims, 0).v.i, r[at[2]].v.i)


# ---------------------------------------------------------------- epilogues of fusion groups

cdef void run_epilogue_f32(const void *args, const char *x, npy_intp rows, char *out) noexcept nogil:
    softmax_last_dim_f32(<SoftmaxKind>(<const EpilogueArgs *>args).what, <const float *>x, rows, (<const EpilogueArgs *>args).n, <float *>out)


cdef void run_epilogue_f64(const void *args, const char *x, npy_intp rows, char *out) noexcept nogil:
    softmax_last_dim[double](SOFTMAX, <double *>x, rows, (<const EpilogueArgs *>args).n, <double *>out, NULL)


cdef bint read_epilogue(SoftmaxKind what, int kind, int ndim, const npy_intp *dims, int64_t dim, IValue *dtype, EpilogueArgs *args) noexcept:
    cdef int d
    if ndim == 0 or (dim != -1 and dim != ndim - 1) or not same_dtype(dtype, kind):
        return False
    if kind != FLOAT and (kind != DOUBLE or what != SOFTMAX):
        return False
    args.function = run_epilogue_f32 if kind == FLOAT else run_epilogue_f64
    args.what, args.kind, args.n, args.row_results, args.ndim = what, kind, dims[ndim - 1], dims[ndim - 1], ndim
    for d in range(ndim):
        args.dims[d] = dims[d]
    return True


cdef bint read_softmax_epilogue(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_epilogue(SOFTMAX, kind, ndim, dims, others[0].v.i, others[1], args)


cdef bint read_log_softmax_epilogue(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_epilogue(LOG_SOFTMAX, kind, ndim, dims, others[0].v.i, others[1], args)


cdef bint read_log_sum_exp_epilogue(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    cdef IValue same
    cdef List listed = <List>others[0].v.o
    same.tag = TAG_NONE
    if listed.size != 1 or not read_epilogue(LOG_SUM_EXP, kind, ndim, dims, list_item(<PyObject *>listed, 0).v.i, &same, args):
        return False
    args.row_results = 1
    if others[1].v.i:
        args.dims[ndim - 1] = 1
    else:
        args.ndim = ndim - 1
    return True


register_epilogue("aten::softmax.int", read_softmax_epilogue)
register_epilogue("aten::special_softmax", read_softmax_epilogue)
register_epilogue("aten::log_softmax.int", read_log_softmax_epilogue)
register_epilogue("aten::special_log_softmax", read_log_softmax_epilogue)
register_epilogue("aten::logsumexp", read_log_sum_exp_epilogue)
register_epilogue("aten::special_logsumexp", read_log_sum_exp_epilogue)

register_kernel("aten::softmax.int", softmax, FLOAT32_CONTIGUOUS)
register_kernel("aten::special_softmax", softmax, FLOAT32_CONTIGUOUS)
register_kernel("aten::log_softmax.int", log_softmax, FLOAT32_CONTIGUOUS)
register_kernel("aten::special_log_softmax", log_softmax, FLOAT32_CONTIGUOUS)
register_kernel("aten::logsumexp", log_sum_exp, FLOAT32_CONTIGUOUS)
register_kernel("aten::special_logsumexp", log_sum_exp, FLOAT32_CONTIGUOUS)
