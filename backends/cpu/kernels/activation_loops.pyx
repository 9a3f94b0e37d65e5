"""Inner loops of relu, sigmoid, hardswish and hardsigmoid, for which NumPy has no ufuncs.

The loops have the arguments of NumPy's inner loops: pointers, a count, and strides in bytes. Their names
contain the field `ufunc` of an operator record. Example of a registration:

    register_loops("loops:sigmoid", sigmoid)
"""

from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT32, INT64
from ts.backends.cpu.kernels.elementwise cimport Loop, Loops, add_half_loops
from ts.backends.cpu.kernels.kernel_registry cimport register_loops
from ts.backends.cpu.kernels.vector_math cimport double_row, doubles_by_row, float_row, floats_by_row

cdef extern from "activation.h" nogil:
    ctypedef void (*FloatPiece "PieceOfFloats")(const float *x, npy_intp n, float a, float b, float *out) noexcept
    ctypedef void (*DoublePiece "PieceOfDoubles")(const double *x, npy_intp n, double a, double b, double *out) noexcept
    FloatPiece float_relu, float_hardswish, float_hardsigmoid
    DoublePiece double_relu, double_hardswish, double_hardsigmoid


# ---------------------------------------------------------------- relu

ctypedef fused real:
    float
    double
    int32_t
    int64_t

cdef void relu_loop(char **args, npy_intp n, npy_intp from_stride, npy_intp to_stride, real zero) noexcept nogil:
    cdef npy_intp i
    cdef char *x = args[0]
    cdef char *y = args[1]
    cdef real value
    if from_stride == sizeof(real) and to_stride == sizeof(real):
        for i in range(n):
            value = (<real *>x)[i]
            (<real *>y)[i] = zero if value < zero else value
    else:
        for i in range(n):
            value = (<real *>(x + i * from_stride))[0]
            (<real *>(y + i * to_stride))[0] = zero if value < zero else value


cdef void relu_float(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    if s[0] == sizeof(float) == s[1]:
        float_relu(<float *>a[0], n[0], 0, 0, <float *>a[1])
    else:
        relu_loop[float](a, n[0], s[0], s[1], 0)

cdef void relu_double(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    if s[0] == sizeof(double) == s[1]:
        double_relu(<double *>a[0], n[0], 0, 0, <double *>a[1])
    else:
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
    """Return x + 3 clamped to [0, 6], or NaN for a NaN `x`."""
    x = x + 3
    x = 0 if x < 0 else x
    return 6 if x > 6 else x


cdef void hard_loop(char **args, npy_intp n, npy_intp from_stride, npy_intp to_stride, bint swish, floating kind) noexcept nogil:
    cdef npy_intp i
    cdef char *x = args[0]
    cdef char *y = args[1]
    cdef floating value
    if from_stride == sizeof(floating) and to_stride == sizeof(floating):
        if floating is float:
            (float_hardswish if swish else float_hardsigmoid)(<float *>x, n, 0, 0, <float *>y)
        else:
            (double_hardswish if swish else double_hardsigmoid)(<double *>x, n, 0, 0, <double *>y)
        return
    for i in range(n):
        value = (<floating *>(x + i * from_stride))[0]
        (<floating *>(y + i * to_stride))[0] = value * ramp(value) / 6 if swish else ramp(value) / 6


cdef void hardswish_float(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    hard_loop[float](a, n[0], s[0], s[1], True, 0)

cdef void hardswish_double(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    hard_loop[double](a, n[0], s[0], s[1], True, 0)

cdef void hardsigmoid_float(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    hard_loop[float](a, n[0], s[0], s[1], False, 0)

cdef void hardsigmoid_double(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    hard_loop[double](a, n[0], s[0], s[1], False, 0)


# ---------------------------------------------------------------- registration of the loops by name

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
    add_half_loops(loops)
    return loops


cdef int register() except -1:
    """Register the loops under the names used by operator records."""
    cdef Loops relu = Loops(), sigmoid = Loops()
    relu.arity = sigmoid.arity = 1
    relu.name, sigmoid.name = "relu", "sigmoid"
    set_loop(relu, FLOAT, relu_float)
    set_loop(relu, DOUBLE, relu_double)
    set_loop(relu, INT64, relu_int64)
    set_loop(relu, INT32, relu_int32)
    set_loop(sigmoid, FLOAT, floats_by_row)
    set_loop(sigmoid, DOUBLE, doubles_by_row)
    sigmoid.data[FLOAT], sigmoid.data[DOUBLE] = <void *>float_row("sigmoid"), <void *>double_row("sigmoid")
    add_half_loops(relu)
    add_half_loops(sigmoid)
    register_loops("loops:relu", relu)
    register_loops("loops:sigmoid", sigmoid)
    register_loops("loops:hardswish", floating_loops("hardswish", hardswish_float, hardswish_double))
    register_loops("loops:hardsigmoid", floating_loops("hardsigmoid", hardsigmoid_float, hardsigmoid_double))
    return 0


register()
