"""Normalisation of CPU tensors whose elements lie in order: by layers, by groups of channels.

In: registers with a floating tensor and the weights of a layer.  Out: the register of the result.

    layer_norm, group_norm                  batch_norm has a file of its own

Moments are computed about the rounded mean and corrected, in double.
Everything else is left to the record's own kernel: other layouts and dtypes, no elements, wrong arguments.
"""

cimport numpy as cnp
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.value.container cimport List
from ts._core.dispatch.operator cimport Operator
from ts.backends.cpu.kernels.in_order cimport run_in_order
from ts.backends.cpu.kernels.table cimport register_kernel
from ts._core.value.ivalue cimport IValue, TAG_NONE
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts.backends.cpu.kernels.gil cimport Away, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport flat_array, new_like, put_array, scalar_type
from ts.backends.cpu.kernels.reduce cimport BLOCK, block_squares, block_sum, floating

cnp.import_array()

cdef extern from "simd.h" nogil:
    void simd_normalise(const float *x, npy_intp n, float about, float scale, float shift, float *out)
    void simd_moments(const float *x, npy_intp n, double eps, double *mean, double *scale)
    void simd_layer_norm(
        const float *x, npy_intp rows, npy_intp n, const float *weight, const float *bias, double eps, float *out
    )


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
    """The mean, and 1 / sqrt(variance + eps)."""
    if floating is float:
        simd_moments(x, n, eps, mean, scale)
    else:
        double_moments(x, n, eps, mean, scale)


# ---------------------------------------------------------------- the layers

cdef void normalise_rows(
    const floating *x, npy_intp rows, npy_intp n, const floating *weight, const floating *bias, double eps, floating *out
) noexcept nogil:
    cdef double mean, scale
    cdef npy_intp i, j
    if floating is float:
        simd_layer_norm(x, rows, n, weight, bias, eps, out)
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
                simd_normalise(x, inner, 0, scale, shift, out)
            else:
                for j in range(inner):
                    out[j] = x[j] * scale + shift
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
    cdef Away away
    if a == NULL or type(shape) is not List or not 0 < shape.size <= ndim_of(a) or size_of(a) == 0:
        return run_in_order(op, r, at)
    nd = ndim_of(a)
    kind = scalar_type(&r[at[0]])
    for i in range(<int>shape.size):
        if shape.items[i].v.i != dims_of(a)[nd - <int>shape.size + i]:
            return run_in_order(op, r, at)
        n *= shape.items[i].v.i
    for i in range(2, 4):  # a weight has the very shape
        if r[at[i]].tag == TAG_NONE:
            continue
        if flat_array(&r[at[i]]) == NULL or ndim_of(flat_array(&r[at[i]])) != shape.size:
            return run_in_order(op, r, at)
        for d in range(<int>shape.size):
            if dims_of(flat_array(&r[at[i]]))[d] != shape.items[d].v.i:
                return run_in_order(op, r, at)
    if (kind != FLOAT and kind != DOUBLE) or not vector(&r[at[2]], kind, n, &weight):
        return run_in_order(op, r, at)
    if not vector(&r[at[3]], kind, n, &bias):
        return run_in_order(op, r, at)
    made = new_like(a, kind)
    out = data_of(<PyArrayObject *>made)
    away = leave_gil(size_of(a), r, at, op.nargs)
    if kind == FLOAT:
        normalise_rows[float](
            <float *>data_of(a), size_of(a) // n, n, <float *>weight, <float *>bias, r[at[4]].v.f, <float *>out
        )
    else:
        normalise_rows[double](
            <double *>data_of(a), size_of(a) // n, n, <double *>weight, <double *>bias, r[at[4]].v.f, <double *>out
        )
    take_gil(away)
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
    cdef Away away
    if a == NULL or ndim_of(a) < 2 or size_of(a) == 0 or groups <= 0 or dims_of(a)[1] % groups:
        return run_in_order(op, r, at)
    kind = scalar_type(&r[at[0]])
    channels = dims_of(a)[1]
    if (kind != FLOAT and kind != DOUBLE) or not vector(&r[at[2]], kind, channels, &weight):
        return run_in_order(op, r, at)
    if not vector(&r[at[3]], kind, channels, &bias):
        return run_in_order(op, r, at)
    inner = size_of(a) // (dims_of(a)[0] * channels)
    made = new_like(a, kind)
    out = data_of(<PyArrayObject *>made)
    away = leave_gil(size_of(a), r, at, op.nargs)
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
    take_gil(away)
    return put_array(&r[at[op.nargs]], made, kind)


register_kernel("aten::layer_norm", layer_norm)
register_kernel("aten::group_norm", group_norm)
