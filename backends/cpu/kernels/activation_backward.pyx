"""Backward of piecewise linear activations, sigmoid and tanh, in one pass.

Input: interpreter registers with the result's gradient, the activation's input and its parameters. For
sigmoid and tanh, the result replaces the input. Output: the register of the input's gradient.

The kernels support float32 and float64 tensors of equal shapes. For other arguments, the operator's Python
kernel runs. Example:

    threshold_backward(grad, x, 0)
"""

from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport FLOAT, PyArrayObject, data_of, same_shape, size_of
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport float_array, new_like, set_result, read_number, scalar_type
from ts.backends.cpu.kernels.parallel_for cimport VECTOR_BLOCK_ELEMENTS, parallel_ranges
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel

cdef extern from "activation.h" nogil:
    ctypedef void (*FloatBackward "BackwardOfFloats")(const float *g, const float *x, npy_intp n, float a, float b, float *out) noexcept
    ctypedef void (*DoubleBackward "BackwardOfDoubles")(const double *g, const double *x, npy_intp n, double a, double b, double *out) noexcept
    FloatBackward float_sigmoid_backward, float_tanh_backward, float_threshold_backward, float_between_backward, float_leaky_backward, float_shrink_backward
    FloatBackward float_hardsigmoid_backward, float_hardswish_backward
    DoubleBackward double_sigmoid_backward, double_tanh_backward, double_threshold_backward, double_between_backward, double_leaky_backward, double_shrink_backward
    DoubleBackward double_hardsigmoid_backward, double_hardswish_backward


cdef struct BackwardTask:
    FloatBackward of_floats
    DoubleBackward of_doubles
    int kind
    char *grad
    char *x
    double parameters[2]
    char *out


cdef int run_backward_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Compute the elements [start, end)."""
    cdef BackwardTask *task = <BackwardTask *>context
    if task.kind == FLOAT:
        task.of_floats(
            <float *>task.grad + start, <float *>task.x + start, end - start, <float>task.parameters[0], <float>task.parameters[1],
            <float *>task.out + start,
        )
    else:
        task.of_doubles(
            <double *>task.grad + start, <double *>task.x + start, end - start, task.parameters[0], task.parameters[1],
            <double *>task.out + start,
        )
    return 0


cdef int run_backward(
    Operator op, IValue *r, const int32_t *at, FloatBackward of_floats, DoubleBackward of_doubles, int count
) except -1:
    """Run a backward loop with the `count` scalar arguments that follow the two tensors."""
    cdef PyArrayObject *g = float_array(&r[at[0]])
    cdef PyArrayObject *x = float_array(&r[at[1]])
    cdef BackwardTask task
    cdef int kind, i
    cdef object result
    cdef ReleasedGil gil_state
    if g == NULL or x == NULL or scalar_type(&r[at[0]]) != scalar_type(&r[at[1]]) or not same_shape(g, x):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    task.parameters[0] = task.parameters[1] = 0
    for i in range(count):
        if not read_number(&r[at[2 + i]], kind, &task.parameters[i]):
            return UNSUPPORTED
    result = new_like(g, kind)
    task.of_floats, task.of_doubles, task.kind = of_floats, of_doubles, kind
    task.grad, task.x, task.out = data_of(g), data_of(x), data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(g), r, at, op.nargs)
    parallel_ranges(run_backward_range, &task, size_of(g), 1, VECTOR_BLOCK_ELEMENTS)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int sigmoid_backward(Operator op, IValue *r, const int32_t *at) except -1:
    return run_backward(op, r, at, float_sigmoid_backward, double_sigmoid_backward, 0)

cdef int tanh_backward(Operator op, IValue *r, const int32_t *at) except -1:
    return run_backward(op, r, at, float_tanh_backward, double_tanh_backward, 0)

cdef int threshold_backward(Operator op, IValue *r, const int32_t *at) except -1:
    return run_backward(op, r, at, float_threshold_backward, double_threshold_backward, 1)

cdef int hardtanh_backward(Operator op, IValue *r, const int32_t *at) except -1:
    return run_backward(op, r, at, float_between_backward, double_between_backward, 2)

cdef int leaky_relu_backward(Operator op, IValue *r, const int32_t *at) except -1:
    # If `self_is_result` is true, x is the result of leaky_relu instead of the input. The operator's Python
    # kernel then runs, because it checks that the slope is not negative.
    if r[at[3]].v.i:
        return UNSUPPORTED
    return run_backward(op, r, at, float_leaky_backward, double_leaky_backward, 1)

cdef int shrink_backward(Operator op, IValue *r, const int32_t *at) except -1:
    return run_backward(op, r, at, float_shrink_backward, double_shrink_backward, 1)

cdef int hardsigmoid_backward(Operator op, IValue *r, const int32_t *at) except -1:
    return run_backward(op, r, at, float_hardsigmoid_backward, double_hardsigmoid_backward, 0)

cdef int hardswish_backward(Operator op, IValue *r, const int32_t *at) except -1:
    return run_backward(op, r, at, float_hardswish_backward, double_hardswish_backward, 0)


register_kernel("aten::sigmoid_backward", sigmoid_backward, CONTIGUOUS)
register_kernel("aten::tanh_backward", tanh_backward, CONTIGUOUS)
register_kernel("aten::threshold_backward", threshold_backward, CONTIGUOUS)
register_kernel("aten::hardtanh_backward", hardtanh_backward, CONTIGUOUS)
register_kernel("aten::leaky_relu_backward", leaky_relu_backward, CONTIGUOUS)
register_kernel("aten::softshrink_backward", shrink_backward, CONTIGUOUS)
register_kernel("aten::hardshrink_backward", shrink_backward, CONTIGUOUS)
register_kernel("aten::hardsigmoid_backward", hardsigmoid_backward, CONTIGUOUS)
register_kernel("aten::hardswish_backward", hardswish_backward, CONTIGUOUS)
