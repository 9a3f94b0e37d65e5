"""Layer, RMS and group normalization of contiguous CPU tensors (two-pass algorithm for the variance).

Input: interpreter registers with a floating tensor and the weights of a layer. Output: the register of the
result. For other arguments, the operator's Python kernel runs. The operators are:

    layer_norm, rms_norm, group_norm
    native_layer_norm, native_group_norm              also return mean and 1 / deviation, for the backward
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.float cimport DBL_EPSILON, FLT_EPSILON
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.value.container cimport List, list_item
from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.parallel_for cimport parallel_ranges
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, FLOAT32_CONTIGUOUS, EpilogueArgs, register_epilogue, register_kernel
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_NONE
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, flags_of, ndim_of, size_of
from ts.backends.cpu.kernels.gil cimport EXPENSIVE_ELEMENT_COST, ReleasedGil, leave_gil, release_gil_for_arrays, take_gil
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS, contiguous_array_or_null, new_contiguous, new_like, set_result, scalar_type
from ts.backends.cpu.kernels.row_loops cimport RowLoops
from ts.backends.cpu.kernels.vector_math cimport row_loops_here
from ts.backends.cpu.kernels.reduce cimport BLOCK, LANES, block_squares, block_sum, floating

cnp.import_array()

cdef const RowLoops *LOOPS = row_loops_here()
cdef double NORMALIZATION_COST = 2     # time per element in units of 0.5 ns


# ---------------------------------------------------------------- moments

cdef void double_moments(const double *x, npy_intp n, double eps, double *mean, double *scale) noexcept nogil:
    cdef double total = 0, squares = 0, first = 0, about
    cdef npy_intp i = 0
    while n - i > BLOCK:
        total = block_sum(x + i, BLOCK, total)
        i += BLOCK
    about = block_sum(x + i, n - i, total) / n
    i = 0
    while n - i > BLOCK:
        squares = block_squares(x + i, BLOCK, about, squares, &first)
        i += BLOCK
    squares = block_squares(x + i, n - i, about, squares, &first)
    mean[0] = about + first / n
    scale[0] = 1 / sqrt((squares - first * first / n) / n + eps)


cdef inline void moments(const floating *x, npy_intp n, double eps, double *mean, double *scale) noexcept nogil:
    """Compute the mean and 1 / sqrt(variance + eps) of a row."""
    if floating is float:
        LOOPS.moments(x, n, eps, mean, scale)
    else:
        double_moments(x, n, eps, mean, scale)


# ---------------------------------------------------------------- normalization

cdef void normalise_rows(
    const floating *x, npy_intp rows, npy_intp n, const floating *weight, const floating *bias, double eps, floating *out,
    floating *means, floating *scales,
) noexcept nogil:
    """Normalize rows of `n` elements to mean 0 and variance 1, then apply the weight and bias.

    Unless they are NULL, `means` and `scales` receive the mean and 1 / sqrt(variance + eps) of each row.
    """
    cdef double mean, scale
    cdef npy_intp i, j
    if floating is float:
        LOOPS.layer_norm(x, rows, n, weight, bias, eps, out, means, scales)
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
        if means != NULL:
            means[i], scales[i] = <floating>mean, <floating>scale
        x += n
        out += n


cdef void normalise_groups(
    const floating *x, npy_intp batch, npy_intp groups, npy_intp channels, npy_intp inner,
    const floating *weight, const floating *bias, double eps, floating *out, floating *means, floating *scales,
) noexcept nogil:
    """Normalize groups. Each group has `channels` channels of `inner` elements."""
    cdef double mean, factor, by
    cdef floating shift, scale
    cdef npy_intp i, c, j, at
    for i in range(batch * groups):
        moments(x, channels * inner, eps, &mean, &factor)
        if means != NULL:
            means[i], scales[i] = <floating>mean, <floating>factor
        for c in range(channels):
            at = (i % groups) * channels + c
            by = factor if weight == NULL else factor * weight[at]
            scale = <floating>by
            shift = <floating>((0 if bias == NULL else bias[at]) - mean * by)
            if floating is float:
                LOOPS.normalise(x, inner, scale, shift, out)
            else:
                for j in range(inner):
                    out[j] = x[j] * scale + shift
            x += inner
            out += inner


cdef bint read_vector(IValue *x, int kind, npy_intp n, bint writable, void **data) noexcept:
    cdef PyArrayObject *a
    data[0] = NULL
    if x.tag == TAG_NONE:
        return True
    a = contiguous_array_or_null(x)
    if a == NULL or scalar_type(x) != kind or size_of(a) != n:
        return False
    if writable and not flags_of(a) & cnp.NPY_ARRAY_WRITEABLE:
        return False
    data[0] = data_of(a)
    return True


cdef object layer_norm_rows(object x, object weight, object bias, double eps):
    cdef PyArrayObject *a = <PyArrayObject *>x
    cdef npy_intp n = dims_of(a)[ndim_of(a) - 1]
    cdef object result = new_like(a, FLOAT)
    cdef ReleasedGil gil_state = release_gil_for_arrays(size_of(a) * EXPENSIVE_ELEMENT_COST, a, NULL)
    normalise_rows[float](
        <float *>data_of(a), size_of(a) // n, n, <float *>data_of(<PyArrayObject *>weight),
        <float *>data_of(<PyArrayObject *>bias), eps, <float *>data_of(<PyArrayObject *>result), NULL, NULL,
    )
    take_gil(gil_state)
    return result


cdef npy_intp normalized_size(int ndim, const npy_intp *dims, List shape) noexcept:
    """Return the number of elements of the normalized shape.

    Return 0 if this shape differs from the last dimensions of the input.
    """
    cdef npy_intp n = 1
    cdef int i, first = ndim - <int>shape.size
    if type(shape) is not List or shape.size == 0 or first < 0:
        return 0
    for i in range(<int>shape.size):
        if list_item(<PyObject *>shape, i).v.i != dims[first + i]:
            return 0
        n *= list_item(<PyObject *>shape, i).v.i
    return n


cdef bint read_normalized_shape(IValue *x, int kind, int ndim, const npy_intp *dims, List shape, npy_intp n, void **data) noexcept:
    """Store the address of the elements of the optional tensor `x` in `data` (NULL for None).

    Return False unless `x` is None or a tensor of dtype `kind` with the normalized shape.
    """
    cdef PyArrayObject *w
    cdef int d, first = ndim - <int>shape.size
    if not read_vector(x, kind, n, False, data):
        return False
    if data[0] == NULL:
        return True
    w = contiguous_array_or_null(x)
    if ndim_of(w) != shape.size:
        return False
    for d in range(ndim_of(w)):
        if dims_of(w)[d] != dims[first + d]:
            return False
    return True


cdef int store_with_moments(Operator op, IValue *r, const int32_t *at, object result, object mean, object scale, int kind) except -1:
    """Store `result`, followed by `mean` and `scale` unless `mean` is None, as the operator's results."""
    set_result(&r[at[op.nargs]], result, kind)
    if mean is not None:
        set_result(&r[at[op.nargs + 1]], mean, kind)
        set_result(&r[at[op.nargs + 2]], scale, kind)
    return 0


cdef void *optional_data(object array) noexcept:
    return NULL if array is None else data_of(<PyArrayObject *>array)


cdef struct Normalization:             # operands of a kernel that normalizes rows or groups; unused pointers are NULL
    int kind
    char *x
    npy_intp n                         # number of elements of a row, or of a channel
    npy_intp groups                    # for group_norm: number of groups of an image, and of channels of a group
    npy_intp channels
    void *weight
    void *bias
    double eps
    char *out
    char *means
    char *scales


cdef inline char *row_address(char *data, Normalization *task, npy_intp index) noexcept nogil:
    """Return the address of element `index` of an optional array."""
    return NULL if data == NULL else data + index * (sizeof(float) if task.kind == FLOAT else sizeof(double))


cdef int normalise_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Normalize the rows [start, end)."""
    cdef Normalization *task = <Normalization *>context
    cdef char *x = row_address(task.x, task, start * task.n)
    cdef char *out = row_address(task.out, task, start * task.n)
    cdef char *means = row_address(task.means, task, start)
    cdef char *scales = row_address(task.scales, task, start)
    if task.kind == FLOAT:
        normalise_rows[float](
            <float *>x, end - start, task.n, <float *>task.weight, <float *>task.bias, task.eps, <float *>out,
            <float *>means, <float *>scales,
        )
    else:
        normalise_rows[double](
            <double *>x, end - start, task.n, <double *>task.weight, <double *>task.bias, task.eps, <double *>out,
            <double *>means, <double *>scales,
        )
    return 0


cdef int scale_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Divide the rows [start, end) by their root mean square."""
    cdef Normalization *task = <Normalization *>context
    cdef char *x = row_address(task.x, task, start * task.n)
    cdef char *out = row_address(task.out, task, start * task.n)
    if task.kind == FLOAT:
        scale_rows[float](<float *>x, end - start, task.n, <float *>task.weight, task.eps, <float *>out)
    else:
        scale_rows[double](<double *>x, end - start, task.n, <double *>task.weight, task.eps, <double *>out)
    return 0


cdef int normalise_group_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Normalize the groups of the images [start, end)."""
    cdef Normalization *task = <Normalization *>context
    cdef npy_intp image = task.groups * task.channels * task.n
    cdef char *x = row_address(task.x, task, start * image)
    cdef char *out = row_address(task.out, task, start * image)
    cdef char *means = row_address(task.means, task, start * task.groups)
    cdef char *scales = row_address(task.scales, task, start * task.groups)
    if task.kind == FLOAT:
        normalise_groups[float](
            <float *>x, end - start, task.groups, task.channels, task.n, <float *>task.weight, <float *>task.bias,
            task.eps, <float *>out, <float *>means, <float *>scales,
        )
    else:
        normalise_groups[double](
            <double *>x, end - start, task.groups, task.channels, task.n, <double *>task.weight, <double *>task.bias,
            task.eps, <double *>out, <double *>means, <double *>scales,
        )
    return 0


cdef int layer_norm(Operator op, IValue *r, const int32_t *at) except -1:
    return normalise_layers(op, r, at, False)


cdef int native_layer_norm(Operator op, IValue *r, const int32_t *at) except -1:
    return normalise_layers(op, r, at, True)


cdef int normalise_layers(Operator op, IValue *r, const int32_t *at, bint with_moments) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef List shape = <List>r[at[1]].v.o
    cdef void *weight
    cdef void *bias
    cdef Normalization task
    cdef npy_intp n = 0 if a == NULL else normalized_size(ndim_of(a), dims_of(a), shape)
    cdef npy_intp dims[MAX_DIMS]
    cdef int kind, d
    cdef object result, mean = None, scale = None
    cdef ReleasedGil gil_state
    if n == 0 or size_of(a) == 0:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if (kind != FLOAT and kind != DOUBLE) or not read_normalized_shape(&r[at[2]], kind, ndim_of(a), dims_of(a), shape, n, &weight):
        return UNSUPPORTED
    if not read_normalized_shape(&r[at[3]], kind, ndim_of(a), dims_of(a), shape, n, &bias):
        return UNSUPPORTED
    result = new_like(a, kind)
    if with_moments:
        for d in range(ndim_of(a)):
            dims[d] = dims_of(a)[d] if d < ndim_of(a) - shape.size else 1
        mean, scale = new_contiguous(ndim_of(a), dims, kind), new_contiguous(ndim_of(a), dims, kind)
    task.kind, task.x, task.n, task.weight, task.bias, task.eps = kind, data_of(a), n, weight, bias, r[at[4]].v.f
    task.out, task.means, task.scales = data_of(<PyArrayObject *>result), <char *>optional_data(mean), <char *>optional_data(scale)
    gil_state = leave_gil(size_of(a) * EXPENSIVE_ELEMENT_COST, r, at, op.nargs)
    parallel_ranges(normalise_range, &task, size_of(a) // n, n * NORMALIZATION_COST)
    take_gil(gil_state)
    return store_with_moments(op, r, at, result, mean, scale, kind)


cdef void scale_rows(
    const floating *x, npy_intp rows, npy_intp n, const floating *weight, double eps, floating *out
) noexcept nogil:
    """Divide each row by the square root of its mean square plus eps, and multiply it by the weight."""
    cdef double lane[LANES]
    cdef double total
    cdef floating by
    cdef npy_intp i, j, k
    for i in range(rows):
        for k in range(LANES):
            lane[k] = 0
        j = 0
        while j + LANES <= n:
            for k in range(LANES):
                lane[k] += <double>x[j + k] * x[j + k]
            j += LANES
        total = 0
        for k in range(LANES):
            total += lane[k]
        for k in range(j, n):
            total += <double>x[k] * x[k]
        by = <floating>(1 / sqrt(total / n + eps))
        if weight == NULL:
            for j in range(n):
                out[j] = x[j] * by
        else:
            for j in range(n):
                out[j] = x[j] * by * weight[j]
        x += n
        out += n


cdef inline double read_eps(IValue *x, int kind) noexcept:
    """Return eps, by default the machine epsilon of the dtype."""
    return x.v.f if x.tag == TAG_FLOAT else (FLT_EPSILON if kind == FLOAT else DBL_EPSILON)


cdef int rms_norm(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef List shape = <List>r[at[1]].v.o
    cdef void *weight
    cdef Normalization task
    cdef npy_intp n = 0 if a == NULL else normalized_size(ndim_of(a), dims_of(a), shape)
    cdef int kind
    cdef object result
    cdef ReleasedGil gil_state
    if n == 0 or size_of(a) == 0:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if (kind != FLOAT and kind != DOUBLE) or not read_normalized_shape(&r[at[2]], kind, ndim_of(a), dims_of(a), shape, n, &weight):
        return UNSUPPORTED
    result = new_like(a, kind)
    task.kind, task.x, task.n, task.weight, task.eps = kind, data_of(a), n, weight, read_eps(&r[at[3]], kind)
    task.out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(a) * EXPENSIVE_ELEMENT_COST, r, at, op.nargs)
    parallel_ranges(scale_range, &task, size_of(a) // n, n * NORMALIZATION_COST)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int group_norm(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    return normalise_channels(op, r, at, a, r[at[1]].v.i, &r[at[2]], &r[at[3]], r[at[4]].v.f, False)


cdef int native_group_norm(Operator op, IValue *r, const int32_t *at) except -1:
    """Run group norm. If the size arguments contradict the tensor's shape, the operator's Python kernel runs."""
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    if a == NULL or ndim_of(a) < 2 or dims_of(a)[0] != r[at[3]].v.i or dims_of(a)[1] != r[at[4]].v.i:
        return UNSUPPORTED
    if size_of(a) != dims_of(a)[0] * dims_of(a)[1] * r[at[5]].v.i:
        return UNSUPPORTED
    return normalise_channels(op, r, at, a, r[at[6]].v.i, &r[at[1]], &r[at[2]], r[at[7]].v.f, True)


cdef int normalise_channels(
    Operator op, IValue *r, const int32_t *at, PyArrayObject *a, int64_t groups, IValue *weights, IValue *biases, double eps,
    bint with_moments,
) except -1:
    cdef void *weight
    cdef void *bias
    cdef void *out
    cdef npy_intp channels, inner
    cdef npy_intp dims[2]
    cdef int kind
    cdef object result, mean = None, scale = None
    cdef Normalization task
    cdef ReleasedGil gil_state
    if a == NULL or ndim_of(a) < 2 or size_of(a) == 0 or groups <= 0 or dims_of(a)[1] % groups:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    channels = dims_of(a)[1]
    if (kind != FLOAT and kind != DOUBLE) or not read_vector(weights, kind, channels, False, &weight):
        return UNSUPPORTED
    if not read_vector(biases, kind, channels, False, &bias):
        return UNSUPPORTED
    inner = size_of(a) // (dims_of(a)[0] * channels)
    result = new_like(a, kind)
    out = data_of(<PyArrayObject *>result)
    if with_moments:
        dims[0], dims[1] = dims_of(a)[0], groups
        mean, scale = new_contiguous(2, dims, kind), new_contiguous(2, dims, kind)
    task.kind, task.x, task.n, task.weight, task.bias, task.eps = kind, data_of(a), inner, weight, bias, eps
    task.groups, task.channels, task.out = groups, channels // groups, <char *>out
    task.means, task.scales = <char *>optional_data(mean), <char *>optional_data(scale)
    gil_state = leave_gil(size_of(a) * EXPENSIVE_ELEMENT_COST, r, at, op.nargs)
    parallel_ranges(normalise_group_range, &task, dims_of(a)[0], <double>channels * inner * NORMALIZATION_COST)
    take_gil(gil_state)
    return store_with_moments(op, r, at, result, mean, scale, kind)


# ---------------------------------------------------------------- epilogues of fusion groups

cdef void epilogue_layers(const EpilogueArgs *args, const floating *x, npy_intp rows, floating *out) noexcept nogil:
    normalise_rows(x, rows, args.n, <const floating *>args.vectors[0], <const floating *>args.vectors[1], args.by, out, NULL, NULL)


cdef void epilogue_float_layers(const void *args, const char *x, npy_intp rows, char *out) noexcept nogil:
    epilogue_layers[float](<const EpilogueArgs *>args, <const float *>x, rows, <float *>out)


cdef void epilogue_double_layers(const void *args, const char *x, npy_intp rows, char *out) noexcept nogil:
    epilogue_layers[double](<const EpilogueArgs *>args, <const double *>x, rows, <double *>out)


cdef void epilogue_float_scales(const void *args, const char *x, npy_intp rows, char *out) noexcept nogil:
    cdef const EpilogueArgs *e = <const EpilogueArgs *>args
    scale_rows[float](<const float *>x, rows, e.n, <const float *>e.vectors[0], e.by, <float *>out)


cdef void epilogue_double_scales(const void *args, const char *x, npy_intp rows, char *out) noexcept nogil:
    cdef const EpilogueArgs *e = <const EpilogueArgs *>args
    scale_rows[double](<const double *>x, rows, e.n, <const double *>e.vectors[0], e.by, <double *>out)


cdef bint read_rows(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    """Set the sizes, dtype and weight in `args` for a normalization that runs as an epilogue.

    `others` has the normalized shape and the weight. Return False if the arguments are unsupported.
    """
    cdef int d
    if kind != FLOAT and kind != DOUBLE:
        return False
    args.n = args.row_results = normalized_size(ndim, dims, <List>others[0].v.o)
    if args.n == 0 or not read_normalized_shape(others[1], kind, ndim, dims, <List>others[0].v.o, args.n, <void **>&args.vectors[0]):
        return False
    args.kind, args.ndim = kind, ndim
    for d in range(ndim):
        args.dims[d] = dims[d]
    return True


cdef bint read_layer_norm(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    if not read_rows(kind, ndim, dims, others, args):
        return False
    args.function, args.by = (epilogue_float_layers if kind == FLOAT else epilogue_double_layers), others[3].v.f
    return read_normalized_shape(others[2], kind, ndim, dims, <List>others[0].v.o, args.n, <void **>&args.vectors[1])


cdef bint read_rms_norm(int kind, int ndim, const npy_intp *dims, IValue **others, EpilogueArgs *args) noexcept:
    if not read_rows(kind, ndim, dims, others, args):
        return False
    args.function = epilogue_float_scales if kind == FLOAT else epilogue_double_scales
    args.by = read_eps(others[2], kind)
    return True


register_epilogue("aten::layer_norm", read_layer_norm)
register_epilogue("aten::rms_norm", read_rms_norm)

register_kernel("aten::layer_norm", layer_norm, FLOAT32_CONTIGUOUS)
register_kernel("aten::rms_norm", rms_norm, CONTIGUOUS)
register_kernel("aten::group_norm", group_norm, FLOAT32_CONTIGUOUS)
register_kernel("aten::native_layer_norm", native_layer_norm, CONTIGUOUS)
register_kernel("aten::native_group_norm", native_group_norm, CONTIGUOUS)
