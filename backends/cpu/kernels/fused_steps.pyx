"""Fused optimizer steps over lists of parameters: the `_fused_*` operators of `ts.optim` and PyTorch.

Input: interpreter registers with lists of parameters, gradients and optimizer state, and with options.
Output: the parameters and the state, updated in place. With a gradient scaler, the gradients are divided by
its factor in place.

The tensors must be contiguous float32 or float64 tensors, except the gradients. For other arguments, the
operators' Python kernels run. Example:

    _fused_sgd_([p], [p.grad], [momentum], weight_decay=0, momentum=0.9, lr=0.1, ...)
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT32, INT64, PyArrayObject, data_of, flags_of, same_shape, size_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, is_layered, wrote
from ts._core.value.container cimport List, list_slot
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_NONE, TAG_OBJECT
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, is_tensor, scalar_type
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel

cnp.import_array()

cdef extern from "fused_steps.h" nogil:
    ctypedef struct SgdRule:
        double lr
        double momentum
        double gain
        double weight_decay
        int nesterov
        int maximize
        int first
    ctypedef struct AdamRule:
        double lr
        double beta1
        double beta2
        double weight_decay
        double eps
        int amsgrad
        int maximize
        int decoupled
    ctypedef struct AdagradRule:
        double lr
        double lr_decay
        double weight_decay
        double eps
        int maximize
    void step_sgd(int floats, void *p, void *grad, void *memory, npy_intp n, const SgdRule *rule)
    void step_adam(
        int floats, void *p, void *grad, void *mean, void *squares, void *largest, npy_intp n, double step, const AdamRule *rule
    )
    void step_adagrad(int floats, void *p, void *grad, void *sum, npy_intp n, double step, const AdagradRule *rule)
    void step_unscale(int floats, void *grad, npy_intp n, double scale)

cdef enum:
    PARAMETERS = 0                     # argument positions of the lists that every operator has
    GRADIENTS = 1
    MAX_LISTS = 5
    # Cost of updating one element, divided by the cost of copying one element. It scales the argument `work`
    # of `leave_gil`.
    ELEMENT_COST = 4


ctypedef struct ParameterState:                  # one parameter with its gradient and state
    void *data[MAX_LISTS]  # index of a list argument -> elements of its tensor for this parameter, or NULL if the list is unused
    npy_intp n
    double step


cdef struct Work:
    ParameterState *parameters
    Py_ssize_t count
    npy_intp total                     # total number of elements
    int floats                         # 1 for float32 tensors, 0 for float64
    double scale  # factor of the gradient scaler, by which the gradients are divided, or 1 without a scaler
    bint scaled
    bint skipped  # True if the gradient scaler found infinite gradients. Then no parameter is updated.


# ---------------------------------------------------------------- arguments

cdef bint read_scalar(IValue *x, double *out) noexcept:
    """Read a float, or the element of a CPU tensor with one element. Return False for other values."""
    cdef PyArrayObject *a
    cdef int kind
    if x.tag == TAG_FLOAT:
        out[0] = x.v.f
        return True
    a = contiguous_array_or_null(x)
    if a == NULL or size_of(a) != 1:
        return False
    kind = scalar_type(x)
    if kind == FLOAT:
        out[0] = (<float *>data_of(a))[0]
    elif kind == DOUBLE:
        out[0] = (<double *>data_of(a))[0]
    elif kind == INT64:
        out[0] = <double>(<int64_t *>data_of(a))[0]
    elif kind == INT32:
        out[0] = <double>(<int32_t *>data_of(a))[0]
    else:
        return False
    return True


cdef PyArrayObject *list_array(IValue *tensors, Py_ssize_t i, int kind, bint writable) noexcept:
    """Return the array of tensor `i` of a list if it is contiguous with dtype `kind`, else NULL.

    If `writable`, the array must also be writable.
    """
    cdef IValue *x = list_slot(tensors.v.o, i)
    cdef PyArrayObject *a = contiguous_array_or_null(x)
    if a == NULL or scalar_type(x) != kind or is_layered(<Tensor>x.v.o):
        return NULL
    return a if not writable or flags_of(a) & cnp.NPY_ARRAY_WRITEABLE else NULL


cdef inline bint is_list(IValue *x, Py_ssize_t count) noexcept:
    return x.tag == TAG_OBJECT and type(<object>x.v.o) is List and (<List>x.v.o).size == count


cdef bint collect_parameters(IValue *r, const int32_t *at, const bint *used, int lists, int steps_at, list copies, Work *work) except -1:
    """Fill in `work.parameters` from the arguments. Return False if an argument is unsupported."""
    cdef IValue *first = &r[at[PARAMETERS]]
    cdef PyArrayObject *p
    cdef PyArrayObject *a
    cdef Py_ssize_t i, count
    cdef int j, kind
    if first.tag != TAG_OBJECT or type(<object>first.v.o) is not List:
        return False
    count = (<List>first.v.o).size
    if count == 0 or not is_tensor(list_slot(first.v.o, 0)):
        return False
    kind = scalar_type(list_slot(first.v.o, 0))
    if kind != FLOAT and kind != DOUBLE or steps_at >= 0 and not is_list(&r[at[steps_at]], count):
        return False
    for j in range(lists):
        if used[j] and not is_list(&r[at[j]], count):
            return False
    work.parameters = <ParameterState *>calloc(count, sizeof(ParameterState))
    if work.parameters == NULL:
        raise MemoryError()
    work.count = count
    work.floats = kind == FLOAT
    for i in range(count):
        p = list_array(first, i, kind, True)
        if p == NULL:
            return False
        work.parameters[i].n = size_of(p)
        work.total += size_of(p)
        for j in range(lists):
            if not used[j]:
                continue
            a = list_array(&r[at[j]], i, kind, j != GRADIENTS or work.scaled)
            if a == NULL and j == GRADIENTS and not work.scaled:
                a = contiguous_gradient(&r[at[j]], i, kind, copies)
            if a == NULL or not same_shape(a, p):
                return False
            work.parameters[i].data[j] = data_of(a)
        if steps_at >= 0 and not read_scalar(list_slot(r[at[steps_at]].v.o, i), &work.parameters[i].step):
            return False
    return True


cdef PyArrayObject *contiguous_gradient(IValue *tensors, Py_ssize_t i, int kind, list copies) except? NULL:
    """Return a contiguous copy of gradient `i` if the gradient is a CPU tensor of dtype `kind`, else NULL.

    The list `copies` keeps the copy alive.
    """
    cdef IValue *x = list_slot(tensors.v.o, i)
    cdef object result
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU or scalar_type(x) != kind or is_layered(<Tensor>x.v.o):
        return NULL
    result = cnp.PyArray_NewCopy(<cnp.ndarray>(<Tensor>x.v.o).array, cnp.NPY_CORDER)
    copies.append(result)
    return <PyArrayObject *>result


cdef bint read_scaler(Operator op, IValue *r, const int32_t *at, Work *work) noexcept:
    """Read the last two arguments, grad_scale and found_inf. Return False if a value is unsupported.

    A gradient scaler passes these arguments.
    """
    cdef double found_inf = 0
    cdef IValue *scale = &r[at[op.nargs - 2]]
    cdef IValue *infinite = &r[at[op.nargs - 1]]
    work.scale = 1
    work.scaled = scale.tag != TAG_NONE
    if work.scaled and not read_scalar(scale, &work.scale):
        return False
    if infinite.tag != TAG_NONE and not read_scalar(infinite, &found_inf):
        return False
    work.skipped = found_inf != 0
    return True


cdef void unscale(Work *work) noexcept nogil:
    cdef Py_ssize_t i
    if work.scaled:
        for i in range(work.count):
            step_unscale(work.floats, work.parameters[i].data[GRADIENTS], work.parameters[i].n, work.scale)


cdef int count_writes(IValue *r, const int32_t *at, const bint *used, int lists, Work *work) except -1:
    cdef Py_ssize_t i
    cdef IValue *x
    cdef int j
    for j in range(lists):
        if not used[j] or j == GRADIENTS and not work.scaled:
            continue
        for i in range(work.count):
            if not is_list(&r[at[j]], work.count):
                break
            x = list_slot(r[at[j]].v.o, i)
            if is_tensor(x):
                wrote(<Tensor>x.v.o)
    return 0


# Updates one parameter by the rule of an optimizer.
ctypedef void (*Step)(const Work *work, const ParameterState *state, const void *rule) noexcept nogil


cdef int run_steps(
    Operator op, IValue *r, const int32_t *at, const bint *used, int lists, int steps_at, Step step, const void *rule
) except -1:
    """Update all parameters by calls of `step` with the update rule `rule`.

    The first `lists` arguments are lists of tensors. `used` marks the lists that the rule reads or writes.
    `steps_at` is the position of the list of step counts among the arguments, or -1.
    """
    cdef Work work
    cdef Py_ssize_t i
    cdef list copies = []
    cdef ReleasedGil gil_state
    work.parameters = NULL
    work.total = work.count = 0
    try:
        if not read_scaler(op, r, at, &work) or not collect_parameters(r, at, used, lists, steps_at, copies, &work):
            return UNSUPPORTED
        if work.skipped:
            return 0
        gil_state = leave_gil(work.total * ELEMENT_COST, r, at, op.nargs)
        unscale(&work)
        for i in range(work.count):
            step(&work, &work.parameters[i], rule)
        take_gil(gil_state)
        return count_writes(r, at, used, lists, &work)
    finally:
        free(work.parameters)


# ---------------------------------------------------------------- operators

cdef void sgd(const Work *work, const ParameterState *state, const void *rule) noexcept nogil:
    step_sgd(work.floats, state.data[0], state.data[1], state.data[2], state.n, <const SgdRule *>rule)


cdef int fused_sgd(Operator op, IValue *r, const int32_t *at) except -1:
    """Run an SGD step.

    The arguments are (self, grads, momentum_buffer_list, weight_decay, momentum, lr, dampening, ...).
    """
    cdef SgdRule rule
    cdef bint used[3]
    if not read_scalar(&r[at[5]], &rule.lr):
        return UNSUPPORTED
    rule.weight_decay = r[at[3]].v.f
    rule.momentum = r[at[4]].v.f
    rule.gain = 1 - r[at[6]].v.f
    rule.nesterov = r[at[7]].v.i != 0
    rule.maximize = r[at[8]].v.i != 0
    rule.first = r[at[9]].v.i != 0
    used[0] = used[1] = True
    used[2] = rule.momentum != 0
    return run_steps(op, r, at, used, 3, -1, sgd, &rule)


cdef void adam(const Work *work, const ParameterState *state, const void *rule) noexcept nogil:
    step_adam(
        work.floats, state.data[0], state.data[1], state.data[2], state.data[3], state.data[4], state.n, state.step,
        <const AdamRule *>rule
    )


cdef int fused_moments(Operator op, IValue *r, const int32_t *at, bint decoupled) except -1:
    """Run an Adam step (AdamW if `decoupled`).

    Arguments: (self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, ...).
    """
    cdef AdamRule rule
    cdef bint used[5]
    if not read_scalar(&r[at[6]], &rule.lr):
        return UNSUPPORTED
    rule.beta1 = r[at[7]].v.f
    rule.beta2 = r[at[8]].v.f
    rule.weight_decay = r[at[9]].v.f
    rule.eps = r[at[10]].v.f
    rule.amsgrad = r[at[11]].v.i != 0
    rule.maximize = r[at[12]].v.i != 0
    rule.decoupled = decoupled
    used[0] = used[1] = used[2] = used[3] = True
    used[4] = rule.amsgrad
    return run_steps(op, r, at, used, 5, 5, adam, &rule)


cdef int fused_adam(Operator op, IValue *r, const int32_t *at) except -1:
    return fused_moments(op, r, at, False)


cdef int fused_adamw(Operator op, IValue *r, const int32_t *at) except -1:
    return fused_moments(op, r, at, True)


cdef void adagrad(const Work *work, const ParameterState *state, const void *rule) noexcept nogil:
    step_adagrad(work.floats, state.data[0], state.data[1], state.data[2], state.n, state.step, <const AdagradRule *>rule)


cdef int fused_adagrad(Operator op, IValue *r, const int32_t *at) except -1:
    """Run an Adagrad step.

    The arguments are (self, grads, state_sums, state_steps, lr, lr_decay, weight_decay, eps, ...).
    """
    cdef AdagradRule rule
    cdef bint used[3]
    if not read_scalar(&r[at[4]], &rule.lr):
        return UNSUPPORTED
    rule.lr_decay = r[at[5]].v.f
    rule.weight_decay = r[at[6]].v.f
    rule.eps = r[at[7]].v.f
    rule.maximize = r[at[8]].v.i != 0
    used[0] = used[1] = used[2] = True
    return run_steps(op, r, at, used, 3, 3, adagrad, &rule)


register_kernel("aten::_fused_sgd_", fused_sgd)
register_kernel("aten::_fused_sgd_.tensor_lr", fused_sgd)
register_kernel("aten::_fused_adam_", fused_adam)
register_kernel("aten::_fused_adam_.tensor_lr", fused_adam)
register_kernel("aten::_fused_adamw_", fused_adamw)
register_kernel("aten::_fused_adamw_.tensor_lr", fused_adamw)
register_kernel("aten::_fused_adagrad_", fused_adagrad)
register_kernel("aten::_fused_adagrad_.tensor_lr", fused_adagrad)
