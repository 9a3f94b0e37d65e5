"""Reductions of contiguous CPU tensors by blocked summation with multiple accumulators: sum, variance ...

Input: interpreter registers with a tensor, the dimensions to reduce, and `keepdim`. Output: the register of
the result.

Blocks are summed by parallel accumulators. The sums of the blocks are added in double. Results depend neither
on the machine nor on the number of threads. For other arguments, the operator's Python kernel runs. Examples:

    x.sum(), x.sum([1, 2])     sums of x
    x.var(1), x.norm()         sums of (x - mean) ** 2, or of x ** 2
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.math cimport sqrt
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from numpy cimport npy_intp

from ts._core.value.container cimport List, list_item
from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.block_reductions cimport (
    squares_of_doubles, squares_of_floats, sum_blocks_of_doubles, sum_blocks_of_floats, sum_of_doubles, sum_of_floats, sum_of_integers
)
from ts.backends.cpu.kernels.row_loops cimport RowLoops
from ts.backends.cpu.kernels.parallel_for cimport parallel_ranges
from ts.backends.cpu.kernels.kernel_registry cimport FLOAT32_CONTIGUOUS, EpilogueArgs, register_epilogue, register_kernel
from ts.backends.cpu.kernels.vector_math cimport row_loops_here
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_INT, TAG_NONE, TAG_OBJECT
from ts._core.tensor.ndarray cimport BOOL, DOUBLE, FLOAT, INT8, INT16, INT32, INT64, UINT8
from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, new_contiguous, set_result, same_dtype, scalar_type

cnp.import_array()


cdef extern from "Python.h":
    int warn "PyErr_WarnEx"(object category, const char *message, Py_ssize_t level) except -1

cdef const RowLoops *LOOPS = row_loops_here()
cdef double REDUCED_ELEMENT_COST = 0.5  # time in units of 0.5 ns

cdef enum:
    ROWS_AT_ONCE = 8
    TILE = 256  # maximal number of columns that are reduced at a time. Their accumulators are on the stack.


cdef enum Reduction:
    SUM
    MEAN
    PRODUCT
    NORM
    VARIANCE
    DEVIATION


cdef const char *VAGUE_VARIANCE = (
    b"var(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel divided "
    b"by output numel)."
)
cdef const char *VAGUE_DEVIATION = (
    b"std(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel divided "
    b"by output numel)."
)

ctypedef fused integer:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t


# ---------------------------------------------------------------- reduced dimensions

cdef bint mark_dimension(IValue *dim, int nd, bint *marked) noexcept:
    """Mark the dimension `dim`. Return False if it is out of range or already marked."""
    cdef int64_t d = dim.v.i
    if d < 0:
        d += nd
    if not 0 <= d < nd or marked[d]:
        return False
    marked[d] = True
    return True


cdef bint read_shape(PyArrayObject *a, IValue *dims, bint keepdim, Shape *s) noexcept:
    return read_lengths(ndim_of(a), dims_of(a), dims, keepdim, s) and size_of(a) > 0


cdef bint read_lengths(int nd, const npy_intp *lengths, IValue *dims, bint keepdim, Shape *s) noexcept:
    """Split a shape into (outer, n, inner).

    Return False if the reduced dimensions are invalid or not adjacent.
    """
    cdef bint marked[MAX_DIMS]
    cdef List listed
    cdef IValue dim
    cdef int i, stage = 0
    cdef bint everything = dims == NULL or dims.tag == TAG_NONE
    s.outer = s.n = s.inner = 1
    s.nd = 0
    for i in range(nd):
        marked[i] = False
    if everything:
        pass
    elif dims.tag == TAG_OBJECT:
        if type(<object>dims.v.o) is not List:
            return False
        listed = <List>dims.v.o
        everything = listed.size == 0
        for i in range(<int>listed.size):
            dim = list_item(<PyObject *>listed, i)
            if not mark_dimension(&dim, nd, marked):
                return False
    elif dims.tag == TAG_INT:
        if not mark_dimension(dims, nd, marked):
            return False
    for i in range(nd):
        if everything or marked[i]:
            if stage == 2 and lengths[i] != 1:
                return False
            if stage < 2:
                stage = 1
            s.n *= lengths[i]
            if keepdim:
                s.dims[s.nd] = 1
                s.nd += 1
            continue
        s.dims[s.nd] = lengths[i]
        s.nd += 1
        if lengths[i] == 1:
            continue
        if stage == 0:
            s.outer *= lengths[i]
        else:
            stage = 2
            s.inner *= lengths[i]
    return True


# ---------------------------------------------------------------- floating rows

cdef double row_sum(const floating *x, npy_intp n) noexcept nogil:
    if floating is float:
        return sum_of_floats(x, n)
    else:
        return sum_of_doubles(x, n)


cdef double row_squares(const floating *x, npy_intp n, double mean) noexcept nogil:
    """Return the sum of (x - mean) ** 2, corrected for the rounding error of the mean."""
    cdef double total = 0, first = 0
    cdef npy_intp count = n
    if floating is float:
        total = squares_of_floats(x, n, <float>mean, &first)
    else:
        if mean == 0:
            return squares_of_doubles(x, n)
        while n > BLOCK:
            total += block_squares(x, BLOCK, mean, 0, &first)
            x += BLOCK
            n -= BLOCK
        total += block_squares(x, n, mean, 0, &first)
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


cdef double reduce_row(Reduction reduction, const floating *x, npy_intp n, double correction) noexcept nogil:
    cdef double count = <double>n, left
    if reduction == SUM:
        return row_sum(x, n)
    if reduction == MEAN:
        return row_sum(x, n) / count
    if reduction == NORM:
        return sqrt(row_squares(x, n, 0))
    if reduction == PRODUCT:
        return row_product(x, n)
    left = count - correction
    left = row_squares(x, n, row_sum(x, n) / count) / (left if left > 0 else 0)
    return sqrt(left) if reduction == DEVIATION else left


cdef void reduce_rows(Reduction reduction, const floating *x, npy_intp rows, npy_intp n, double correction, floating *out) noexcept nogil:
    cdef double total[ROWS_AT_ONCE]
    cdef double count = 1 if reduction == SUM else <double>n
    cdef npy_intp i, first = 0, several
    if floating is float and rows > 1 and (reduction == SUM or reduction == MEAN):
        while first < rows:
            several = min(rows - first, <npy_intp>ROWS_AT_ONCE)
            LOOPS.sum_of_blocks(x + first * n, several, n, total)
            for i in range(several):
                out[first + i] = <floating>(total[i] / count)
            first += several
        return
    for i in range(rows):
        out[i] = <floating>reduce_row(reduction, x + i * n, n, correction)


# ---------------------------------------------------------------- floating columns

cdef void column_sums(const floating *x, npy_intp n, npy_intp stride, npy_intp width, double *total) noexcept nogil:
    """Compute the sums of `width` <= TILE columns of `n` rows. Rows are `stride` elements apart."""
    cdef floating partial[TILE]
    cdef npy_intp i = 0, j, until
    for j in range(width):
        total[j] = 0
    while i < n:
        until = min(n, i + BLOCK // 8)
        for j in range(width):
            partial[j] = 0
        while i < until:
            for j in range(width):
                partial[j] += x[i * stride + j]
            i += 1
        for j in range(width):
            total[j] += partial[j]


cdef void column_squares(
    const floating *x, npy_intp n, npy_intp stride, npy_intp width, const floating *mean, bint about_mean, double *total
) noexcept nogil:
    cdef floating partial[TILE]
    cdef floating first[TILE]
    cdef floating off
    cdef npy_intp i = 0, j, until
    for j in range(width):
        total[j] = 0
        first[j] = 0
    while i < n:
        until = min(n, i + BLOCK // 8)
        for j in range(width):
            partial[j] = 0
        while i < until:
            for j in range(width):
                off = x[i * stride + j] - mean[j]
                partial[j] += off * off
                first[j] += off
            i += 1
        for j in range(width):
            total[j] += partial[j]
    if about_mean:
        for j in range(width):
            total[j] -= <double>first[j] * first[j] / n


cdef void reduce_columns(
    Reduction reduction, const floating *x, npy_intp n, npy_intp stride, npy_intp width, double correction, floating *out
) noexcept nogil:
    """Compute the reduction of each of `width` columns."""
    cdef double total[TILE]
    cdef floating mean[TILE]
    cdef npy_intp i, j
    cdef double left = <double>n - correction
    if reduction == PRODUCT:
        for j in range(width):
            out[j] = x[j]
        for i in range(1, n):
            for j in range(width):
                out[j] *= x[i * stride + j]
        return
    if reduction == NORM:
        for j in range(width):
            mean[j] = 0
        column_squares(x, n, stride, width, mean, False, total)
        for j in range(width):
            out[j] = <floating>sqrt(total[j])
        return
    column_sums(x, n, stride, width, total)
    if reduction == SUM:
        for j in range(width):
            out[j] = <floating>total[j]
        return
    for j in range(width):
        mean[j] = <floating>(total[j] / n)
    if reduction == MEAN:
        for j in range(width):
            out[j] = mean[j]
        return
    column_squares(x, n, stride, width, mean, True, total)
    left = left if left > 0 else 0
    for j in range(width):
        out[j] = <floating>(sqrt(total[j] / left) if reduction == DEVIATION else total[j] / left)


cdef inline npy_intp count_units(const Shape *s) noexcept nogil:
    """Return the number of rows, or of blocks of at most TILE columns, that are reduced separately."""
    return s.outer * ((s.inner + TILE - 1) // TILE)


cdef void reduce_units(
    Reduction reduction, const floating *x, const Shape *s, double correction, floating *out, npy_intp first, npy_intp last
) noexcept nogil:
    """Reduce a range of the rows, or of the blocks of columns."""
    cdef npy_intp blocks = (s.inner + TILE - 1) // TILE, unit, o, c
    if s.inner == 1:
        reduce_rows(reduction, x + first * s.n, last - first, s.n, correction, out + first)
        return
    for unit in range(first, last):
        o, c = unit // blocks, unit % blocks * TILE
        reduce_columns(
            reduction, x + o * s.n * s.inner + c, s.n, s.inner, min(<npy_intp>TILE, s.inner - c), correction,
            out + o * s.inner + c,
        )


cdef struct ReducedUnits:
    Reduction reduction
    int kind
    void *x
    const Shape *shape
    double correction
    void *out


cdef int reduce_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Reduce a range of the rows, or of the blocks of columns, of floats."""
    cdef ReducedUnits *task = <ReducedUnits *>context
    if task.kind == FLOAT:
        reduce_units[float](task.reduction, <float *>task.x, task.shape, task.correction, <float *>task.out, start, end)
    else:
        reduce_units[double](task.reduction, <double *>task.x, task.shape, task.correction, <double *>task.out, start, end)
    return 0


# ---------------------------------------------------------------- integers

cdef inline int64_t element_value(integer x, bint is_bool) noexcept nogil:
    """Return the value of an element.

    For a bool, this is 1 if its byte is nonzero (`x.view(ts.bool)` allows any byte).
    """
    if integer is uint8_t:
        return x != 0 if is_bool else x
    return x


cdef void reduce_integers(Reduction reduction, const integer *x, Shape *s, int64_t *out, bint is_bool) noexcept nogil:
    cdef npy_intp o, i, j
    cdef int64_t total
    for o in range(s.outer):
        if s.inner == 1:
            total = 0 if reduction == SUM else 1
            if reduction == SUM:
                if integer is int64_t:
                    total = sum_of_integers(x, s.n)
                else:
                    for i in range(s.n):
                        total += element_value(x[i], is_bool)
            else:
                for i in range(s.n):
                    total *= element_value(x[i], is_bool)
            out[o] = total
        else:
            for j in range(s.inner):
                out[o * s.inner + j] = element_value(x[j], is_bool)
            for i in range(1, s.n):
                if reduction == SUM:
                    for j in range(s.inner):
                        out[o * s.inner + j] += element_value(x[i * s.inner + j], is_bool)
                else:
                    for j in range(s.inner):
                        out[o * s.inner + j] *= element_value(x[i * s.inner + j], is_bool)
        x += s.n * s.inner


# ---------------------------------------------------------------- operators

cdef int run_reduction(
    Operator op, IValue *r, const int32_t *at, Reduction reduction, IValue *dims, bint keepdim, double correction
) except -1:
    """Run a reduction over the dimensions `dims`, or over all dimensions if `dims` is NULL."""
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef Shape s
    cdef int kind, result
    cdef object output
    cdef void *x
    cdef void *out
    cdef ReducedUnits task
    cdef ReleasedGil gil_state
    if a == NULL or not read_shape(a, dims, keepdim, &s):
        return UNSUPPORTED
    kind = result = scalar_type(&r[at[0]])
    if kind != FLOAT and kind != DOUBLE:
        result = INT64
        if (reduction != SUM and reduction != PRODUCT) or kind not in (BOOL, UINT8, INT8, INT16, INT32, INT64):
            return UNSUPPORTED
    if (reduction == VARIANCE or reduction == DEVIATION) and s.n <= correction:
        owner = <object>a
        warn(UserWarning, VAGUE_DEVIATION if reduction == DEVIATION else VAGUE_VARIANCE, 1)
        # The warning may run Python code that replaces the tensor's array. In that case, the Python kernel
        # computes the result from the new array.
        if contiguous_array_or_null(&r[at[0]]) != a:
            return UNSUPPORTED
    output = new_contiguous(s.nd, s.dims, result)
    x = data_of(a)
    out = data_of(<PyArrayObject *>output)
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    if kind == FLOAT or kind == DOUBLE:
        task.reduction, task.kind, task.x, task.shape, task.correction, task.out = reduction, kind, x, &s, correction, out
        parallel_ranges(reduce_range, &task, count_units(&s), <double>s.n * min(s.inner, <npy_intp>TILE) * REDUCED_ELEMENT_COST)
    elif kind == INT64:
        reduce_integers[int64_t](reduction, <int64_t *>x, &s, <int64_t *>out, kind == BOOL)
    elif kind == INT32:
        reduce_integers[int32_t](reduction, <int32_t *>x, &s, <int64_t *>out, kind == BOOL)
    elif kind == INT16:
        reduce_integers[int16_t](reduction, <int16_t *>x, &s, <int64_t *>out, kind == BOOL)
    elif kind == INT8:
        reduce_integers[int8_t](reduction, <int8_t *>x, &s, <int64_t *>out, kind == BOOL)
    else:
        reduce_integers[uint8_t](reduction, <uint8_t *>x, &s, <int64_t *>out, kind == BOOL)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], output, result)


cdef inline int run_reduction_with_dtype(
    Operator op, IValue *r, const int32_t *at, Reduction reduction, IValue *dims, bint keepdim, IValue *dtype
) except -1:
    """Run a reduction with an optional dtype argument.

    The operator's Python kernel runs if the argument differs from the tensor's dtype.
    """
    if dtype.tag != TAG_NONE and not (contiguous_array_or_null(&r[at[0]]) != NULL and same_dtype(dtype, scalar_type(&r[at[0]]))):
        return UNSUPPORTED
    if dtype.tag != TAG_NONE and dtype.v.i not in (FLOAT, DOUBLE, INT64):
        return UNSUPPORTED
    return run_reduction(op, r, at, reduction, dims, keepdim, 0)


cdef int sum_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_reduction_with_dtype(op, r, at, SUM, NULL, False, &r[at[1]])

cdef int sum_dims(Operator op, IValue *r, const int32_t *at) except -1:
    return run_reduction_with_dtype(op, r, at, SUM, &r[at[1]], r[at[2]].v.i, &r[at[3]])

cdef int mean_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_reduction_with_dtype(op, r, at, MEAN, NULL, False, &r[at[1]])

cdef int mean_dims(Operator op, IValue *r, const int32_t *at) except -1:
    return run_reduction_with_dtype(op, r, at, MEAN, &r[at[1]], r[at[2]].v.i, &r[at[3]])

cdef int product_all(Operator op, IValue *r, const int32_t *at) except -1:
    return run_reduction_with_dtype(op, r, at, PRODUCT, NULL, False, &r[at[1]])

cdef int product_dim(Operator op, IValue *r, const int32_t *at) except -1:
    return run_reduction_with_dtype(op, r, at, PRODUCT, &r[at[1]], r[at[2]].v.i, &r[at[3]])


# ---------------------------------------------------------------- variance and standard deviation

cdef int moment_all(Operator op, IValue *r, const int32_t *at, Reduction reduction) except -1:
    return run_reduction(op, r, at, reduction, NULL, False, 1 if r[at[1]].v.i else 0)

cdef int moment_dims(Operator op, IValue *r, const int32_t *at, Reduction reduction) except -1:
    return run_reduction(op, r, at, reduction, &r[at[1]], r[at[3]].v.i, 1 if r[at[2]].v.i else 0)

cdef bint read_correction(IValue *x, double *correction) noexcept:
    if x.tag == TAG_INT:
        correction[0] = <double>x.v.i
    elif x.tag == TAG_FLOAT:
        correction[0] = x.v.f
    else:
        correction[0] = 1
        return x.tag == TAG_NONE
    return True

cdef int moment_corrected(Operator op, IValue *r, const int32_t *at, Reduction reduction) except -1:
    cdef double correction
    if not read_correction(&r[at[2]], &correction):
        return UNSUPPORTED
    return run_reduction(op, r, at, reduction, &r[at[1]], r[at[3]].v.i, correction)

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
    if contiguous_array_or_null(&r[at[0]]) == NULL or scalar_type(&r[at[0]]) not in (FLOAT, DOUBLE) or not is_two(&r[at[1]]):
        return UNSUPPORTED
    return run_reduction(op, r, at, NORM, dims, keepdim, 0)


cdef int norm_all(Operator op, IValue *r, const int32_t *at) except -1:
    return norm(op, r, at, NULL, False)


cdef int norm_dims(Operator op, IValue *r, const int32_t *at) except -1:
    return norm(op, r, at, &r[at[2]], r[at[3]].v.i)


cdef int vector_norm(Operator op, IValue *r, const int32_t *at) except -1:
    if r[at[4]].tag != TAG_NONE:
        return UNSUPPORTED
    return norm(op, r, at, &r[at[2]], r[at[3]].v.i)


# ---------------------------------------------------------------- epilogues of fusion groups

cdef void epilogue_floating(const EpilogueArgs *args, const floating *x, npy_intp rows, floating *out) noexcept nogil:
    reduce_rows(<Reduction>args.what, x, rows, args.n, args.by, out)


cdef void epilogue_floats(const void *args, const char *x, npy_intp rows, char *out) noexcept nogil:
    epilogue_floating[float](<const EpilogueArgs *>args, <const float *>x, rows, <float *>out)


cdef void epilogue_doubles(const void *args, const char *x, npy_intp rows, char *out) noexcept nogil:
    epilogue_floating[double](<const EpilogueArgs *>args, <const double *>x, rows, <double *>out)


cdef void epilogue_integers(const void *args, const char *x, npy_intp rows, char *out) noexcept nogil:
    cdef Shape s
    s.outer, s.n, s.inner = rows, (<const EpilogueArgs *>args).n, 1
    if (<const EpilogueArgs *>args).source == INT64:
        reduce_integers[int64_t](<Reduction>(<const EpilogueArgs *>args).what, <const int64_t *>x, &s, <int64_t *>out, False)
    else:
        reduce_integers[uint8_t](<Reduction>(<const EpilogueArgs *>args).what, <const uint8_t *>x, &s, <int64_t *>out, True)


cdef void finish_sum(const void *args, double total, char *out) noexcept nogil:
    if (<const EpilogueArgs *>args).what == MEAN:
        total /= <double>(<const EpilogueArgs *>args).n
    if (<const EpilogueArgs *>args).kind == FLOAT:
        (<float *>out)[0] = <float>total
    else:
        (<double *>out)[0] = total


cdef bint read_reduction(
    Reduction reduction, int kind, int ndim, const npy_intp *dims, IValue *reduced, bint keepdim, IValue *dtype, double correction, EpilogueArgs *args
) noexcept:
    """Prepare the reduction epilogue over the dimensions `reduced`, or over all dimensions if NULL.

    Return False if the arguments are unsupported.

    `dtype` is NULL for operators without a dtype argument.
    """
    cdef Shape s
    cdef int d
    if not read_lengths(ndim, dims, reduced, keepdim, &s) or s.inner != 1:
        return False
    if dtype != NULL and not same_dtype(dtype, kind):
        return False
    if (reduction == VARIANCE or reduction == DEVIATION) and s.n <= correction:
        return False                   # For so few elements, the operator issues a warning, so it must run separately.
    args.kind = kind
    if kind == FLOAT:
        args.function = epilogue_floats
    elif kind == DOUBLE:
        args.function = epilogue_doubles
    elif (kind == INT64 or kind == BOOL) and (reduction == SUM or reduction == PRODUCT):
        args.function, args.kind = epilogue_integers, INT64
    else:
        return False
    if (reduction == SUM or reduction == MEAN) and args.kind != INT64:
        args.sum_blocks = sum_blocks_of_floats if kind == FLOAT else sum_blocks_of_doubles
        args.finish = finish_sum
    args.what, args.n, args.row_results, args.ndim, args.by = reduction, s.n, 1, s.nd, correction
    for d in range(s.nd):
        args.dims[d] = s.dims[d]
    return True


cdef bint epilogue_sum_all(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_reduction(SUM, kind, ndim, dims, NULL, False, others[0], 0, args)

cdef bint epilogue_sum_dims(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_reduction(SUM, kind, ndim, dims, others[0], others[1].v.i, others[2], 0, args)

cdef bint epilogue_mean_all(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_reduction(MEAN, kind, ndim, dims, NULL, False, others[0], 0, args)

cdef bint epilogue_mean_dims(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_reduction(MEAN, kind, ndim, dims, others[0], others[1].v.i, others[2], 0, args)

cdef bint epilogue_product_all(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_reduction(PRODUCT, kind, ndim, dims, NULL, False, others[0], 0, args)

cdef bint epilogue_product_dim(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_reduction(PRODUCT, kind, ndim, dims, others[0], others[1].v.i, others[2], 0, args)

cdef bint epilogue_moment_all(Reduction reduction, int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_reduction(reduction, kind, ndim, dims, NULL, False, NULL, 1 if others[0].v.i else 0, args)

cdef bint epilogue_moment_dims(Reduction reduction, int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return read_reduction(reduction, kind, ndim, dims, others[0], others[2].v.i, NULL, 1 if others[1].v.i else 0, args)

cdef bint epilogue_moment_corrected(Reduction reduction, int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    cdef double correction
    return read_correction(others[1], &correction) and read_reduction(
        reduction, kind, ndim, dims, others[0], others[2].v.i, NULL, correction, args
    )

cdef bint epilogue_variance_all(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return epilogue_moment_all(VARIANCE, kind, ndim, dims, others, args)

cdef bint epilogue_deviation_all(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return epilogue_moment_all(DEVIATION, kind, ndim, dims, others, args)

cdef bint epilogue_variance_dims(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return epilogue_moment_dims(VARIANCE, kind, ndim, dims, others, args)

cdef bint epilogue_deviation_dims(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return epilogue_moment_dims(DEVIATION, kind, ndim, dims, others, args)

cdef bint epilogue_variance_corrected(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return epilogue_moment_corrected(VARIANCE, kind, ndim, dims, others, args)

cdef bint epilogue_deviation_corrected(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return epilogue_moment_corrected(DEVIATION, kind, ndim, dims, others, args)

cdef bint epilogue_norm_all(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return is_two(others[0]) and read_reduction(NORM, kind, ndim, dims, NULL, False, NULL, 0, args)

cdef bint epilogue_norm_dims(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return is_two(others[0]) and read_reduction(NORM, kind, ndim, dims, others[1], others[2].v.i, NULL, 0, args)

cdef bint epilogue_vector_norm(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    return others[3].tag == TAG_NONE and epilogue_norm_dims(kind, ndim, dims, others, args)


register_epilogue("aten::sum", epilogue_sum_all)
register_epilogue("aten::sum.dim_IntList", epilogue_sum_dims)
register_epilogue("aten::mean", epilogue_mean_all)
register_epilogue("aten::mean.dim", epilogue_mean_dims)
register_epilogue("aten::prod", epilogue_product_all)
register_epilogue("aten::prod.dim_int", epilogue_product_dim)
register_epilogue("aten::var", epilogue_variance_all)
register_epilogue("aten::std", epilogue_deviation_all)
register_epilogue("aten::var.dim", epilogue_variance_dims)
register_epilogue("aten::std.dim", epilogue_deviation_dims)
register_epilogue("aten::var.correction", epilogue_variance_corrected)
register_epilogue("aten::std.correction", epilogue_deviation_corrected)
register_epilogue("aten::norm.Scalar", epilogue_norm_all)
register_epilogue("aten::norm.ScalarOpt_dim", epilogue_norm_dims)
register_epilogue("aten::linalg_vector_norm", epilogue_vector_norm)

register_kernel("aten::sum", sum_all, FLOAT32_CONTIGUOUS)
register_kernel("aten::sum.dim_IntList", sum_dims, FLOAT32_CONTIGUOUS)
register_kernel("aten::mean", mean_all, FLOAT32_CONTIGUOUS)
register_kernel("aten::mean.dim", mean_dims, FLOAT32_CONTIGUOUS)
register_kernel("aten::prod", product_all, FLOAT32_CONTIGUOUS)
register_kernel("aten::prod.dim_int", product_dim, FLOAT32_CONTIGUOUS)
register_kernel("aten::var", variance_all, FLOAT32_CONTIGUOUS)
register_kernel("aten::std", deviation_all, FLOAT32_CONTIGUOUS)
register_kernel("aten::var.dim", variance_dims, FLOAT32_CONTIGUOUS)
register_kernel("aten::std.dim", deviation_dims, FLOAT32_CONTIGUOUS)
register_kernel("aten::var.correction", variance_corrected, FLOAT32_CONTIGUOUS)
register_kernel("aten::std.correction", deviation_corrected, FLOAT32_CONTIGUOUS)
register_kernel("aten::norm.Scalar", norm_all, FLOAT32_CONTIGUOUS)
register_kernel("aten::norm.ScalarOpt_dim", norm_dims, FLOAT32_CONTIGUOUS)
register_kernel("aten::linalg_vector_norm", vector_norm, FLOAT32_CONTIGUOUS)
