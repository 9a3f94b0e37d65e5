"""Activations of floating CPU tensors whose elements lie in order.

In: registers with a tensor and numbers.  Out: the register of the result.

    leaky_relu(x, 0.1)      silu(x)      gelu(x), gelu(x, approximate="tanh")

Other dtypes and layouts are left to the record's own kernel.  relu and sigmoid are loops of ufuncs (`activation_loops`).
"""

cimport numpy as cnp
from libc.math cimport erfc, exp
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator
from ts.backends.cpu.kernels.in_order cimport run_in_order
from ts.backends.cpu.kernels.table cimport register_kernel
from ts._core.value.ivalue cimport IValue, TAG_OBJECT
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, size_of
from ts.backends.cpu.kernels.gil cimport COSTLY, Away, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport float_array, new_like, put_array, read_number, scalar_type

cnp.import_array()

ctypedef void (*FloatLoop)(const float *, npy_intp, float *) noexcept nogil
ctypedef void (*DoubleLoop)(const double *, npy_intp, double *) noexcept nogil

cdef extern from "activation.h" nogil:
    void simd_silu_row(const float *x, npy_intp n, float *out)
    void simd_gelu_row(const float *x, npy_intp n, float *out)
    void simd_gelu_tanh_row(const float *x, npy_intp n, float *out)
    void simd_leaky_relu_row(const float *x, npy_intp n, float slope, float *out)


cdef void silu_doubles(const double *x, npy_intp n, double *out) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        out[i] = x[i] / (1 + exp(-x[i]))


cdef void gelu_doubles(const double *x, npy_intp n, double *out) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        out[i] = 0.5 * x[i] * erfc(-0.70710678118654752440 * x[i])


cdef void leaky_relu_doubles(const double *x, npy_intp n, double slope, double *out) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        out[i] = x[i] if x[i] > 0 else x[i] * slope


cdef int run_loop(Operator op, IValue *r, const int32_t *at, FloatLoop of_floats, DoubleLoop of_doubles) except -1:
    """The first argument through one of the loops; a missing one is left to the record."""
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef int kind
    cdef object made
    cdef void *out
    cdef Away away
    if x == NULL:
        return run_in_order(op, r, at)
    kind = scalar_type(&r[at[0]])
    if kind == DOUBLE and of_doubles == NULL:
        return run_in_order(op, r, at)
    made = new_like(x, kind)
    out = data_of(<PyArrayObject *>made)
    away = leave_gil(size_of(x) * COSTLY, r, at, op.nargs)
    if kind == FLOAT:
        of_floats(<float *>data_of(x), size_of(x), <float *>out)
    else:
        of_doubles(<double *>data_of(x), size_of(x), <double *>out)
    take_gil(away)
    return put_array(&r[at[op.nargs]], made, kind)


cdef int silu(Operator op, IValue *r, const int32_t *at) except -1:
    return run_loop(op, r, at, simd_silu_row, silu_doubles)


cdef int gelu(Operator op, IValue *r, const int32_t *at) except -1:
    cdef str approximate
    if r[at[1]].tag != TAG_OBJECT or type(<object>r[at[1]].v.o) is not str:
        return run_in_order(op, r, at)
    approximate = <str>r[at[1]].v.o
    if approximate == "none":
        return run_loop(op, r, at, simd_gelu_row, gelu_doubles)
    if approximate == "tanh":
        return run_loop(op, r, at, simd_gelu_tanh_row, NULL)
    return run_in_order(op, r, at)


cdef int leaky_relu(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef double slope
    cdef int kind
    cdef object made
    cdef void *out
    cdef Away away
    if x == NULL or not read_number(&r[at[1]], scalar_type(&r[at[0]]), &slope):
        return run_in_order(op, r, at)
    kind = scalar_type(&r[at[0]])
    made = new_like(x, kind)
    out = data_of(<PyArrayObject *>made)
    away = leave_gil(size_of(x) * COSTLY, r, at, op.nargs)
    if kind == FLOAT:
        simd_leaky_relu_row(<float *>data_of(x), size_of(x), <float>slope, <float *>out)
    else:
        leaky_relu_doubles(<double *>data_of(x), size_of(x), slope, <double *>out)
    take_gil(away)
    return put_array(&r[at[op.nargs]], made, kind)


register_kernel("aten::leaky_relu", leaky_relu)
register_kernel("aten::silu", silu)
register_kernel("aten::gelu", gelu)
