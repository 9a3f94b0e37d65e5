"""Inner loops that NumPy has no ufunc for: relu and sigmoid, hardswish and hardsigmoid.

In: operands as NumPy's inner loops take them (pointers, count, steps in bytes).  Out: `activation_loops()`, by name:

    activation_loops()["sigmoid"].covers(6)    whether there is one for float32

Sigmoid of floats that lie in order is that of `activation.h`; else it runs in tiles through NumPy's vectorised exponential, on
scratch that stays in the first-level cache.
"""

from functools import cache

from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT32, INT64
from ts.backends.cpu.kernels.elementwise cimport Loop, Loops, serve_shorts

from ts.backends.cpu.kernels.elementwise import ufunc_loops


cdef extern from "activation.h" nogil:
    void simd_sigmoid_row(const float *x, npy_intp n, float *out)


# ---------------------------------------------------------------- relu

ctypedef fused real:
    float
    double
    int32_t
    int64_t

cdef void relu_loop(char **args, npy_intp n, npy_intp from_step, npy_intp to_step, real zero) noexcept nogil:
    cdef npy_intp i
    cdef char *x = args[0]
    cdef char *y = args[1]
    cdef real value
    if from_step == sizeof(real) and to_step == sizeof(real):
        for i in range(n):
            value = (<real *>x)[i]
            (<real *>y)[i] = zero if value < zero else value
    else:
        for i in range(n):
            value = (<real *>(x + i * from_step))[0]
            (<real *>(y + i * to_step))[0] = zero if value < zero else value


cdef void relu_float(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    relu_loop[float](a, n[0], s[0], s[1], 0)

cdef void relu_double(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    relu_loop[double](a, n[0], s[0], s[1], 0)

cdef void relu_int64(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    relu_loop[int64_t](a, n[0], s[0], s[1], 0)

cdef void relu_int32(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    relu_loop[int32_t](a, n[0], s[0], s[1], 0)


# ---------------------------------------------------------------- hardswish, hardsigmoid

ctypedef fused floating:
    float
    double


cdef inline floating ramp(floating x) noexcept nogil:
    """x + 3 within 0 and 6; NaN stays."""
    x = x + 3
    x = 0 if x < 0 else x
    return 6 if x > 6 else x


cdef void hard_loop(char **args, npy_intp n, npy_intp from_step, npy_intp to_step, bint swish, floating kind) noexcept nogil:
    cdef npy_intp i
    cdef char *x = args[0]
    cdef char *y = args[1]
    cdef floating value
    if from_step == sizeof(floating) and to_step == sizeof(floating):
        if swish:
            for i in range(n):
                value = (<floating *>x)[i]
                (<floating *>y)[i] = value * ramp(value) / 6
        else:
            for i in range(n):
                (<floating *>y)[i] = ramp((<floating *>x)[i]) / 6
        return
    for i in range(n):
        value = (<floating *>(x + i * from_step))[0]
        (<floating *>(y + i * to_step))[0] = value * ramp(value) / 6 if swish else ramp(value) / 6


cdef void hardswish_float(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    hard_loop[float](a, n[0], s[0], s[1], True, 0)

cdef void hardswish_double(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    hard_loop[double](a, n[0], s[0], s[1], True, 0)

cdef void hardsigmoid_float(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    hard_loop[float](a, n[0], s[0], s[1], False, 0)

cdef void hardsigmoid_double(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    hard_loop[double](a, n[0], s[0], s[1], False, 0)


# ---------------------------------------------------------------- sigmoid

cdef Loop exp_float = NULL       # NumPy's vectorised exponentials
cdef Loop exp_double = NULL

cdef enum:
    TILE = 1024                        # elements of scratch


cdef inline void sigmoid_loop(
    char *source, char *target, npy_intp left, npy_intp from_step, npy_intp to_step, Loop exponential, floating *scratch
) noexcept nogil:
    cdef npy_intp i, count, step = sizeof(floating)
    cdef char *args[2]
    cdef npy_intp steps[2]
    args[0] = args[1] = <char *>scratch
    steps[0] = steps[1] = step
    while left > 0:
        count = min(left, <npy_intp>TILE)
        if from_step == step:  # a loop of its own, because it vectorises
            for i in range(count):
                scratch[i] = -(<floating *>source)[i]
        else:
            for i in range(count):
                scratch[i] = -(<floating *>(source + i * from_step))[0]
        exponential(args, &count, steps, NULL)
        if to_step == step:
            for i in range(count):
                (<floating *>target)[i] = 1 / (1 + scratch[i])
        else:
            for i in range(count):
                (<floating *>(target + i * to_step))[0] = 1 / (1 + scratch[i])
        source += count * from_step
        target += count * to_step
        left -= count


cdef void sigmoid_float(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    cdef float scratch[TILE]
    if s[0] == sizeof(float) and s[1] == sizeof(float):
        simd_sigmoid_row(<const float *>a[0], n[0], <float *>a[1])
        return
    sigmoid_loop[float](a[0], a[1], n[0], s[0], s[1], exp_float, scratch)


cdef void sigmoid_double(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    cdef double scratch[TILE]
    sigmoid_loop[double](a[0], a[1], n[0], s[0], s[1], exp_double, scratch)


# ---------------------------------------------------------------- by name

cdef int set_loop(Loops loops, int scalar_type, Loop function) except -1:
    loops.function[scalar_type] = function
    loops.result_type[scalar_type] = scalar_type
    return 0


cdef Loops floating_loops(str name, Loop single, Loop double_):
    cdef Loops loops = Loops()
    loops.arity = 1
    loops.name = name
    set_loop(loops, FLOAT, single)
    set_loop(loops, DOUBLE, double_)
    serve_shorts(loops)
    return loops


@cache
def activation_loops():
    """The loops by the names that records give."""
    global exp_float, exp_double
    cdef Loops exponential = ufunc_loops("exp"), relu = Loops(), sigmoid = Loops()
    exp_float = exponential.function[FLOAT]
    exp_double = exponential.function[DOUBLE]
    relu.arity = sigmoid.arity = 1
    relu.name, sigmoid.name = "relu", "sigmoid"
    set_loop(relu, FLOAT, relu_float)
    set_loop(relu, DOUBLE, relu_double)
    set_loop(relu, INT64, relu_int64)
    set_loop(relu, INT32, relu_int32)
    set_loop(sigmoid, FLOAT, sigmoid_float)
    set_loop(sigmoid, DOUBLE, sigmoid_double)
    serve_shorts(relu)
    serve_shorts(sigmoid)
    return {
        "relu": relu,
        "sigmoid": sigmoid,
        "hardswish": floating_loops("hardswish", hardswish_float, hardswish_double),
        "hardsigmoid": floating_loops("hardsigmoid", hardsigmoid_float, hardsigmoid_double),
    }
