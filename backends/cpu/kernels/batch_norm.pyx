"""Batch normalization of CPU tensors, with the batch's moments or running statistics (moving averages).

Input: interpreter registers with a floating tensor, and a layer's weights and running statistics. Output: the
register of the result. Training also updates the running statistics.

The tensor must be contiguous or channels-last. For other arguments, the operator's Python kernel runs.
Example:

    batch_norm(x, weight, bias, mean, variance, training, momentum, eps, ...)
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.math cimport NAN, isfinite, sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.kernel_registry cimport Tile, register_channels, register_kernel
from ts._core.value.ivalue cimport IValue, TAG_NONE
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, let_go
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, is_tensor, new_contiguous, new_like, set_result, scalar_type
from ts.backends.cpu.kernels.norm cimport read_vector
from ts.backends.cpu.kernels.channels_last cimport is_channels_last, dense_channels_last, new_channels_last

cnp.import_array()

cdef extern from "simd_batch_norm.h" nogil:
    void add_channel_float(const float *x, npy_intp n, double about, double *total, double *squares)
    void add_channels_float(const float *x, npy_intp n, const double *about, double *totals, double *squares)
    void scale_channel_float(const float *x, npy_intp n, float scale, float shift, float *out)
    void scale_channels_float(const float *x, npy_intp n, const float *scale, const float *shift, float *out)
    void add_channel_double(const double *x, npy_intp n, double about, double *total, double *squares)
    void add_channels_double(const double *x, npy_intp n, const double *about, double *totals, double *squares)
    void scale_channel_double(const double *x, npy_intp n, double scale, double shift, double *out)
    void scale_channels_double(const double *x, npy_intp n, const double *scale, const double *shift, double *out)

ctypedef fused floating:
    float
    double


ctypedef struct Batch:
    # The array is viewed as (images, channels, inner).
    npy_intp images
    npy_intp channels
    npy_intp inner
    bint training
    double momentum
    double eps


ctypedef struct Moments:
    # Arrays with one number per channel. Element x of a channel is normalized to x * scale + shift, with the
    # scale and shift of the channel.
    double *mean
    double *variance
    double *scale
    double *shift


# ---------------------------------------------------------------- moments of the batch

cdef void sum_channels(const floating *x, Batch *batch, const double *about, double *totals, double *squares) noexcept nogil:
    """Compute the sum of x - about and the sum of (x - about) ** 2 for each channel.

    `about` has one number per channel.
    """
    cdef npy_intp i, c
    for c in range(batch.channels):
        totals[c] = squares[c] = 0
    for i in range(batch.images):
        if batch.inner == 1:
            if floating is float:
                add_channels_float(x, batch.channels, about, totals, squares)
            else:
                add_channels_double(x, batch.channels, about, totals, squares)
            x += batch.channels
            continue
        for c in range(batch.channels):
            if floating is float:
                add_channel_float(x, batch.inner, about[c], &totals[c], &squares[c])
            else:
                add_channel_double(x, batch.inner, about[c], &totals[c], &squares[c])
            x += batch.inner


cdef void compute_moments(const floating *x, Batch *batch, Moments *m) noexcept nogil:
    """Compute the mean and the variance of each channel in two passes over the batch.

    The first pass computes the mean. The second pass computes the variance from the differences x - mean, and
    corrects the rounding error of the mean. An infinite mean is not corrected, because the sum of x - mean is then
    infinite or NaN.
    """
    cdef double count = <double>(batch.images * batch.inner)
    cdef npy_intp c
    memset(m.shift, 0, batch.channels * sizeof(double))
    sum_channels(x, batch, m.shift, m.mean, m.variance)
    for c in range(batch.channels):
        m.mean[c] /= count
    sum_channels(x, batch, m.mean, m.shift, m.variance)
    for c in range(batch.channels):
        if isfinite(m.mean[c]):
            m.variance[c] -= m.shift[c] * m.shift[c] / count
            m.mean[c] += m.shift[c] / count
        m.variance[c] /= count


cdef void update_running(floating *running, npy_intp channels, const double *new, double factor, double momentum) noexcept nogil:
    cdef npy_intp c
    for c in range(channels):
        running[c] = <floating>((1 - momentum) * running[c] + momentum * (new[c] * factor))


# ---------------------------------------------------------------- normalized result

cdef void scale_batch(const floating *x, Batch *batch, const floating *scale, const floating *shift, floating *out) noexcept nogil:
    cdef npy_intp i, c
    for i in range(batch.images):
        if batch.inner == 1:
            if floating is float:
                scale_channels_float(x, batch.channels, scale, shift, out)
            else:
                scale_channels_double(x, batch.channels, scale, shift, out)
            x += batch.channels
            out += batch.channels
            continue
        for c in range(batch.channels):
            if floating is float:
                scale_channel_float(x, batch.inner, scale[c], shift[c], out)
            else:
                scale_channel_double(x, batch.inner, scale[c], shift[c], out)
            x += batch.inner
            out += batch.inner


cdef inline void compute_factors(
    npy_intp c, double mean, double variance, double eps, const floating *weight, const floating *bias, floating *scale, floating *shift
) noexcept nogil:
    """Express (x - mean) / sqrt(variance + eps) * weight + bias as x * scale + shift."""
    cdef double by = 1 / sqrt(variance + eps)
    if weight != NULL:
        by *= weight[c]
    scale[c] = <floating>by
    shift[c] = <floating>((0 if bias == NULL else bias[c]) - mean * by)


cdef void normalise(
    const floating *x, Batch *batch, void **vectors, Moments *m, floating *out, floating *saved_mean, floating *saved_scale
) noexcept nogil:
    """Write the normalized batch `x` to `out`. `vectors`: weight, bias, running mean and running variance.

    In training, also write the mean and 1 / sqrt(variance + eps) of each channel, unless `saved_mean` is NULL.
    """
    cdef const floating *weight = <const floating *>vectors[0]
    cdef const floating *bias = <const floating *>vectors[1]
    cdef npy_intp c
    cdef double count = <double>(batch.images * batch.inner)
    cdef floating *scale = <floating *>m.scale
    cdef floating *shift = <floating *>m.shift
    if batch.training:
        compute_moments(x, batch, m)
        if saved_mean != NULL:
            for c in range(batch.channels):
                saved_mean[c], saved_scale[c] = <floating>m.mean[c], <floating>(1 / sqrt(m.variance[c] + batch.eps))
        if vectors[2] != NULL:
            update_running(<floating *>vectors[2], batch.channels, m.mean, 1, batch.momentum)
        if vectors[3] != NULL:
            update_running(<floating *>vectors[3], batch.channels, m.variance, count / (count - 1) if count > 1 else NAN, batch.momentum)
    else:
        for c in range(batch.channels):
            m.mean[c] = (<floating *>vectors[2])[c]
            m.variance[c] = (<floating *>vectors[3])[c]
    for c in range(batch.channels):
        compute_factors(c, m.mean[c], m.variance[c], batch.eps, weight, bias, scale, shift)
    scale_batch(x, batch, scale, shift, out)


# ---------------------------------------------------------------- arguments from registers

cdef int batch_norm(Operator op, IValue *r, const int32_t *at) except -1:
    """Run batch_norm, or native_batch_norm, which also returns the mean and the inverse standard deviation."""
    cdef PyArrayObject *a = NULL
    cdef Batch batch
    cdef Moments m
    cdef void *vectors[4]              # weight, bias, running mean, running variance
    cdef void *out
    cdef bint channels_last = False
    cdef int kind, i
    cdef bint returns_moments = op.nrets == 3
    cdef npy_intp saved_count
    cdef void *saved_data[2]
    cdef object result, saved_mean, saved_scale
    cdef ReleasedGil gil_state
    if is_tensor(&r[at[0]]) and (<Tensor>r[at[0]].v.o).backend == BACKEND_CPU:
        a = <PyArrayObject *>(<Tensor>r[at[0]].v.o).array
        channels_last = ndim_of(a) > 3 and is_channels_last(a)
        if not (dense_channels_last(a) if channels_last else contiguous_array_or_null(&r[at[0]]) != NULL):
            a = NULL
    batch.training = r[at[5]].v.i
    if a == NULL or ndim_of(a) < 2 or size_of(a) == 0:
        return UNSUPPORTED
    if not batch.training and (r[at[3]].tag == TAG_NONE or r[at[4]].tag == TAG_NONE):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    batch.channels = dims_of(a)[1]
    if kind != FLOAT and kind != DOUBLE:
        return UNSUPPORTED
    for i in range(4):
        if not read_vector(&r[at[i + 1]], kind, batch.channels, batch.training and i > 1, &vectors[i]):
            return UNSUPPORTED
    batch.images = dims_of(a)[0]
    batch.inner = size_of(a) // (batch.images * batch.channels)
    if channels_last:
        batch.images *= batch.inner
        batch.inner = 1
    batch.momentum = r[at[6]].v.f
    batch.eps = r[at[7]].v.f
    result = new_channels_last(ndim_of(a), dims_of(a), kind) if channels_last else new_like(a, kind)
    out = data_of(<PyArrayObject *>result)
    saved_data[0] = saved_data[1] = NULL
    if returns_moments:
        saved_count = batch.channels if batch.training else 0
        saved_mean, saved_scale = new_contiguous(1, &saved_count, kind), new_contiguous(1, &saved_count, kind)
        saved_data[0], saved_data[1] = data_of(<PyArrayObject *>saved_mean), data_of(<PyArrayObject *>saved_scale)
    m.mean = <double *>malloc(4 * batch.channels * sizeof(double))
    if m.mean == NULL:
        raise MemoryError()
    m.variance = m.mean + batch.channels
    m.scale = m.variance + batch.channels
    m.shift = m.scale + batch.channels
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    if kind == FLOAT:
        normalise[float](<float *>data_of(a), &batch, vectors, &m, <float *>out, <float *>saved_data[0], <float *>saved_data[1])
    else:
        normalise[double](<double *>data_of(a), &batch, vectors, &m, <double *>out, <double *>saved_data[0], <double *>saved_data[1])
    take_gil(gil_state)
    free(m.mean)
    for i in range(3, 5):  # the update increments no version counter, as in PyTorch
        if batch.training and let_go != NULL and is_tensor(&r[at[i]]):
            let_go(<PyObject *>(<Tensor>r[at[i]].v.o).array, False)
    if returns_moments:
        set_result(&r[at[op.nargs + 1]], saved_mean, kind)
        set_result(&r[at[op.nargs + 2]], saved_scale, kind)
    return set_result(&r[at[op.nargs]], result, kind)


# ---------------------------------------------------------------- loops of fusion groups

cdef void scale_tile(Tile *tile, const floating *x, npy_intp n, floating *out) noexcept nogil:
    """Compute x * scale + shift for `n` elements, where scale and shift depend on the element's channel.

    `tile.at` is the index in the tensor of the first element.
    """
    cdef const floating *scale = <const floating *>tile.vectors
    cdef const floating *shift = scale + tile.channels
    cdef npy_intp c = tile.at // tile.inner % tile.channels, count = tile.inner - tile.at % tile.inner, j
    cdef floating by, plus
    while n > 0:
        if tile.inner == 1:
            count = min(n, tile.channels - c)
            for j in range(count):
                out[j] = x[j] * scale[c + j] + shift[c + j]
            c = 0
        else:
            count = min(n, count)
            by = scale[c]
            plus = shift[c]
            for j in range(count):
                out[j] = x[j] * by + plus
            c = c + 1 if c + 1 < tile.channels else 0
        x += count
        out += count
        n -= count
        count = tile.inner


cdef void scale_floats(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    scale_tile[float](<Tile *>data, <const float *>args[0], n[0], <float *>args[1])


cdef void scale_doubles(char **args, const npy_intp *n, const npy_intp *steps, void *data) noexcept nogil:
    scale_tile[double](<Tile *>data, <const double *>args[0], n[0], <double *>args[1])


cdef void read_factors(void **vectors, npy_intp channels, double eps, floating *scale) noexcept:
    cdef npy_intp c
    for c in range(channels):
        compute_factors(
            c, (<floating *>vectors[2])[c], (<floating *>vectors[3])[c], eps, <const floating *>vectors[0], <const floating *>vectors[1],
            scale, scale + channels,
        )


cdef bint read_batch_norm(int kind, IValue **others, Tile *tile, void *memory) noexcept:
    """Prepare the fused loop of inference-mode batch normalization. Return False if the arguments are
    unsupported.
    """
    cdef void *vectors[4]
    cdef int i
    if others[4].v.i:
        return False
    for i in range(4):
        if not read_vector(others[i], kind, tile.channels, False, &vectors[i]) or (i > 1 and vectors[i] == NULL):
            return False
    if kind == FLOAT:
        tile.function = scale_floats
        read_factors[float](vectors, tile.channels, others[6].v.f, <float *>memory)
    else:
        tile.function = scale_doubles
        read_factors[double](vectors, tile.channels, others[6].v.f, <double *>memory)
    return True


register_channels("aten::batch_norm", read_batch_norm)

register_kernel("aten::batch_norm", batch_norm)
register_kernel("aten::native_batch_norm", batch_norm)
