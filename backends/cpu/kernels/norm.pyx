"""Softmax, normalisation and running sums of CPU tensors whose elements lie in order.

In: registers with a floating tensor and a dimension, or the weights of a layer.  Out: the register of the result.

    softmax(x, -1), log_softmax, logsumexp         layer_norm, group_norm, batch_norm in evaluation
    cumsum, cumprod

The exponentials are NumPy's vectorised loops, over tiles of rows that stay in the first-level cache; sums are as
`ts.backends.cpu.kernels.reduce` makes them.  Moments are computed about the rounded mean and corrected, in double.
Everything else is left to the record's own kernel: other layouts and dtypes, no elements, wrong arguments.
"""

cimport numpy as cnp
from libc.math cimport isinf, log, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.value.container cimport List
from ts._core.dispatch.operator cimport Operator, run_record
from ts.backends.cpu.kernels.table cimport register_kernel
from ts._core.value.ivalue cimport IValue, TAG_INT, TAG_NONE, TAG_OBJECT
from ts.backends.cpu.kernels.kernel cimport (
    MOST_DIMS,
    PyThreadState,
    flat_array,
    is_tensor,
    leave_gil,
    new_flat,
    new_like,
    put_array,
    same_dtype,
    scalar_type,
    take_gil,
)
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT64, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts.backends.cpu.kernels.elementwise cimport Loop, Loops

from ts.backends.cpu.kernels.elementwise import ufunc_loops

cnp.import_array()

cdef extern from "lanes.h" nogil:
    float lanes_peak(const float *x, npy_intp n)
    double lanes_raise(const float *x, npy_intp n, float peak)
    void lanes_softmax(const float *x, npy_intp rows, npy_intp n, float *out)
    npy_intp rows_at_once(npy_intp rows, npy_intp n)
    void lanes_totals(const float *x, npy_intp rows, npy_intp n, float *peak, float *total)
    void lanes_lower(const float *x, npy_intp rows, npy_intp n, const float *first, const float *then, float *out)
    double lanes_sum(const float *x, npy_intp n)
    void lanes_raise_each(const float *x, npy_intp n, const float *peak, float *out, float *total)
    void lanes_higher(float *peak, const float *x, npy_intp n)
    void lanes_scale_each(float *x, npy_intp n, const float *by)
    void lanes_lower_each(const float *x, npy_intp n, const float *by, float *out)
    void lanes_normalise(const float *x, npy_intp n, float about, float scale, float shift, float *out)
    void lanes_moments(const float *x, npy_intp n, double eps, double *mean, double *scale)
    void lanes_layer_norm(
        const float *x, npy_intp rows, npy_intp n, const float *weight, const float *bias, double eps, float *out
    )

cdef enum:
    TILE = 2048                        # elements
    MOST_ROWS = 32                     # that `rows_at_once` gives
    LANES = 16
    BLOCK = 512
    COLUMNS = 256                      # whose running sums are on the stack


ctypedef fused floating:
    float
    double


# NumPy's loops, for float and double.
cdef Loop _exp[2]
cdef Loop _log[2]
cdef Loop _maximum[2]
cdef Loop _add[2]
cdef Loop _subtract[2]
cdef Loop _divide[2]


cdef int take_loops(str name, Loop *pair) except -1:
    cdef Loops loops = ufunc_loops(name)
    pair[0], pair[1] = loops.function[FLOAT], loops.function[DOUBLE]
    return 0


take_loops("exp", _exp)
take_loops("log", _log)
take_loops("maximum", _maximum)
take_loops("add", _add)
take_loops("subtract", _subtract)
take_loops("divide", _divide)


# ---------------------------------------------------------------- vectors

cdef inline void pairwise(Loop *loops, floating *x, floating *y, npy_intp y_step, floating *out, npy_intp n) noexcept nogil:
    """out[i] = x[i] op y[i * y_step]"""
    cdef char *args[3]
    cdef npy_intp steps[3]
    args[0], args[1], args[2] = <char *>x, <char *>y, <char *>out
    steps[0] = steps[2] = sizeof(floating)
    steps[1] = y_step * <npy_intp>sizeof(floating)
    loops[0 if floating is float else 1](args, &n, steps, NULL)


cdef inline void each(Loop *loops, floating *x, floating *out, npy_intp n) noexcept nogil:
    cdef char *args[2]
    cdef npy_intp steps[2]
    args[0], args[1] = <char *>x, <char *>out
    steps[0] = steps[1] = sizeof(floating)
    loops[0 if floating is float else 1](args, &n, steps, NULL)


cdef inline floating peak_of(floating *x, npy_intp n) noexcept nogil:
    cdef char *args[3]
    cdef npy_intp steps[3]
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
    steps[0] = steps[2] = 0
    steps[1] = sizeof(floating)
    _maximum[0 if floating is float else 1](args, &n, steps, NULL)
    return peak


cdef inline double sum_of(const floating *x, npy_intp n) noexcept nogil:
    if floating is float:
        return lanes_sum(x, n)
    cdef floating lane[LANES]
    cdef double total = 0
    cdef npy_intp i = 0, j, until
    while i + LANES <= n:
        until = min(n, i + BLOCK) - LANES
        for j in range(LANES):
            lane[j] = 0
        while i <= until:
            for j in range(LANES):
                lane[j] += x[i + j]
            i += LANES
        for j in range(LANES // 2):
            lane[j] += lane[j + LANES // 2]
        for j in range(LANES // 2):
            total += lane[j]
    while i < n:
        total += x[i]
        i += 1
    return total


cdef inline double squares_of(const double *x, npy_intp n, double mean, double *first) noexcept nogil:
    """The sum of (x - mean) ** 2, and in `first` that of x - mean."""
    cdef double lane[LANES]
    cdef double plain[LANES]
    cdef double off
    cdef double total = 0
    cdef npy_intp i = 0, j, until
    first[0] = 0
    while i + LANES <= n:
        until = min(n, i + BLOCK) - LANES
        for j in range(LANES):
            lane[j] = plain[j] = 0
        while i <= until:
            for j in range(LANES):
                off = x[i + j] - mean
                lane[j] += off * off
                plain[j] += off
            i += LANES
        for j in range(LANES):
            total += lane[j]
            first[0] += plain[j]
    while i < n:
        off = x[i] - mean
        total += off * off
        first[0] += off
        i += 1
    return total


# ---------------------------------------------------------------- softmax along the last dimension

cdef enum Kind:
    SOFTMAX
    LOG_SOFTMAX
    LOG_SUM_EXP


cdef double infinite_sum(const float *x, npy_intp n, double peak) noexcept nogil:
    """The infinite peak of a row, unless there is a NaN in it."""
    cdef npy_intp i
    for i in range(n):
        if x[i] != x[i]:
            return x[i]
    return peak


cdef void along_float_rows(Kind what, const float *x, npy_intp rows, npy_intp n, float *out) noexcept nogil:
    cdef npy_intp i
    cdef float peak
    cdef float peaks[MOST_ROWS]
    cdef float totals[MOST_ROWS]
    if what == SOFTMAX:
        lanes_softmax(x, rows, n, out)
    elif what == LOG_SOFTMAX:
        while rows > 0:
            i = rows_at_once(rows, n)
            lanes_totals(x, i, n, peaks, totals)
            each(_log, totals, totals, i)
            lanes_lower(x, i, n, peaks, totals, out)
            x += i * n
            out += i * n
            rows -= i
    else:
        for i in range(rows):
            peak = lanes_peak(x, n)
            out[i] = <float>infinite_sum(x, n, peak) if isinf(peak) else <float>(log(lanes_raise(x, n, peak)) + peak)
            x += n


cdef void along_rows(Kind what, floating *x, npy_intp rows, npy_intp n, floating *out, floating *scratch) noexcept nogil:
    """`scratch` holds as many elements as a tile, unless `out` serves for it."""
    cdef npy_intp tile = max(<npy_intp>1, TILE // n), count, i, j
    cdef floating *raised
    cdef floating *shifted
    cdef floating peaks[TILE]
    cdef floating value
    cdef double total
    cdef Loop *finish = &_divide[0] if what == SOFTMAX else &_subtract[0]
    while rows > 0:
        count = min(tile, rows)
        shifted = scratch if what == LOG_SUM_EXP else out
        raised = out if what == SOFTMAX else scratch
        for i in range(count):
            value = peak_of(x + i * n, n)
            peaks[i] = value
            if what == LOG_SUM_EXP and (value - value) != 0 and value == value:
                value = peaks[i] = 0  # infinite: the sum says it
            if n < LANES:
                for j in range(n):
                    shifted[i * n + j] = x[i * n + j] - value
            else:
                pairwise(_subtract, x + i * n, &value, 0, shifted + i * n, n)
        each(_exp, shifted, raised, count * n)
        for i in range(count):
            total = sum_of(raised + i * n, n)
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
                pairwise(finish, out + i * n, &value, 0, out + i * n, n)
        x += count * n
        out += count if what == LOG_SUM_EXP else count * n
        rows -= count


# ---------------------------------------------------------------- softmax along another dimension

cdef void across_float_rows(Kind what, const float *x, npy_intp n, npy_intp inner, float *out, float *scratch) noexcept nogil:
    """As `across_rows`, for softmax and its logarithm."""
    cdef float *peak = scratch
    cdef float *total = scratch + inner
    cdef float *raised = scratch + 2 * inner
    cdef npy_intp i, j
    memcpy(peak, x, inner * sizeof(float))
    for i in range(1, n):
        lanes_higher(peak, x + i * inner, inner)
    for j in range(inner):
        total[j] = 0
    for i in range(n):
        lanes_raise_each(x + i * inner, inner, peak, out + i * inner if what == SOFTMAX else raised, total)
    if what == SOFTMAX:
        for j in range(inner):
            total[j] = 1 / total[j]
        for i in range(n):
            lanes_scale_each(out + i * inner, inner, total)
        return
    each(_log, total, total, inner)
    for i in range(n):
        lanes_lower_each(x + i * inner, inner, peak, out + i * inner)
        lanes_lower_each(out + i * inner, inner, total, out + i * inner)


cdef void across_rows(Kind what, floating *x, npy_intp n, npy_intp inner, floating *out, floating *scratch) noexcept nogil:
    """One (n, inner) matrix; `scratch` holds three rows."""
    cdef floating *peak = scratch
    cdef floating *total = scratch + inner
    cdef floating *raised = scratch + 2 * inner
    cdef npy_intp i, j
    cdef Loop *finish = &_divide[0] if what == SOFTMAX else &_subtract[0]
    memcpy(peak, x, inner * sizeof(floating))
    for i in range(1, n):
        pairwise(_maximum, peak, x + i * inner, 1, peak, inner)
    for j in range(inner):
        total[j] = 0
        if what == LOG_SUM_EXP and (peak[j] - peak[j]) != 0 and peak[j] == peak[j]:
            peak[j] = 0
    for i in range(n):
        if what == LOG_SUM_EXP:
            pairwise(_subtract, x + i * inner, peak, 1, raised, inner)
            each(_exp, raised, raised, inner)
        else:
            pairwise(_subtract, x + i * inner, peak, 1, out + i * inner, inner)
            if what == SOFTMAX:
                raised = out + i * inner
            each(_exp, out + i * inner, raised, inner)
        for j in range(inner):
            total[j] += raised[j]
    if what != SOFTMAX:
        each(_log, total, total, inner)
    if what == LOG_SUM_EXP:
        pairwise(_add, total, peak, 1, out, inner)
        return
    for i in range(n):
        pairwise(finish, out + i * inner, total, 1, out + i * inner, inner)


# ---------------------------------------------------------------- the softmax operators

cdef bint softened(Kind what, floating *x, npy_intp outer, npy_intp n, npy_intp inner, floating *out) noexcept nogil:
    """False where there is no memory for scratch."""
    cdef floating *scratch = NULL
    cdef npy_intp o, need = 3 * inner
    if floating is float:
        if inner == 1:
            along_float_rows(what, x, outer, n, out)
            return True
    if inner == 1:
        need = 0 if what == SOFTMAX else max(<npy_intp>TILE, n)
    if need:
        scratch = <floating *>malloc(need * sizeof(floating))
        if scratch == NULL:
            return False
    if inner == 1:
        along_rows(what, x, outer, n, out, scratch)
    else:
        for o in range(outer):
            if floating is float:
                if what == LOG_SUM_EXP:
                    across_rows(what, x, n, inner, out, scratch)
                else:
                    across_float_rows(what, x, n, inner, out, scratch)
            else:
                across_rows(what, x, n, inner, out, scratch)
            x += n * inner
            out += inner if what == LOG_SUM_EXP else n * inner
    free(scratch)
    return True


cdef int run_soft(Operator op, IValue *r, const int32_t *at, Kind what, int64_t dim, bint keepdim) except -1:
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef npy_intp outer = 1, n, inner = 1
    cdef npy_intp dims[MOST_DIMS]
    cdef int i, nd, kind
    cdef object made
    cdef void *out
    cdef PyThreadState *state
    cdef bint done
    if a == NULL:
        return run_record(op, r, at)
    kind = scalar_type(&r[at[0]])
    nd = ndim_of(a)
    if dim < 0:
        dim += nd
    if (kind != FLOAT and kind != DOUBLE) or not 0 <= dim < nd or size_of(a) == 0:
        return run_record(op, r, at)
    n = dims_of(a)[dim]
    for i in range(<int>dim):
        outer *= dims_of(a)[i]
        dims[i] = dims_of(a)[i]
    for i in range(<int>dim + 1, nd):
        inner *= dims_of(a)[i]
        dims[i if keepdim else i - 1] = dims_of(a)[i]
    if what == LOG_SUM_EXP:
        dims[dim if keepdim else nd] = 1
        made = new_flat(nd if keepdim else nd - 1, dims, kind)
    else:
        made = new_like(a, kind)
    out = data_of(<PyArrayObject *>made)
    state = leave_gil(size_of(a))
    if kind == FLOAT:
        done = softened[float](what, <float *>data_of(a), outer, n, inner, <float *>out)
    else:
        done = softened[double](what, <double *>data_of(a), outer, n, inner, <double *>out)
    take_gil(state)
    if not done:
        raise MemoryError()
    return put_array(&r[at[op.nargs]], made, kind)


cdef int softmax(Operator op, IValue *r, const int32_t *at) except -1:
    if is_tensor(&r[at[0]]) and not same_dtype(&r[at[2]], scalar_type(&r[at[0]])):
        return run_record(op, r, at)
    return run_soft(op, r, at, SOFTMAX, r[at[1]].v.i, True)


cdef int log_softmax(Operator op, IValue *r, const int32_t *at) except -1:
    if is_tensor(&r[at[0]]) and not same_dtype(&r[at[2]], scalar_type(&r[at[0]])):
        return run_record(op, r, at)
    return run_soft(op, r, at, LOG_SOFTMAX, r[at[1]].v.i, True)


cdef int log_sum_exp(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List dims
    if r[at[1]].tag != TAG_OBJECT or type(<object>r[at[1]].v.o) is not List:
        return run_record(op, r, at)
    dims = <List>r[at[1]].v.o
    if dims.size != 1:
        return run_record(op, r, at)
    return run_soft(op, r, at, LOG_SUM_EXP, dims.items[0].v.i, r[at[2]].v.i)


# ---------------------------------------------------------------- normalisation

cdef void moments(const floating *x, npy_intp n, double eps, double *mean, double *scale) noexcept nogil:
    """The mean, and 1 / sqrt(variance + eps)."""
    cdef double about, first, squares
    if floating is float:
        lanes_moments(x, n, eps, mean, scale)
    else:
        about = sum_of(x, n) / n
        squares = squares_of(x, n, about, &first)
        mean[0] = about + first / n
        scale[0] = 1 / sqrt((squares - first * first / n) / n + eps)


cdef void normalise_rows(
    const floating *x, npy_intp rows, npy_intp n, const floating *weight, const floating *bias, double eps, floating *out
) noexcept nogil:
    cdef double mean, scale
    cdef npy_intp i, j
    if floating is float:
        lanes_layer_norm(x, rows, n, weight, bias, eps, out)
        return
    for i in range(rows):
        moments(x, n, eps, &mean, &scale)
        for j in range(n):
            out[j] = (x[j] - mean) * scale
        if weight != NULL:
            for j in range(n):
                out[j] *= weight[j]
        if bias != NULL:
            for j in range(n):
                out[j] += bias[j]
        x += n
        out += n


cdef void normalise_groups(
    const floating *x, npy_intp batch, npy_intp groups, npy_intp channels, npy_intp inner,
    const floating *weight, const floating *bias, double eps, floating *out,
) noexcept nogil:
    """Every group of `channels` channels of `inner` elements."""
    cdef double mean, factor, by
    cdef floating shift, scale
    cdef npy_intp i, c, j, at
    for i in range(batch * groups):
        moments(x, channels * inner, eps, &mean, &factor)
        for c in range(channels):
            at = (i % groups) * channels + c
            by = factor if weight == NULL else factor * weight[at]
            scale = <floating>by
            shift = <floating>((0 if bias == NULL else bias[at]) - mean * by)
            if floating is float:
                lanes_normalise(x, inner, 0, scale, shift, out)
            else:
                for j in range(inner):
                    out[j] = x[j] * scale + shift
            x += inner
            out += inner


cdef void scale_channels(
    const floating *x, npy_intp batch, npy_intp channels, npy_intp inner,
    const floating *weight, const floating *bias, const floating *mean, const floating *variance, double eps,
    floating *scratch, floating *out,
) noexcept nogil:
    """(x - mean) / sqrt(variance + eps) * weight + bias for each channel; `scratch` holds two rows of channels."""
    cdef floating *scale = scratch
    cdef floating *shift = scratch + channels
    cdef double by
    cdef npy_intp i, c, j
    for c in range(channels):
        by = 1 / sqrt(variance[c] + eps)
        if weight != NULL:
            by *= weight[c]
        scale[c] = <floating>by
        shift[c] = <floating>((0 if bias == NULL else bias[c]) - mean[c] * by)
    for i in range(batch):
        if inner == 1:
            for c in range(channels):
                out[c] = x[c] * scale[c] + shift[c]
            x += channels
            out += channels
            continue
        for c in range(channels):
            for j in range(inner):
                out[j] = x[j] * scale[c] + shift[c]
            x += inner
            out += inner


cdef bint vector(IValue *x, int kind, npy_intp n, void **data) noexcept:
    """An optional tensor of `n` elements of the dtype: its data, or NULL; false where it is something else."""
    cdef PyArrayObject *a
    data[0] = NULL
    if x.tag == TAG_NONE:
        return True
    a = flat_array(x)
    if a == NULL or scalar_type(x) != kind or size_of(a) != n:
        return False
    data[0] = data_of(a)
    return True


cdef int layer_norm(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef List shape = <List>r[at[1]].v.o
    cdef void *weight
    cdef void *bias
    cdef void *out
    cdef npy_intp n = 1
    cdef int i, d, nd, kind
    cdef object made
    cdef PyThreadState *state
    if a == NULL or type(shape) is not List or not 0 < shape.size <= ndim_of(a) or size_of(a) == 0:
        return run_record(op, r, at)
    nd = ndim_of(a)
    kind = scalar_type(&r[at[0]])
    for i in range(<int>shape.size):
        if shape.items[i].v.i != dims_of(a)[nd - <int>shape.size + i]:
            return run_record(op, r, at)
        n *= shape.items[i].v.i
    for i in range(2, 4):  # a weight has the very shape
        if r[at[i]].tag == TAG_NONE:
            continue
        if flat_array(&r[at[i]]) == NULL or ndim_of(flat_array(&r[at[i]])) != shape.size:
            return run_record(op, r, at)
        for d in range(<int>shape.size):
            if dims_of(flat_array(&r[at[i]]))[d] != shape.items[d].v.i:
                return run_record(op, r, at)
    if (kind != FLOAT and kind != DOUBLE) or not vector(&r[at[2]], kind, n, &weight):
        return run_record(op, r, at)
    if not vector(&r[at[3]], kind, n, &bias):
        return run_record(op, r, at)
    made = new_like(a, kind)
    out = data_of(<PyArrayObject *>made)
    state = leave_gil(size_of(a))
    if kind == FLOAT:
        normalise_rows[float](
            <float *>data_of(a), size_of(a) // n, n, <float *>weight, <float *>bias, r[at[4]].v.f, <float *>out
        )
    else:
        normalise_rows[double](
            <double *>data_of(a), size_of(a) // n, n, <double *>weight, <double *>bias, r[at[4]].v.f, <double *>out
        )
    take_gil(state)
    return put_array(&r[at[op.nargs]], made, kind)


cdef int group_norm(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef int64_t groups = r[at[1]].v.i
    cdef void *weight
    cdef void *bias
    cdef void *out
    cdef npy_intp channels, inner
    cdef int kind
    cdef object made
    cdef PyThreadState *state
    if a == NULL or ndim_of(a) < 2 or size_of(a) == 0 or groups <= 0 or dims_of(a)[1] % groups:
        return run_record(op, r, at)
    kind = scalar_type(&r[at[0]])
    channels = dims_of(a)[1]
    if (kind != FLOAT and kind != DOUBLE) or not vector(&r[at[2]], kind, channels, &weight):
        return run_record(op, r, at)
    if not vector(&r[at[3]], kind, channels, &bias):
        return run_record(op, r, at)
    inner = size_of(a) // (dims_of(a)[0] * channels)
    made = new_like(a, kind)
    out = data_of(<PyArrayObject *>made)
    state = leave_gil(size_of(a))
    if kind == FLOAT:
        normalise_groups[float](
            <float *>data_of(a), dims_of(a)[0], groups, channels // groups, inner, <float *>weight, <float *>bias,
            r[at[4]].v.f, <float *>out,
        )
    else:
        normalise_groups[double](
            <double *>data_of(a), dims_of(a)[0], groups, channels // groups, inner, <double *>weight, <double *>bias,
            r[at[4]].v.f, <double *>out,
        )
    take_gil(state)
    return put_array(&r[at[op.nargs]], made, kind)


cdef int batch_norm(Operator op, IValue *r, const int32_t *at) except -1:
    """In evaluation: by the running moments."""
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef void *parts[4]                # weight, bias, mean, variance
    cdef void *out
    cdef void *scratch
    cdef npy_intp channels, inner
    cdef int kind, i
    cdef object made
    cdef PyThreadState *state
    if a == NULL or ndim_of(a) < 2 or size_of(a) == 0 or r[at[5]].v.i or r[at[3]].tag == TAG_NONE or r[at[4]].tag == TAG_NONE:
        return run_record(op, r, at)
    kind = scalar_type(&r[at[0]])
    channels = dims_of(a)[1]
    if kind != FLOAT and kind != DOUBLE:
        return run_record(op, r, at)
    for i in range(4):
        if not vector(&r[at[i + 1]], kind, channels, &parts[i]):
            return run_record(op, r, at)
    inner = size_of(a) // (dims_of(a)[0] * channels)
    made = new_like(a, kind)
    out = data_of(<PyArrayObject *>made)
    scratch = malloc(2 * channels * sizeof(double))
    if scratch == NULL:
        raise MemoryError()
    state = leave_gil(size_of(a))
    if kind == FLOAT:
        scale_channels[float](
            <float *>data_of(a), dims_of(a)[0], channels, inner, <float *>parts[0], <float *>parts[1], <float *>parts[2],
            <float *>parts[3], r[at[7]].v.f, <float *>scratch, <float *>out,
        )
    else:
        scale_channels[double](
            <double *>data_of(a), dims_of(a)[0], channels, inner, <double *>parts[0], <double *>parts[1],
            <double *>parts[2], <double *>parts[3], r[at[7]].v.f, <double *>scratch, <double *>out,
        )
    take_gil(state)
    free(scratch)
    return put_array(&r[at[op.nargs]], made, kind)


# ---------------------------------------------------------------- running sums and products

ctypedef fused scanned:
    float
    double
    int64_t


cdef void scan_columns(
    bint product, const scanned *x, npy_intp n, npy_intp step, npy_intp width, scanned *out
) noexcept nogil:
    """`width` columns, `step` elements apart."""
    cdef double total[COLUMNS]
    cdef int64_t whole[COLUMNS]
    cdef npy_intp i, j
    for j in range(width):
        total[j] = whole[j] = 1 if product else 0
    for i in range(n):
        if scanned is int64_t:
            for j in range(width):
                whole[j] = whole[j] * x[j] if product else whole[j] + x[j]
                out[j] = whole[j]
        elif product:
            for j in range(width):
                total[j] *= x[j]
                out[j] = <scanned>total[j]
        else:
            for j in range(width):
                total[j] += x[j]
                out[j] = <scanned>total[j]
        x += step
        out += step


cdef void scan(bint product, const scanned *x, npy_intp outer, npy_intp n, npy_intp inner, scanned *out) noexcept nogil:
    cdef npy_intp o, i, c
    cdef int64_t whole
    cdef double total, two, three, four
    for o in range(outer):
        if inner > 1:
            c = 0
            while c < inner:
                scan_columns(product, x + c, n, inner, min(<npy_intp>COLUMNS, inner - c), out + c)
                c += COLUMNS
        elif scanned is int64_t:
            whole = x[0]
            out[0] = whole
            for i in range(1, n):
                whole = whole * x[i] if product else whole + x[i]
                out[i] = whole
        else:
            total = 1 if product else 0
            i = 0
            if scanned is float:
                # Four steps a round in double: the sums of a round wait for the last one's only once.
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


cdef int run_scan(Operator op, IValue *r, const int32_t *at, bint product) except -1:
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef npy_intp outer = 1, n, inner = 1
    cdef int64_t dim = r[at[1]].v.i
    cdef int i, nd, kind
    cdef object made
    cdef void *out
    cdef PyThreadState *state
    if a == NULL:
        return run_record(op, r, at)
    kind = scalar_type(&r[at[0]])
    nd = ndim_of(a)
    if dim < 0:
        dim += nd
    if kind not in (FLOAT, DOUBLE, INT64) or not 0 <= dim < nd or size_of(a) == 0 or not same_dtype(&r[at[2]], kind):
        return run_record(op, r, at)
    n = dims_of(a)[dim]
    for i in range(<int>dim):
        outer *= dims_of(a)[i]
    for i in range(<int>dim + 1, nd):
        inner *= dims_of(a)[i]
    made = new_like(a, kind)
    out = data_of(<PyArrayObject *>made)
    state = leave_gil(size_of(a))
    if kind == FLOAT:
        scan[float](product, <float *>data_of(a), outer, n, inner, <float *>out)
    elif kind == DOUBLE:
        scan[double](product, <double *>data_of(a), outer, n, inner, <double *>out)
    else:
        scan[int64_t](product, <int64_t *>data_of(a), outer, n, inner, <int64_t *>out)
    take_gil(state)
    return put_array(&r[at[op.nargs]], made, kind)


cdef int cumsum(Operator op, IValue *r, const int32_t *at) except -1:
    return run_scan(op, r, at, False)


cdef int cumprod(Operator op, IValue *r, const int32_t *at) except -1:
    return run_scan(op, r, at, True)


register_kernel("aten::softmax.int", softmax)
register_kernel("aten::special_softmax", softmax)
register_kernel("aten::log_softmax.int", log_softmax)
register_kernel("aten::special_log_softmax", log_softmax)
register_kernel("aten::logsumexp", log_sum_exp)
register_kernel("aten::special_logsumexp", log_sum_exp)
register_kernel("aten::layer_norm", layer_norm)
register_kernel("aten::group_norm", group_norm)
register_kernel("aten::batch_norm", batch_norm)
register_kernel("aten::cumsum", cumsum)
register_kernel("aten::cumprod", cumprod)
