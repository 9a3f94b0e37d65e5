"""Pointwise operators with numbers beside their tensors, on CPU tensors of one dtype whose elements lie in order.

In: registers with floating tensors of one shape, and numbers.  Out: the register of the result.

    x.clamp(0, 1), clamp_min, clamp_max      x ** 2             1 - x, add(x, y, alpha=2)
    leaky_relu(x, 0.1), silu(x), gelu(x)     lerp(x, y, 0.5)    addcmul(x, y, z)
    k % 3, k // 3                            of whole numbers

Broadcasting, other dtypes and layouts are left to the record's own kernel.
"""

cimport numpy as cnp
from libc.float cimport FLT_MAX
from libc.math cimport erfc, exp, fabs
from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, run_record
from ts.backends.cpu.kernels.table cimport register_kernel
from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_NONE, TAG_OBJECT
from ts.backends.cpu.kernels.kernel cimport PyThreadState, flat_array, leave_gil, new_like, put_array, scalar_type, take_gil
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT64, PyArrayObject, data_of, dims_of, ndim_of, size_of
cnp.import_array()

ctypedef void (*Curve)(const float *, npy_intp, float *) noexcept nogil
ctypedef void (*FloatBlend)(const float *, const float *, const float *, npy_intp, float, float *) noexcept nogil

cdef extern from "curves.h" nogil:
    void curve_silu(const float *x, npy_intp n, float *out)
    void curve_gelu(const float *x, npy_intp n, float *out)
    void curve_gelu_tanh(const float *x, npy_intp n, float *out)
    FloatBlend blend_square, blend_leaky, blend_lowered, blend_scaled_sum, blend_product_sum, blend_from_first, blend_from_second
    void limit_between(const float *x, npy_intp n, float low, float high, float *out)
    void limit_low(const float *x, npy_intp n, float low, float *out)
    void limit_high(const float *x, npy_intp n, float high, float *out)

ctypedef fused floating:
    float
    double

ctypedef fused number:
    double
    int64_t


cdef bint read_number(IValue *x, int kind, double *out) noexcept:
    """A finite number that the floating dtype holds."""
    if x.tag == TAG_FLOAT:
        out[0] = x.v.f
    elif x.tag == TAG_INT or x.tag == TAG_BOOL:
        out[0] = <double>x.v.i
    else:
        return False
    return fabs(out[0]) <= FLT_MAX if kind == FLOAT else out[0] - out[0] == 0


cdef PyArrayObject *floats(IValue *x) noexcept:
    cdef PyArrayObject *a = flat_array(x)
    return a if a != NULL and (scalar_type(x) == FLOAT or scalar_type(x) == DOUBLE) else NULL


cdef PyArrayObject *alike(PyArrayObject *a, int kind, IValue *x) noexcept:
    """The array of another tensor of the dtype and shape of `a`."""
    cdef PyArrayObject *b = flat_array(x)
    cdef int d
    if b == NULL or scalar_type(x) != kind or ndim_of(a) != ndim_of(b):
        return NULL
    for d in range(ndim_of(a)):
        if dims_of(a)[d] != dims_of(b)[d]:
            return NULL
    return b


# ---------------------------------------------------------------- limits

cdef void limit(const number *x, npy_intp n, bint has_low, number low, bint has_high, number high, number *out) noexcept nogil:
    """NaN stays, and the upper limit wins."""
    cdef npy_intp i
    cdef number value
    if has_low and has_high:
        for i in range(n):
            value = low if x[i] < low else x[i]
            out[i] = high if value > high else value
    elif has_low:
        for i in range(n):
            out[i] = low if x[i] < low else x[i]
    else:
        for i in range(n):
            out[i] = high if x[i] > high else x[i]


cdef int clamp_between(Operator op, IValue *r, const int32_t *at, IValue *low, IValue *high) except -1:
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef bint has_low = low != NULL and low.tag != TAG_NONE, has_high = high != NULL and high.tag != TAG_NONE
    cdef double least = 0, most = 0
    cdef int kind
    cdef object made
    cdef void *out
    cdef PyThreadState *state
    if a == NULL or not (has_low or has_high):
        return run_record(op, r, at)
    kind = scalar_type(&r[at[0]])
    if kind == INT64:
        if (has_low and low.tag != TAG_INT) or (has_high and high.tag != TAG_INT):
            return run_record(op, r, at)
    elif kind != FLOAT and kind != DOUBLE:
        return run_record(op, r, at)
    elif (has_low and not read_number(low, kind, &least)) or (has_high and not read_number(high, kind, &most)):
        return run_record(op, r, at)
    made = new_like(a, kind)
    out = data_of(<PyArrayObject *>made)
    state = leave_gil(size_of(a))
    if kind == FLOAT and has_low and has_high:
        limit_between(<float *>data_of(a), size_of(a), <float>least, <float>most, <float *>out)
    elif kind == FLOAT and has_low:
        limit_low(<float *>data_of(a), size_of(a), <float>least, <float *>out)
    elif kind == FLOAT:
        limit_high(<float *>data_of(a), size_of(a), <float>most, <float *>out)
    elif kind == DOUBLE:
        limit[double](<double *>data_of(a), size_of(a), has_low, least, has_high, most, <double *>out)
    else:
        limit[int64_t](
            <int64_t *>data_of(a), size_of(a), has_low, low.v.i if has_low else 0, has_high, high.v.i if has_high else 0,
            <int64_t *>out,
        )
    take_gil(state)
    return put_array(&r[at[op.nargs]], made, kind)


cdef int clamp(Operator op, IValue *r, const int32_t *at) except -1:
    return clamp_between(op, r, at, &r[at[1]], &r[at[2]])

cdef int clamp_min(Operator op, IValue *r, const int32_t *at) except -1:
    return clamp_between(op, r, at, &r[at[1]], NULL)

cdef int clamp_max(Operator op, IValue *r, const int32_t *at) except -1:
    return clamp_between(op, r, at, NULL, &r[at[1]])


# ---------------------------------------------------------------- of one tensor

cdef enum Blend:
    SQUARE
    LEAKY
    LOWERED
    SCALED_SUM
    PRODUCT_SUM
    FROM_FIRST                         # of an interpolation: where the second has the smaller weight
    FROM_SECOND

cdef FloatBlend *float_blends = [
    blend_square, blend_leaky, blend_lowered, blend_scaled_sum, blend_product_sum, blend_from_first, blend_from_second
]


cdef void blend_doubles(
    Blend what, const double *x, const double *y, const double *z, npy_intp n, double by, double *out
) noexcept nogil:
    cdef npy_intp i
    if what == SQUARE:
        for i in range(n):
            out[i] = x[i] * x[i]
    elif what == LEAKY:
        for i in range(n):
            out[i] = x[i] if x[i] > 0 else x[i] * by
    elif what == LOWERED:
        for i in range(n):
            out[i] = by - x[i]
    elif what == SCALED_SUM:
        for i in range(n):
            out[i] = x[i] + by * y[i]
    elif what == PRODUCT_SUM:
        for i in range(n):
            out[i] = x[i] + by * y[i] * z[i]
    elif what == FROM_FIRST:
        for i in range(n):
            out[i] = x[i] + by * (y[i] - x[i])
    else:
        for i in range(n):
            out[i] = y[i] - (y[i] - x[i]) * (1 - by)


cdef int put_blend(
    Operator op, IValue *r, const int32_t *at, Blend what, PyArrayObject *x, PyArrayObject *y, PyArrayObject *z, double by
) except -1:
    cdef int kind = scalar_type(&r[at[0]])
    cdef object made = new_like(x, kind)
    cdef void *out = data_of(<PyArrayObject *>made)
    cdef void *second = NULL if y == NULL else data_of(y)
    cdef void *third = NULL if z == NULL else data_of(z)
    cdef PyThreadState *state = leave_gil(size_of(x))
    if kind == FLOAT:
        float_blends[<int>what](<float *>data_of(x), <float *>second, <float *>third, size_of(x), <float>by, <float *>out)
    else:
        blend_doubles(what, <double *>data_of(x), <double *>second, <double *>third, size_of(x), by, <double *>out)
    take_gil(state)
    return put_array(&r[at[op.nargs]], made, kind)


cdef bint is_one(IValue *x) noexcept:
    return (x.tag == TAG_INT and x.v.i == 1) or (x.tag == TAG_FLOAT and x.v.f == 1)


cdef int rsub(Operator op, IValue *r, const int32_t *at) except -1:
    """1 - x"""
    cdef PyArrayObject *x = floats(&r[at[0]])
    cdef double by
    if x == NULL or r[at[1]].tag == TAG_BOOL or not is_one(&r[at[2]]) or not read_number(&r[at[1]], scalar_type(&r[at[0]]), &by):
        return run_record(op, r, at)
    return put_blend(op, r, at, LOWERED, x, NULL, NULL, by)


cdef int scaled_sum(Operator op, IValue *r, const int32_t *at) except -1:
    """x + alpha * y"""
    cdef PyArrayObject *x = floats(&r[at[0]])
    cdef PyArrayObject *y
    cdef double by
    if x == NULL or r[at[2]].tag == TAG_BOOL or not read_number(&r[at[2]], scalar_type(&r[at[0]]), &by):
        return run_record(op, r, at)
    y = alike(x, scalar_type(&r[at[0]]), &r[at[1]])
    if y == NULL:
        return run_record(op, r, at)
    return put_blend(op, r, at, SCALED_SUM, x, y, NULL, by)


cdef int power(Operator op, IValue *r, const int32_t *at) except -1:
    """x ** 2"""
    cdef PyArrayObject *x = floats(&r[at[0]])
    cdef IValue *by = &r[at[1]]
    if x == NULL or not ((by.tag == TAG_INT and by.v.i == 2) or (by.tag == TAG_FLOAT and by.v.f == 2)):
        return run_record(op, r, at)
    return put_blend(op, r, at, SQUARE, x, NULL, NULL, 0)


cdef int leaky_relu(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = floats(&r[at[0]])
    cdef double by
    if x == NULL or not read_number(&r[at[1]], scalar_type(&r[at[0]]), &by):
        return run_record(op, r, at)
    return put_blend(op, r, at, LEAKY, x, NULL, NULL, by)


cdef int put_curve(Operator op, IValue *r, const int32_t *at, PyArrayObject *x, Curve curve) except -1:
    cdef object made = new_like(x, FLOAT)
    cdef PyThreadState *state = leave_gil(size_of(x))
    curve(<const float *>data_of(x), size_of(x), <float *>data_of(<PyArrayObject *>made))
    take_gil(state)
    return put_array(&r[at[op.nargs]], made, FLOAT)


cdef void silu_doubles(const double *x, npy_intp n, double *out) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        out[i] = x[i] / (1 + exp(-x[i]))


cdef void gelu_doubles(const double *x, npy_intp n, double *out) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        out[i] = 0.5 * x[i] * erfc(-0.70710678118654752440 * x[i])


cdef int silu(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = floats(&r[at[0]])
    cdef object made
    cdef PyThreadState *state
    if x == NULL:
        return run_record(op, r, at)
    if scalar_type(&r[at[0]]) == FLOAT:
        return put_curve(op, r, at, x, curve_silu)
    made = new_like(x, DOUBLE)
    state = leave_gil(size_of(x))
    silu_doubles(<double *>data_of(x), size_of(x), <double *>data_of(<PyArrayObject *>made))
    take_gil(state)
    return put_array(&r[at[op.nargs]], made, DOUBLE)


cdef int gelu(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = floats(&r[at[0]])
    cdef str approximate
    cdef object made
    cdef PyThreadState *state
    if x == NULL or r[at[1]].tag != TAG_OBJECT or type(<object>r[at[1]].v.o) is not str:
        return run_record(op, r, at)
    approximate = <str>r[at[1]].v.o
    if scalar_type(&r[at[0]]) == FLOAT and approximate == "none":
        return put_curve(op, r, at, x, curve_gelu)
    if scalar_type(&r[at[0]]) == FLOAT and approximate == "tanh":
        return put_curve(op, r, at, x, curve_gelu_tanh)
    if approximate != "none":
        return run_record(op, r, at)
    made = new_like(x, DOUBLE)
    state = leave_gil(size_of(x))
    gelu_doubles(<double *>data_of(x), size_of(x), <double *>data_of(<PyArrayObject *>made))
    take_gil(state)
    return put_array(&r[at[op.nargs]], made, DOUBLE)


# ---------------------------------------------------------------- whole numbers

cdef void divide(bint rest, const int64_t *x, npy_intp n, int64_t by, int64_t *out) noexcept nogil:
    """x % by or x // by, rounded as in Python; `by` is neither 0 nor -1."""
    cdef npy_intp i
    cdef int64_t left
    if rest:
        for i in range(n):
            left = x[i] % by
            out[i] = left + by if left != 0 and (left ^ by) < 0 else left
    else:
        for i in range(n):
            left = x[i] % by
            out[i] = x[i] // by - (left != 0 and (left ^ by) < 0)


cdef int divided(Operator op, IValue *r, const int32_t *at, bint rest) except -1:
    cdef PyArrayObject *x = flat_array(&r[at[0]])
    cdef int64_t by
    cdef object made
    cdef PyThreadState *state
    if x == NULL or scalar_type(&r[at[0]]) != INT64 or r[at[1]].tag != TAG_INT:
        return run_record(op, r, at)
    by = r[at[1]].v.i
    if by == 0 or by == -1:  # an error; what overflows
        return run_record(op, r, at)
    made = new_like(x, INT64)
    state = leave_gil(size_of(x))
    divide(rest, <int64_t *>data_of(x), size_of(x), by, <int64_t *>data_of(<PyArrayObject *>made))
    take_gil(state)
    return put_array(&r[at[op.nargs]], made, INT64)


cdef int remainder(Operator op, IValue *r, const int32_t *at) except -1:
    return divided(op, r, at, True)

cdef int floor_divide(Operator op, IValue *r, const int32_t *at) except -1:
    return divided(op, r, at, False)


# ---------------------------------------------------------------- of several

cdef int lerp(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = floats(&r[at[0]])
    cdef PyArrayObject *y
    cdef double by
    if x == NULL or not read_number(&r[at[2]], scalar_type(&r[at[0]]), &by):
        return run_record(op, r, at)
    y = alike(x, scalar_type(&r[at[0]]), &r[at[1]])
    if y == NULL:
        return run_record(op, r, at)
    return put_blend(op, r, at, FROM_FIRST if -0.5 < by < 0.5 else FROM_SECOND, x, y, NULL, by)


cdef int addcmul(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = floats(&r[at[0]])
    cdef PyArrayObject *y
    cdef PyArrayObject *z
    cdef double by
    if x == NULL or not read_number(&r[at[3]], scalar_type(&r[at[0]]), &by):
        return run_record(op, r, at)
    y = alike(x, scalar_type(&r[at[0]]), &r[at[1]])
    z = alike(x, scalar_type(&r[at[0]]), &r[at[2]])
    if y == NULL or z == NULL:
        return run_record(op, r, at)
    return put_blend(op, r, at, PRODUCT_SUM, x, y, z, by)


register_kernel("aten::clamp", clamp)
register_kernel("aten::clip", clamp)
register_kernel("aten::clamp_min", clamp_min)
register_kernel("aten::clamp_max", clamp_max)
register_kernel("aten::pow.Tensor_Scalar", power)
register_kernel("aten::leaky_relu", leaky_relu)
register_kernel("aten::silu", silu)
register_kernel("aten::gelu", gelu)
register_kernel("aten::rsub.Scalar", rsub)
register_kernel("scaled_sum", scaled_sum)
register_kernel("aten::remainder.Scalar", remainder)
register_kernel("aten::floor_divide.Scalar", floor_divide)
register_kernel("aten::lerp.Scalar", lerp)
register_kernel("aten::addcmul", addcmul)
