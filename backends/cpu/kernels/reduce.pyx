"""Reductions of CPU tensors whose elements lie in order: sums, means, moments, extremes, truth, places of extremes.

In: registers with a tensor, the dimensions to reduce, keepdim.  Out: the register of the result.

    x.sum(), x.sum([1, 2])     neighbouring dimensions are one: (outer, n, inner) -> (outer, inner)
    x.max(1)                   the values and where they stand

Floating sums: sixteen (float) or eight (double) running sums over `BLOCK` elements, whose total is added in double.
Rows that are reduced across (inner > 1) are added to a row of running sums, which is added in double every `BLOCK` rows.
So results do not depend on how often or where something runs, and are at least as exact as PyTorch's.
Everything else is left to the record's own kernel: other layouts and dtypes, no elements, wrong arguments.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport sqrt
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from libc.string cimport memchr, memcmp, memcpy
from numpy cimport npy_intp

from ts._core.value.container cimport List
from ts._core.dispatch.operator cimport Operator, run_record
from ts.backends.cpu.kernels.table cimport register_kernel
from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_NONE, TAG_OBJECT
from ts.backends.cpu.kernels.kernel cimport (
    MOST_DIMS,
    PyThreadState,
    flat_array,
    leave_gil,
    new_flat,
    put_array,
    same_dtype,
    scalar_type,
    take_gil,
)
from ts._core.tensor.ndarray cimport (
    BOOL,
    DOUBLE,
    FLOAT,
    INT8,
    INT16,
    INT32,
    INT64,
    PyArrayObject,
    UINT8,
    data_of,
    dims_of,
    ndim_of,
    size_of,
)
from ts.backends.cpu.kernels.elementwise cimport Loop, Loops

from ts.backends.cpu.kernels.elementwise import ufunc_loops

cnp.import_array()

cdef extern from *:
    """
    /* The place of the first extreme element, by NumPy's own vectorised search. */
    static int extreme_place(int largest, PyArrayObject *a, void *data, npy_intp n, npy_intp *place) {
        PyArray_ArrFuncs *f = PyDataType_GetArrFuncs(PyArray_DESCR(a));
        return largest ? f->argmax(data, n, place, a) : f->argmin(data, n, place, a);
    }
    """
    int extreme_place(bint largest, PyArrayObject *a, void *data, npy_intp n, npy_intp *place) noexcept nogil

cdef extern from "lanes.h" nogil:
    double lanes_sum(const float *x, npy_intp n)
    double lanes_squares(const float *x, npy_intp n, float about, double *first)
    int64_t sum_whole(const int64_t *x, npy_intp n)

cdef enum:
    BLOCK = 512                        # elements, or rows, between additions in double
    LANES = 16
    TILE = 256                         # columns whose running sums are on the stack


cdef enum Fold:
    SUM
    MEAN
    PRODUCT
    COUNT
    NORM
    VARIANCE
    DEVIATION
    LARGEST
    SMALLEST
    ANY
    ALL


ctypedef fused floating:
    float
    double

ctypedef fused whole:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t

ctypedef fused counted:
    float
    double
    int32_t
    int64_t
    uint8_t


# ---------------------------------------------------------------- what is reduced

ctypedef struct Shape:
    npy_intp outer
    npy_intp n
    npy_intp inner
    int nd                             # of the result
    npy_intp dims[MOST_DIMS]


cdef bint mark(IValue *dim, int nd, bint *marked) noexcept:
    """Mark one dimension; false where it is none, or marked already."""
    cdef int64_t d = dim.v.i
    if d < 0:
        d += nd
    if not 0 <= d < nd or marked[d]:
        return False
    marked[d] = True
    return True


cdef bint read_shape(PyArrayObject *a, IValue *dims, bint keepdim, Shape *s) noexcept:
    """The array as (outer, n, inner); false where reduced dimensions are not neighbours, or an argument is wrong."""
    cdef bint marked[MOST_DIMS]
    cdef List listed
    cdef int i, nd = ndim_of(a), stage = 0
    cdef bint everything = dims.tag == TAG_NONE
    s.outer = s.n = s.inner = 1
    s.nd = 0
    for i in range(nd):
        marked[i] = False
    if dims.tag == TAG_OBJECT:
        if type(<object>dims.v.o) is not List:
            return False
        listed = <List>dims.v.o
        everything = listed.size == 0
        for i in range(<int>listed.size):
            if not mark(&listed.items[i], nd, marked):
                return False
    elif dims.tag == TAG_INT:
        if not mark(dims, nd, marked):
            return False
    for i in range(nd):
        if everything or marked[i]:
            if stage == 2 and dims_of(a)[i] != 1:
                return False
            if stage < 2:
                stage = 1
            s.n *= dims_of(a)[i]
            if keepdim:
                s.dims[s.nd] = 1
                s.nd += 1
            continue
        s.dims[s.nd] = dims_of(a)[i]
        s.nd += 1
        if dims_of(a)[i] == 1:
            continue
        if stage == 0:
            s.outer *= dims_of(a)[i]
        else:
            stage = 2
            s.inner *= dims_of(a)[i]
    return size_of(a) > 0


# ---------------------------------------------------------------- rows of floating numbers

cdef inline double block_sum(const floating *x, npy_intp n) noexcept nogil:
    cdef floating lane[LANES]
    cdef double total = 0
    cdef npy_intp i, j
    if n < LANES:
        for i in range(n):
            total += x[i]
        return total
    for j in range(LANES):
        lane[j] = x[j]
    i = LANES
    while i + LANES <= n:
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


cdef inline double block_squares(const double *x, npy_intp n, double mean, double *first) noexcept nogil:
    cdef double lane[LANES]
    cdef double plain[LANES]
    cdef double off
    cdef double total = 0
    cdef npy_intp i = 0, j
    for j in range(LANES):
        lane[j] = plain[j] = 0
    while i + LANES <= n:
        for j in range(LANES):
            off = x[i + j] - mean
            lane[j] += off * off
            plain[j] += off
        i += LANES
    if n >= LANES:
        for j in range(LANES):
            total += lane[j]
            first[0] += plain[j]
    while i < n:
        off = x[i] - mean
        total += off * off
        first[0] += off
        i += 1
    return total


cdef double row_sum(const floating *x, npy_intp n) noexcept nogil:
    cdef double total = 0
    while n > BLOCK:
        total += block_sum(x, BLOCK)
        x += BLOCK
        n -= BLOCK
    return total + block_sum(x, n)


cdef double row_squares(const floating *x, npy_intp n, double mean) noexcept nogil:
    """The sum of (x - mean) ** 2; what the mean lacks by rounding is made good for."""
    cdef double total = 0, first = 0
    cdef npy_intp count = n
    if floating is float:
        total = lanes_squares(x, n, <float>mean, &first)
    else:
        while n > BLOCK:
            total += block_squares(x, BLOCK, mean, &first)
            x += BLOCK
            n -= BLOCK
        total += block_squares(x, n, mean, &first)
    return total if mean == 0 else total - first * first / count


cdef double row_product(const floating *x, npy_intp n) noexcept nogil:
    cdef floating lane[LANES]
    cdef floating total = 1
    cdef npy_intp i = 0, j
    for j in range(LANES):
        lane[j] = 1
    while i + LANES <= n:
        for j in range(LANES):
            lane[j] *= x[i + j]
        i += LANES
    for j in range(LANES):
        total *= lane[j]
    while i < n:
        total *= x[i]
        i += 1
    return total


cdef double row_fold(Fold fold, const floating *x, npy_intp n, double correction) noexcept nogil:
    cdef double count = <double>n, left
    if fold == SUM:
        return row_sum(x, n)
    if fold == MEAN:
        return row_sum(x, n) / count
    if fold == NORM:
        return sqrt(row_squares(x, n, 0))
    if fold == PRODUCT:
        return row_product(x, n)
    left = count - correction
    left = row_squares(x, n, row_sum(x, n) / count) / (left if left > 0 else 0)
    return sqrt(left) if fold == DEVIATION else left


# ---------------------------------------------------------------- across rows

cdef void column_sums(const floating *x, npy_intp n, npy_intp step, npy_intp width, double *total) noexcept nogil:
    """The sums of `width` <= TILE columns, `step` elements apart."""
    cdef floating part[TILE]
    cdef npy_intp i = 0, j, until
    for j in range(width):
        total[j] = 0
    while i < n:
        until = min(n, i + BLOCK // 8)
        for j in range(width):
            part[j] = 0
        while i < until:
            for j in range(width):
                part[j] += x[i * step + j]
            i += 1
        for j in range(width):
            total[j] += part[j]


cdef void column_squares(
    const floating *x, npy_intp n, npy_intp step, npy_intp width, const floating *mean, bint about_mean, double *total
) noexcept nogil:
    cdef floating part[TILE]
    cdef floating first[TILE]
    cdef floating off
    cdef npy_intp i = 0, j, until
    for j in range(width):
        total[j] = 0
        first[j] = 0
    while i < n:
        until = min(n, i + BLOCK // 8)
        for j in range(width):
            part[j] = 0
        while i < until:
            for j in range(width):
                off = x[i * step + j] - mean[j]
                part[j] += off * off
                first[j] += off
            i += 1
        for j in range(width):
            total[j] += part[j]
    if about_mean:
        for j in range(width):
            total[j] -= <double>first[j] * first[j] / n


cdef void column_fold(
    Fold fold, const floating *x, npy_intp n, npy_intp step, npy_intp width, double correction, floating *out
) noexcept nogil:
    """One of the sums, for `width` columns."""
    cdef double total[TILE]
    cdef floating mean[TILE]
    cdef npy_intp i, j
    cdef double left = <double>n - correction
    if fold == PRODUCT:
        for j in range(width):
            out[j] = x[j]
        for i in range(1, n):
            for j in range(width):
                out[j] *= x[i * step + j]
        return
    if fold == NORM:
        for j in range(width):
            mean[j] = 0
        column_squares(x, n, step, width, mean, False, total)
        for j in range(width):
            out[j] = <floating>sqrt(total[j])
        return
    column_sums(x, n, step, width, total)
    if fold == SUM:
        for j in range(width):
            out[j] = <floating>total[j]
        return
    for j in range(width):
        mean[j] = <floating>(total[j] / n)
    if fold == MEAN:
        for j in range(width):
            out[j] = mean[j]
        return
    column_squares(x, n, step, width, mean, True, total)
    left = left if left > 0 else 0
    for j in range(width):
        out[j] = <floating>(sqrt(total[j] / left) if fold == DEVIATION else total[j] / left)


cdef void fold_floating(Fold fold, const floating *x, Shape *s, double correction, floating *out) noexcept nogil:
    cdef npy_intp o, c
    for o in range(s.outer):
        if s.inner == 1:
            out[o] = <floating>row_fold(fold, x + o * s.n, s.n, correction)
            continue
        c = 0
        while c < s.inner:
            column_fold(
                fold, x + o * s.n * s.inner + c, s.n, s.inner, min(<npy_intp>TILE, s.inner - c), correction,
                out + o * s.inner + c,
            )
            c += TILE


# ---------------------------------------------------------------- integers, counts, truth

cdef void fold_whole(Fold fold, const whole *x, Shape *s, int64_t *out) noexcept nogil:
    cdef npy_intp o, i, j
    cdef int64_t total
    for o in range(s.outer):
        if s.inner == 1:
            total = 0 if fold == SUM else 1
            if fold == SUM:
                if whole is int64_t:
                    total = sum_whole(x, s.n)
                else:
                    for i in range(s.n):
                        total += x[i]
            else:
                for i in range(s.n):
                    total *= x[i]
            out[o] = total
        else:
            for j in range(s.inner):
                out[o * s.inner + j] = x[j]
            for i in range(1, s.n):
                if fold == SUM:
                    for j in range(s.inner):
                        out[o * s.inner + j] += x[i * s.inner + j]
                else:
                    for j in range(s.inner):
                        out[o * s.inner + j] *= x[i * s.inner + j]
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


cdef void truth(bint wanted, const counted *x, Shape *s, uint8_t *out) noexcept nogil:
    """Whether an element is not 0 (`wanted` True), or is 0; out is that for any, and its opposite for all."""
    cdef npy_intp o, i, j
    cdef bint found
    for o in range(s.outer):
        if s.inner == 1:
            if counted is uint8_t:
                # Any: the first is true, or they are not all alike.
                found = x[0] != 0 or memcmp(x, x + 1, s.n - 1) != 0 if wanted else memchr(x, 0, s.n) != NULL
            else:
                found = False
                for i in range(s.n):
                    if (x[i] != 0) == wanted:
                        found = True
                        break
            out[o] = found == wanted
        else:
            for j in range(s.inner):
                out[o * s.inner + j] = not wanted
            for i in range(s.n):
                if wanted:
                    for j in range(s.inner):
                        out[o * s.inner + j] |= x[i * s.inner + j] != 0
                else:
                    for j in range(s.inner):
                        out[o * s.inner + j] &= x[i * s.inner + j] != 0
        x += s.n * s.inner


# ---------------------------------------------------------------- extremes, by NumPy's loops

cdef Loops _maximum = ufunc_loops("maximum")
cdef Loops _minimum = ufunc_loops("minimum")


cdef void fold_by_loop(Loop loop, char *x, npy_intp width, Shape *s, char *out) noexcept nogil:
    cdef char *args[3]
    cdef npy_intp steps[3]
    cdef npy_intp o, i, count
    for o in range(s.outer):
        memcpy(out, x, s.inner * width)
        if s.inner == 1 or s.inner * 4 < s.n:  # few columns: down each of them
            steps[0] = steps[2] = 0
            steps[1] = width * s.inner
            count = s.n - 1
            for i in range(s.inner):
                args[0] = args[2] = out + i * width
                args[1] = x + (s.inner + i) * width
                if count:
                    loop(args, &count, steps, NULL)
        else:
            steps[0] = steps[1] = steps[2] = width
            for i in range(1, s.n):
                args[0] = args[2] = out
                args[1] = x + i * s.inner * width
                loop(args, &s.inner, steps, NULL)
        x += s.n * s.inner * width
        out += s.inner * width


# ---------------------------------------------------------------- the operators

cdef object folded(Fold fold, PyArrayObject *a, int kind, Shape *s, double correction, int *result):
    """The reduced array, or None where there is no kernel for the dtype; `result` is its dtype."""
    cdef object made
    cdef void *x = data_of(a)
    cdef void *out
    cdef PyThreadState *state
    cdef Loop loop
    cdef npy_intp width = item_size(a)
    result[0] = kind
    if fold == ANY or fold == ALL:
        result[0] = BOOL
        if kind not in (BOOL, FLOAT, DOUBLE, INT32, INT64):
            return None
    elif fold == COUNT:
        result[0] = INT64
        if kind not in (BOOL, FLOAT, DOUBLE, INT32, INT64):
            return None
    elif fold == LARGEST or fold == SMALLEST:
        if kind > DOUBLE and kind != BOOL:
            return None
        loop = (_maximum if fold == LARGEST else _minimum).function[kind]
        if loop == NULL:
            return None
    elif kind != FLOAT and kind != DOUBLE:
        result[0] = INT64
        if fold > PRODUCT or fold == MEAN or kind not in (BOOL, UINT8, INT8, INT16, INT32, INT64):
            return None
    made = new_flat(s.nd, s.dims, result[0])
    out = data_of(<PyArrayObject *>made)
    state = leave_gil(size_of(a))
    if fold == LARGEST or fold == SMALLEST:
        fold_by_loop(loop, <char *>x, width, s, <char *>out)
    elif fold == ANY or fold == ALL:
        if kind == BOOL:
            truth[uint8_t](fold == ANY, <uint8_t *>x, s, <uint8_t *>out)
        elif kind == FLOAT:
            truth[float](fold == ANY, <float *>x, s, <uint8_t *>out)
        elif kind == DOUBLE:
            truth[double](fold == ANY, <double *>x, s, <uint8_t *>out)
        elif kind == INT32:
            truth[int32_t](fold == ANY, <int32_t *>x, s, <uint8_t *>out)
        else:
            truth[int64_t](fold == ANY, <int64_t *>x, s, <uint8_t *>out)
    elif fold == COUNT:
        if kind == BOOL:
            count_true[uint8_t](<uint8_t *>x, s, <int64_t *>out)
        elif kind == FLOAT:
            count_true[float](<float *>x, s, <int64_t *>out)
        elif kind == DOUBLE:
            count_true[double](<double *>x, s, <int64_t *>out)
        elif kind == INT32:
            count_true[int32_t](<int32_t *>x, s, <int64_t *>out)
        else:
            count_true[int64_t](<int64_t *>x, s, <int64_t *>out)
    elif kind == FLOAT:
        fold_floating[float](fold, <float *>x, s, correction, <float *>out)
    elif kind == DOUBLE:
        fold_floating[double](fold, <double *>x, s, correction, <double *>out)
    elif kind == INT64:
        fold_whole[int64_t](fold, <int64_t *>x, s, <int64_t *>out)
    elif kind == INT32:
        fold_whole[int32_t](fold, <int32_t *>x, s, <int64_t *>out)
    elif kind == INT16:
        fold_whole[int16_t](fold, <int16_t *>x, s, <int64_t *>out)
    elif kind == INT8:
        fold_whole[int8_t](fold, <int8_t *>x, s, <int64_t *>out)
    else:
        fold_whole[uint8_t](fold, <uint8_t *>x, s, <int64_t *>out)
    take_gil(state)
    return made


cdef inline npy_intp item_size(PyArrayObject *a) noexcept:
    return cnp.PyArray_ITEMSIZE(<cnp.ndarray>a)


cdef IValue EVERYTHING               # in the place of dimensions: all of them
EVERYTHING.tag = TAG_NONE


cdef int run_fold(
    Operator op, IValue *r, const int32_t *at, Fold fold, IValue *dims, bint keepdim, double correction
) except -1:
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef Shape s
    cdef int result
    cdef object made
    if a == NULL or not read_shape(a, dims, keepdim, &s):
        return run_record(op, r, at)
    if (fold == VARIANCE or fold == DEVIATION) and s.n <= correction:  # the record warns
        return run_record(op, r, at)
    made = folded(fold, a, scalar_type(&r[at[0]]), &s, correction, &result)
    if made is None:
        return run_record(op, r, at)
    return put_array(&r[at[op.nargs]], made, result)


cdef inline int run_typed(
    Operator op, IValue *r, const int32_t *at, Fold fold, IValue *dims, bint keepdim, IValue *dtype
) except -1:
    """A fold with an argument for the dtype, which has to be the tensor's own."""
    if dtype.tag != TAG_NONE and not (flat_array(&r[at[0]]) != NULL and same_dtype(dtype, scalar_type(&r[at[0]]))):
        return run_record(op, r, at)
    if dtype.tag != TAG_NONE and dtype.v.i not in (FLOAT, DOUBLE, INT64):
        return run_record(op, r, at)
    return run_fold(op, r, at, fold, dims, keepdim, 0)


cdef int sum_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_typed(op, r, at, SUM, &EVERYTHING, False, &r[at[1]])

cdef int sum_dims(Operator op, IValue *r, const int32_t *at) except -1:
    return run_typed(op, r, at, SUM, &r[at[1]], r[at[2]].v.i, &r[at[3]])

cdef int mean_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_typed(op, r, at, MEAN, &EVERYTHING, False, &r[at[1]])

cdef int mean_dims(Operator op, IValue *r, const int32_t *at) except -1:
    return run_typed(op, r, at, MEAN, &r[at[1]], r[at[2]].v.i, &r[at[3]])

cdef int product_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_typed(op, r, at, PRODUCT, &EVERYTHING, False, &r[at[1]])

cdef int product_dim(Operator op, IValue *r, const int32_t *at) except -1:
    return run_typed(op, r, at, PRODUCT, &r[at[1]], r[at[2]].v.i, &r[at[3]])

cdef int largest_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_fold(op, r, at, LARGEST, &EVERYTHING, False, 0)

cdef int smallest_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_fold(op, r, at, SMALLEST, &EVERYTHING, False, 0)

cdef int largest(Operator op, IValue *r, const int32_t *at) except -1:
    return run_fold(op, r, at, LARGEST, &r[at[1]], r[at[2]].v.i, 0)

cdef int smallest(Operator op, IValue *r, const int32_t *at) except -1:
    return run_fold(op, r, at, SMALLEST, &r[at[1]], r[at[2]].v.i, 0)

cdef int any_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_fold(op, r, at, ANY, &EVERYTHING, False, 0)

cdef int all_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_fold(op, r, at, ALL, &EVERYTHING, False, 0)

cdef int any_dim(Operator op, IValue *r, const int32_t *at) except -1:
    return run_fold(op, r, at, ANY, &r[at[1]], r[at[2]].v.i, 0)

cdef int all_dim(Operator op, IValue *r, const int32_t *at) except -1:
    return run_fold(op, r, at, ALL, &r[at[1]], r[at[2]].v.i, 0)

cdef int count(Operator op, IValue *r, const int32_t *at) except -1:
    return run_fold(op, r, at, COUNT, &r[at[1]], False, 0)


# ---------------------------------------------------------------- moments

cdef int moment_all(Operator op, IValue *r, const int32_t *at, Fold fold) except -1:
    return run_fold(op, r, at, fold, &EVERYTHING, False, 1 if r[at[1]].v.i else 0)

cdef int moment_dims(Operator op, IValue *r, const int32_t *at, Fold fold) except -1:
    return run_fold(op, r, at, fold, &r[at[1]], r[at[3]].v.i, 1 if r[at[2]].v.i else 0)

cdef int moment_corrected(Operator op, IValue *r, const int32_t *at, Fold fold) except -1:
    cdef IValue *correction = &r[at[2]]
    cdef double value = 1
    if correction.tag == TAG_INT:
        value = <double>correction.v.i
    elif correction.tag == TAG_FLOAT:
        value = correction.v.f
    elif correction.tag != TAG_NONE:
        return run_record(op, r, at)
    return run_fold(op, r, at, fold, &r[at[1]], r[at[3]].v.i, value)

cdef int variance_all(Operator op, IValue *r, const int32_t *at) except -1:
    return moment_all(op, r, at, VARIANCE)

cdef int deviation_all(Operator op, IValue *r, const int32_t *at) except -1:
    return moment_all(op, r, at, DEVIATION)

cdef int variance_dims(Operator op, IValue *r, const int32_t *at) except -1:
    return moment_dims(op, r, at, VARIANCE)

cdef int deviation_dims(Operator op, IValue *r, const int32_t *at) except -1:
    return moment_dims(op, r, at, DEVIATION)

cdef int variance_corrected(Operator op, IValue *r, const int32_t *at) except -1:
    return moment_corrected(op, r, at, VARIANCE)

cdef int deviation_corrected(Operator op, IValue *r, const int32_t *at) except -1:
    return moment_corrected(op, r, at, DEVIATION)


# ---------------------------------------------------------------- Euclidean norms

cdef inline bint is_two(IValue *p) noexcept:
    return (p.tag == TAG_INT and p.v.i == 2) or (p.tag == TAG_FLOAT and p.v.f == 2) or p.tag == TAG_NONE


cdef int norm(Operator op, IValue *r, const int32_t *at, IValue *dims, bint keepdim) except -1:
    if flat_array(&r[at[0]]) == NULL or scalar_type(&r[at[0]]) not in (FLOAT, DOUBLE) or not is_two(&r[at[1]]):
        return run_record(op, r, at)
    return run_fold(op, r, at, NORM, dims, keepdim, 0)


cdef int norm_all(Operator op, IValue *r, const int32_t *at) except -1:
    return norm(op, r, at, &EVERYTHING, False)


cdef int norm_dims(Operator op, IValue *r, const int32_t *at) except -1:
    return norm(op, r, at, &r[at[2]], r[at[3]].v.i)


cdef int vector_norm(Operator op, IValue *r, const int32_t *at) except -1:
    if r[at[4]].tag != TAG_NONE:
        return run_record(op, r, at)
    return norm(op, r, at, &r[at[2]], r[at[3]].v.i)


# ---------------------------------------------------------------- places of extremes

cdef bint has_search(int kind) noexcept:
    return kind == BOOL or kind == FLOAT or kind == DOUBLE or kind == INT32 or kind == INT64


cdef void down_columns(bint largest, const counted *x, Shape *s, int64_t *places) noexcept nogil:
    """The place of the first extreme of each column; NaN is the most extreme."""
    cdef npy_intp i, j
    cdef int64_t best
    for j in range(s.inner):
        places[j] = 0
    for i in range(1, s.n):
        for j in range(s.inner):
            best = places[j]
            if x[best * s.inner + j] != x[best * s.inner + j]:
                continue
            if x[i * s.inner + j] != x[i * s.inner + j] or (
                x[i * s.inner + j] > x[best * s.inner + j] if largest else x[i * s.inner + j] < x[best * s.inner + j]
            ):
                places[j] = i


cdef object places(bint largest, PyArrayObject *a, int kind, Shape *s):
    cdef object made = new_flat(s.nd, s.dims, INT64)
    cdef int64_t *out = <int64_t *>data_of(<PyArrayObject *>made)
    cdef char *x = data_of(a)
    cdef npy_intp width = item_size(a), o
    cdef PyThreadState *state = leave_gil(size_of(a))
    for o in range(s.outer):
        if s.inner == 1:
            extreme_place(largest, a, x, s.n, &out[o])
        elif kind == FLOAT:
            down_columns[float](largest, <float *>x, s, out + o * s.inner)
        elif kind == DOUBLE:
            down_columns[double](largest, <double *>x, s, out + o * s.inner)
        elif kind == INT64:
            down_columns[int64_t](largest, <int64_t *>x, s, out + o * s.inner)
        elif kind == INT32:
            down_columns[int32_t](largest, <int32_t *>x, s, out + o * s.inner)
        else:
            down_columns[uint8_t](largest, <uint8_t *>x, s, out + o * s.inner)
        x += s.n * s.inner * width
    take_gil(state)
    return made


cdef int place_of(Operator op, IValue *r, const int32_t *at, bint largest) except -1:
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef Shape s
    if a == NULL or not has_search(scalar_type(&r[at[0]])) or not read_shape(a, &r[at[1]], r[at[2]].v.i, &s):
        return run_record(op, r, at)
    if scalar_type(&r[at[0]]) == BOOL:
        return run_record(op, r, at)
    return put_array(&r[at[op.nargs]], places(largest, a, scalar_type(&r[at[0]]), &s), INT64)


cdef int with_place(Operator op, IValue *r, const int32_t *at, bint largest) except -1:
    """(values, places) along a dimension."""
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef Shape s
    cdef object values, found
    cdef int64_t *place
    cdef char *x
    cdef char *out
    cdef npy_intp width, o, j
    cdef int kind
    if a == NULL or not has_search(scalar_type(&r[at[0]])) or not read_shape(a, &r[at[1]], r[at[2]].v.i, &s):
        return run_record(op, r, at)
    kind = scalar_type(&r[at[0]])
    found = places(largest, a, kind, &s)
    values = new_flat(s.nd, s.dims, kind)
    place = <int64_t *>data_of(<PyArrayObject *>found)
    x = data_of(a)
    out = data_of(<PyArrayObject *>values)
    width = item_size(a)
    for o in range(s.outer):
        for j in range(s.inner):
            if width == 4:
                (<int32_t *>out)[0] = (<int32_t *>x)[place[0] * s.inner + j]
            elif width == 8:
                (<int64_t *>out)[0] = (<int64_t *>x)[place[0] * s.inner + j]
            else:
                out[0] = x[place[0] * s.inner + j]
            out += width
            place += 1
        x += s.n * s.inner * width
    put_array(&r[at[op.nargs + 1]], found, INT64)
    return put_array(&r[at[op.nargs]], values, kind)


cdef int largest_place(Operator op, IValue *r, const int32_t *at) except -1:
    return place_of(op, r, at, True)

cdef int smallest_place(Operator op, IValue *r, const int32_t *at) except -1:
    return place_of(op, r, at, False)

cdef int largest_with_place(Operator op, IValue *r, const int32_t *at) except -1:
    return with_place(op, r, at, True)

cdef int smallest_with_place(Operator op, IValue *r, const int32_t *at) except -1:
    return with_place(op, r, at, False)


register_kernel("aten::sum", sum_all)
register_kernel("aten::sum.dim_IntList", sum_dims)
register_kernel("aten::mean", mean_all)
register_kernel("aten::mean.dim", mean_dims)
register_kernel("aten::prod", product_all)
register_kernel("aten::prod.dim_int", product_dim)
register_kernel("aten::max", largest_all)
register_kernel("aten::min", smallest_all)
register_kernel("aten::amax", largest)
register_kernel("aten::amin", smallest)
register_kernel("aten::any", any_all)
register_kernel("aten::all", all_all)
register_kernel("aten::any.dim", any_dim)
register_kernel("aten::all.dim", all_dim)
register_kernel("aten::count_nonzero", count)
register_kernel("aten::count_nonzero.dim_IntList", count)
register_kernel("aten::var", variance_all)
register_kernel("aten::std", deviation_all)
register_kernel("aten::var.dim", variance_dims)
register_kernel("aten::std.dim", deviation_dims)
register_kernel("aten::var.correction", variance_corrected)
register_kernel("aten::std.correction", deviation_corrected)
register_kernel("aten::norm.Scalar", norm_all)
register_kernel("aten::norm.ScalarOpt_dim", norm_dims)
register_kernel("aten::linalg_vector_norm", vector_norm)
register_kernel("aten::argmax", largest_place)
register_kernel("aten::argmin", smallest_place)
register_kernel("aten::max.dim", largest_with_place)
register_kernel("aten::min.dim", smallest_with_place)
