"""Elementwise losses of predictions and targets on the CPU.

Input: interpreter registers with two float32 or float64 tensors of the same shape, and a reduction.
Output: the register of the losses, of their mean or of their sum. Blocks of elements are computed in a buffer and added in double, in an
order that does not depend on the SIMD level.

For other dtypes, for tensors that broadcast, for strided tensors without reduction and for invalid arguments, the
operator's Python kernel runs. Examples:

    mse_loss(x, y)        binary_cross_entropy_with_logits(x, y, weight)        kl_div(x, y)
"""

cimport numpy as cnp
from libc.math cimport log1p
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.value.ivalue cimport IValue, TAG_NONE
from ts.backends.cpu.kernels.gil cimport EXPENSIVE_ELEMENT_COST, ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport float_array, is_tensor, new_contiguous, new_like, scalar_type, set_result
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts.backends.cpu.kernels.reduce cimport BLOCK, block_sum
from ts.backends.cpu.kernels.tensor_iterator cimport contiguous_copy
from ts.backends.cpu.kernels.vector_math cimport DoubleRow, FloatRow, double_row, float_row

cnp.import_array()

ctypedef fused floating:
    float
    double

cdef enum Reduction:                   # values as in PyTorch's `at::Reduction`
    NONE
    MEAN
    SUM

cdef enum Loss:
    SQUARED_ERROR
    ABSOLUTE_ERROR
    SMOOTH_L1
    HUBER
    BINARY_ENTROPY
    LOGITS_ENTROPY
    DIVERGENCE
    LOG_DIVERGENCE

ctypedef struct LossTask:
    Loss loss
    double limit                       # distance at which `smooth_l1_loss` and `huber_loss` become linear
    const void *x
    const void *y
    npy_intp count
    const void *weight                 # weights of the elements, or NULL. Element i has weight[i % weight_count].
    npy_intp weight_count
    const void *positive_weight        # weights of positive targets, or NULL
    npy_intp positive_weight_count

cdef extern from "simd_losses.h" nogil:
    int are_probabilities_float(const float *x, npy_intp n)
    int are_probabilities_double(const double *x, npy_intp n)
    void squared_error_float(const float *x, const float *y, npy_intp n, float *out)
    void squared_error_double(const double *x, const double *y, npy_intp n, double *out)
    void absolute_error_float(const float *x, const float *y, npy_intp n, float *out)
    void absolute_error_double(const double *x, const double *y, npy_intp n, double *out)
    void smooth_l1_float(const float *x, const float *y, npy_intp n, float limit, float half_limit, float *out)
    void smooth_l1_double(const double *x, const double *y, npy_intp n, double limit, double half_limit, double *out)
    void huber_float(const float *x, const float *y, npy_intp n, float limit, float half_limit, float *out)
    void huber_double(const double *x, const double *y, npy_intp n, double limit, double half_limit, double *out)
    void product_float(const float *x, const float *y, npy_intp n, float *out)
    void product_double(const double *x, const double *y, npy_intp n, double *out)
    void binary_entropy_float(const float *x, const float *y, const float *target, npy_intp n, float *out)
    void binary_entropy_double(const double *x, const double *y, const double *target, npy_intp n, double *out)
    void logits_entropy_float(const float *x, const float *y, const float *log_term, npy_intp n, float *out)
    void logits_entropy_double(const double *x, const double *y, const double *log_term, npy_intp n, double *out)
    void weighted_logits_entropy_float(const float *x, const float *y, const float *log_term, const float *weight, npy_intp n, float *out)
    void weighted_logits_entropy_double(const double *x, const double *y, const double *log_term, const double *weight, npy_intp n, double *out)
    void divergence_float(const float *x, const float *y, const float *log_target, npy_intp n, float *out)
    void divergence_double(const double *x, const double *y, const double *log_target, npy_intp n, double *out)
    void log_divergence_float(const float *x, const float *y, const float *target, npy_intp n, float *out)
    void log_divergence_double(const double *x, const double *y, const double *target, npy_intp n, double *out)
    void negative_absolute_float(const float *x, npy_intp n, float *out)
    void negative_absolute_double(const double *x, npy_intp n, double *out)


cdef FloatRow FLOAT_EXP = float_row("exp"), FLOAT_LOG = float_row("log"), FLOAT_LOG1P = float_row("log1p")
cdef DoubleRow DOUBLE_EXP = double_row("exp"), DOUBLE_LOG = double_row("log"), DOUBLE_LOG1P = double_row("log1p")


cdef void double_log1p(const double *x, npy_intp n, double *out) noexcept nogil:
    cdef npy_intp i
    if DOUBLE_LOG1P != NULL:
        DOUBLE_LOG1P(x, n, out)
        return
    for i in range(n):
        out[i] = log1p(x[i])


cdef const floating *expand_weights(const floating *weight, npy_intp count, npy_intp first, npy_intp n, floating *out) noexcept nogil:
    """Return the weights of `n` elements from index `first` on. They are copied to `out` if the weights repeat."""
    cdef npy_intp i = 0, k, start = first % count
    if start + n <= count:
        return weight + start
    while i < n:
        k = min(count - start, n - i)
        memcpy(out + i, weight + start, k * sizeof(floating))
        i += k
        start = 0
    return out


cdef bint float_block(const LossTask *task, npy_intp first, npy_intp n, float *out) noexcept nogil:
    """Compute the losses of `n` elements from index `first` on. Return False if a probability is outside of [0, 1]."""
    cdef const float *x = <const float *>task.x + first
    cdef const float *y = <const float *>task.y + first
    cdef float a[BLOCK]
    cdef float b[BLOCK]
    cdef float expanded[BLOCK]
    cdef npy_intp i
    if task.loss == SQUARED_ERROR:
        squared_error_float(x, y, n, out)
    elif task.loss == ABSOLUTE_ERROR:
        absolute_error_float(x, y, n, out)
    elif task.loss == SMOOTH_L1:
        smooth_l1_float(x, y, n, <float>task.limit, <float>(0.5 * task.limit), out)
    elif task.loss == HUBER:
        huber_float(x, y, n, <float>task.limit, <float>(0.5 * task.limit), out)
    elif task.loss == BINARY_ENTROPY:
        if not are_probabilities_float(x, n) or not are_probabilities_float(y, n):
            return False
        FLOAT_LOG(x, n, a)
        for i in range(n):
            b[i] = -x[i]
        FLOAT_LOG1P(b, n, b)
        binary_entropy_float(a, b, y, n, out)
    elif task.loss == LOGITS_ENTROPY:
        negative_absolute_float(x, n, a)
        FLOAT_EXP(a, n, a)
        FLOAT_LOG1P(a, n, a)
        if task.positive_weight == NULL:
            logits_entropy_float(x, y, a, n, out)
        else:
            weighted_logits_entropy_float(
                x, y, a, expand_weights(<const float *>task.positive_weight, task.positive_weight_count, first, n, expanded), n, out
            )
    elif task.loss == DIVERGENCE:
        FLOAT_LOG(y, n, a)
        divergence_float(x, y, a, n, out)
    else:
        FLOAT_EXP(y, n, a)
        log_divergence_float(x, y, a, n, out)
    if task.weight != NULL:
        memcpy(a, out, n * sizeof(float))
        product_float(a, expand_weights(<const float *>task.weight, task.weight_count, first, n, expanded), n, out)
    return True


cdef bint double_block(const LossTask *task, npy_intp first, npy_intp n, double *out) noexcept nogil:
    """Compute the losses of `n` elements from index `first` on. Return False if a probability is outside of [0, 1]."""
    cdef const double *x = <const double *>task.x + first
    cdef const double *y = <const double *>task.y + first
    cdef double a[BLOCK]
    cdef double b[BLOCK]
    cdef double expanded[BLOCK]
    cdef npy_intp i
    if task.loss == SQUARED_ERROR:
        squared_error_double(x, y, n, out)
    elif task.loss == ABSOLUTE_ERROR:
        absolute_error_double(x, y, n, out)
    elif task.loss == SMOOTH_L1:
        smooth_l1_double(x, y, n, <double>task.limit, <double>(0.5 * task.limit), out)
    elif task.loss == HUBER:
        huber_double(x, y, n, <double>task.limit, <double>(0.5 * task.limit), out)
    elif task.loss == BINARY_ENTROPY:
        if not are_probabilities_double(x, n) or not are_probabilities_double(y, n):
            return False
        DOUBLE_LOG(x, n, a)
        for i in range(n):
            b[i] = -x[i]
        double_log1p(b, n, b)
        binary_entropy_double(a, b, y, n, out)
    elif task.loss == LOGITS_ENTROPY:
        negative_absolute_double(x, n, a)
        DOUBLE_EXP(a, n, a)
        double_log1p(a, n, a)
        if task.positive_weight == NULL:
            logits_entropy_double(x, y, a, n, out)
        else:
            weighted_logits_entropy_double(
                x, y, a, expand_weights(<const double *>task.positive_weight, task.positive_weight_count, first, n, expanded), n, out
            )
    elif task.loss == DIVERGENCE:
        DOUBLE_LOG(y, n, a)
        divergence_double(x, y, a, n, out)
    else:
        DOUBLE_EXP(y, n, a)
        log_divergence_double(x, y, a, n, out)
    if task.weight != NULL:
        memcpy(a, out, n * sizeof(double))
        product_double(a, expand_weights(<const double *>task.weight, task.weight_count, first, n, expanded), n, out)
    return True


cdef bint write_losses(const LossTask *task, floating *out) noexcept nogil:
    """Compute the losses of all elements. Return False if a probability is outside of [0, 1]."""
    cdef npy_intp first = 0, n
    while first < task.count:
        n = min(task.count - first, <npy_intp>BLOCK)
        if floating is float:
            if not float_block(task, first, n, out + first):
                return False
        elif not double_block(task, first, n, out + first):
            return False
        first += n
    return True


cdef bint sum_losses(const LossTask *task, floating kind, double *total) noexcept nogil:
    """Compute the sum of the losses. Return False if a probability is outside of [0, 1]."""
    cdef floating losses[BLOCK]
    cdef npy_intp first = 0, n
    total[0] = 0
    while first < task.count:
        n = min(task.count - first, <npy_intp>BLOCK)
        if floating is float:
            if not float_block(task, first, n, losses):
                return False
        elif not double_block(task, first, n, losses):
            return False
        total[0] = block_sum(<const floating *>losses, n, total[0])
        first += n
    return True


cdef PyArrayObject *contiguous_floats(IValue *x, list owners) except? NULL:
    """Return the array of a float32 or float64 CPU tensor, or a contiguous copy, which is appended to `owners`.

    Return NULL for other tensors. The requirement CONTIGUOUS would not copy tensors with another dimension order.
    """
    cdef object copy
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU or (scalar_type(x) != FLOAT and scalar_type(x) != DOUBLE):
        return NULL
    if float_array(x) != NULL:
        return float_array(x)
    copy = contiguous_copy(<PyArrayObject *>(<Tensor>x.v.o).array)
    owners.append(copy)
    return <PyArrayObject *>copy


cdef bint read_weight(IValue *argument, PyArrayObject *x, int kind, const void **weight, npy_intp *count, list owners) except -1:
    """Read optional weights. Return False unless their shape equals the last dimensions of `x`."""
    cdef PyArrayObject *a
    cdef int d, leading = 0, nd
    weight[0], count[0] = NULL, 0
    if argument.tag == TAG_NONE:
        return True
    a = contiguous_floats(argument, owners)
    if a == NULL or scalar_type(argument) != kind or ndim_of(a) > ndim_of(x):
        return False
    nd = ndim_of(a)
    while leading < nd and dims_of(a)[leading] == 1:
        leading += 1
    for d in range(leading, nd):
        if dims_of(a)[d] != dims_of(x)[ndim_of(x) - nd + d]:
            return False
    weight[0], count[0] = data_of(a), size_of(a)
    return True


cdef bint has_same_bits_in_numpy(Loss loss, int kind) noexcept:
    """Return whether the operator's Python kernel, which runs for strided operands, computes the same bits."""
    return loss < BINARY_ENTROPY or (kind == FLOAT and loss < DIVERGENCE)


cdef int run_loss(Operator op, IValue *r, const int32_t *at, Loss loss, int reduction_argument, double limit) except -1:
    """Run an operator. `reduction_argument` is the position of the reduction."""
    cdef PyArrayObject *x
    cdef PyArrayObject *y
    cdef list owners = []
    cdef int64_t reduction = r[at[reduction_argument]].v.i
    cdef LossTask task
    cdef int kind, d
    cdef bint done
    cdef double total
    cdef void *out
    cdef ReleasedGil gil_state
    if not NONE <= reduction <= SUM:
        return UNSUPPORTED
    x, y = contiguous_floats(&r[at[0]], owners), contiguous_floats(&r[at[1]], owners)
    if x == NULL or y == NULL:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if scalar_type(&r[at[1]]) != kind or ndim_of(x) != ndim_of(y) or size_of(x) == 0:
        return UNSUPPORTED
    for d in range(ndim_of(x)):
        if dims_of(x)[d] != dims_of(y)[d]:
            return UNSUPPORTED
    task.loss, task.limit, task.count = loss, limit, size_of(x)
    task.x, task.y, task.weight, task.positive_weight = data_of(x), data_of(y), NULL, NULL
    if loss == BINARY_ENTROPY or loss == LOGITS_ENTROPY:
        if not read_weight(&r[at[2]], x, kind, &task.weight, &task.weight_count, owners):
            return UNSUPPORTED
    if loss == LOGITS_ENTROPY and not read_weight(&r[at[3]], x, kind, &task.positive_weight, &task.positive_weight_count, owners):
        return UNSUPPORTED
    if reduction == NONE and (owners or not has_same_bits_in_numpy(loss, kind)):
        return UNSUPPORTED             # the result's strides depend on the strides of the operands
    result = new_like(x, kind) if reduction == NONE else new_contiguous(0, NULL, kind)
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(task.count * EXPENSIVE_ELEMENT_COST if loss >= BINARY_ENTROPY else task.count, r, at, op.nargs)
    if reduction != NONE:
        done = sum_losses[float](&task, 0, &total) if kind == FLOAT else sum_losses[double](&task, 0, &total)
    else:
        done = write_losses[float](&task, <float *>out) if kind == FLOAT else write_losses[double](&task, <double *>out)
    take_gil(gil_state)
    if not done:
        return UNSUPPORTED
    if reduction == NONE:
        return set_result(&r[at[op.nargs]], result, kind)
    if reduction == MEAN:
        total /= task.count
    if kind == FLOAT:
        (<float *>out)[0] = <float>total
    else:
        (<double *>out)[0] = total
    return set_result(&r[at[op.nargs]], result, kind)


cdef int mse_loss(Operator op, IValue *r, const int32_t *at) except -1:
    return run_loss(op, r, at, SQUARED_ERROR, 2, 0)


cdef int l1_loss(Operator op, IValue *r, const int32_t *at) except -1:
    return run_loss(op, r, at, ABSOLUTE_ERROR, 2, 0)


cdef int smooth_l1_loss(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double beta = r[at[3]].v.f
    if not beta >= 0:
        return UNSUPPORTED
    return run_loss(op, r, at, ABSOLUTE_ERROR if beta == 0 else SMOOTH_L1, 2, beta)


cdef int huber_loss(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double delta = r[at[3]].v.f
    return run_loss(op, r, at, HUBER, 2, delta) if delta > 0 else UNSUPPORTED


cdef int binary_cross_entropy(Operator op, IValue *r, const int32_t *at) except -1:
    return run_loss(op, r, at, BINARY_ENTROPY, 3, 0)


cdef int binary_cross_entropy_with_logits(Operator op, IValue *r, const int32_t *at) except -1:
    return run_loss(op, r, at, LOGITS_ENTROPY, 4, 0)


cdef int kl_div(Operator op, IValue *r, const int32_t *at) except -1:
    return run_loss(op, r, at, LOG_DIVERGENCE if r[at[3]].v.i else DIVERGENCE, 2, 0)


register_kernel("aten::mse_loss", mse_loss)
register_kernel("aten::l1_loss", l1_loss)
register_kernel("aten::smooth_l1_loss", smooth_l1_loss)
register_kernel("aten::huber_loss", huber_loss)
register_kernel("aten::binary_cross_entropy", binary_cross_entropy)
register_kernel("aten::binary_cross_entropy_with_logits", binary_cross_entropy_with_logits)
register_kernel("aten::kl_div", kl_div)
