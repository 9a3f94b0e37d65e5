"""Classification losses on floating CPU tensors.

Input: interpreter registers with scores, target classes, class weights and a reduction. Scores have the shape
(N, C, ...) or (C). Output: the register of the loss.

For other arguments, the operator's Python kernel runs. The operators are:

    nll_loss(logp, target)           cross_entropy(x, target, label_smoothing=0.1)
    nll_loss_backward(grad, logp, target, ...)
    multi_margin_loss(x, target)     multilabel_margin_loss(x, target)
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport FLOAT, INT64, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.value.ivalue cimport IValue, TAG_NONE
from ts.backends.cpu.kernels.gil cimport EXPENSIVE_ELEMENT_COST, ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport (
    Axis, contiguous_array_or_null, float_array, new_contiguous, new_like, new_zeros, set_result, read_axis, read_number, scalar_type
)
from ts.backends.cpu.kernels.index_iterator cimport wrap_index
from ts.backends.cpu.kernels.reduce cimport BLOCK, block_sum
from ts.backends.cpu.kernels.softmax cimport compute_log_softmax
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel

cnp.import_array()

ctypedef fused floating:
    float
    double

cdef enum Reduction:                   # values as in PyTorch's `at::Reduction`
    NONE
    MEAN
    SUM


ctypedef struct Classes:               # arguments of a loss function whose targets are class indices
    const void *x                      # scores, viewed as (outer, n, inner)
    const int64_t *target              # target classes, viewed as (outer, inner)
    const void *weight                 # class weights, or NULL if all are 1
    Axis axis
    int64_t ignored
    Reduction reduction


# ---------------------------------------------------------------- losses with one target class per sample

cdef bint compute_nll(Classes *c, floating *out, double *total_weight) noexcept nogil:
    """Compute the losses of all samples, or their sum or mean, and the sum of the weights of the target classes.

    Return False if a target is not a valid class.
    """
    cdef const floating *x = <const floating *>c.x
    cdef const floating *weight = <const floating *>c.weight
    cdef double total = 0, batch_total = 0
    cdef floating w, loss
    cdef npy_intp o, i
    cdef int64_t k
    for o in range(c.axis.outer):
        for i in range(c.axis.inner):
            k = wrap_index(<const char *>c.target, False, o * c.axis.inner + i, 0)
            loss = 0
            if k != c.ignored:
                if not 0 <= k < c.axis.n:
                    return False
                w = 1 if weight == NULL else weight[k]
                loss = -x[(o * c.axis.n + k) * c.axis.inner + i] * w
                batch_total += w
                total += loss
            if c.reduction == NONE:
                out[o * c.axis.inner + i] = loss
    if c.reduction != NONE:
        out[0] = <floating>(total / batch_total if c.reduction == MEAN else total)
    total_weight[0] = batch_total
    return True


cdef bint compute_nll_gradient(Classes *c, const floating *grad, floating total_weight, floating *out) noexcept nogil:
    """Write the gradient of each sample's score of its target class to `out`, which contains zeros.

    `grad` has an element for each sample if there is no reduction. Return False if a target is not a valid class.
    """
    cdef const floating *weight = <const floating *>c.weight
    cdef floating g
    cdef npy_intp o, i
    cdef int64_t k
    for o in range(c.axis.outer):
        for i in range(c.axis.inner):
            k = wrap_index(<const char *>c.target, False, o * c.axis.inner + i, 0)
            if k == c.ignored:
                continue
            if not 0 <= k < c.axis.n:
                return False
            g = -grad[o * c.axis.inner + i if c.reduction == NONE else 0]
            if c.reduction == MEAN:
                g /= total_weight
            if weight != NULL:
                g *= weight[k]
            out[(o * c.axis.n + k) * c.axis.inner + i] = g
    return True


cdef double sum_counted_logs(Classes *c, floating kind) noexcept nogil:
    """Return the sum of the log probabilities of all classes, multiplied by their weights.

    Samples of the ignored class do not count. The targets are valid classes.
    """
    cdef const floating *x = <const floating *>c.x
    cdef const floating *weight = <const floating *>c.weight
    cdef floating block[BLOCK]
    cdef npy_intp o, k, i, j, n, inner = c.axis.inner
    cdef double total = 0
    for o in range(c.axis.outer):
        if inner == 1 and c.target[o] == c.ignored:
            x += c.axis.n
            continue
        if inner == 1:
            i = 0
            while i < c.axis.n:
                n = min(c.axis.n - i, <npy_intp>BLOCK)
                for j in range(n):
                    block[j] = x[i + j] if weight == NULL else x[i + j] * weight[i + j]
                total = block_sum(<const floating *>block, n, total)
                i += n
            x += c.axis.n
            continue
        for k in range(c.axis.n):
            i = 0
            while i < inner:
                n = min(inner - i, <npy_intp>BLOCK)
                for j in range(n):
                    block[j] = 0 if c.target[o * inner + i + j] == c.ignored else x[i + j] if weight == NULL else x[i + j] * weight[k]
                total = block_sum(<const floating *>block, n, total)
                i += n
            x += inner
    return total


cdef bint compute_smoothed_loss(Classes *c, double smoothing, floating *out) noexcept nogil:
    """Compute the sum or mean of the losses, given log probabilities, with label smoothing."""
    cdef double total_weight, smooth
    if not compute_nll(c, out, &total_weight):
        return False
    smooth = -sum_counted_logs(c, out[0])
    if c.reduction == MEAN:
        smooth /= total_weight
    out[0] = <floating>((1 - smoothing) * out[0] + smooth * (smoothing / c.axis.n))
    return True


cdef double sum_expected_logs(Classes *c, const floating *probabilities, floating smoothing) noexcept nogil:
    """Return the sum of the log probabilities, multiplied by the probabilities and the weights of their classes."""
    cdef const floating *x = <const floating *>c.x
    cdef const floating *weight = <const floating *>c.weight
    cdef floating block[BLOCK]
    cdef floating scale = 1 - smoothing, shift = smoothing / c.axis.n
    cdef npy_intp i = 0, j, n, k, inner = c.axis.inner, count = c.axis.outer * c.axis.n * inner
    cdef double total = 0
    while i < count:
        n = min(count - i, <npy_intp>BLOCK)
        for j in range(n):
            block[j] = probabilities[i + j] * x[i + j]
        if smoothing != 0:
            for j in range(n):
                block[j] = (probabilities[i + j] * scale + shift) * x[i + j]
        if weight != NULL:
            for j in range(n):
                k = (i + j) // inner % c.axis.n
                block[j] *= weight[k]
        total = block_sum(<const floating *>block, n, total)
        i += n
    return total


cdef bint read_weight(IValue *x, npy_intp classes, int kind, const void **weight) noexcept:
    """Read the optional class weights into `weight`, which becomes NULL if they are None.

    Return False unless the weights have the scores' dtype `kind` and one element per class.
    """
    cdef PyArrayObject *a
    weight[0] = NULL
    if x.tag == TAG_NONE:
        return True
    a = float_array(x)
    if a == NULL or scalar_type(x) != kind or ndim_of(a) != 1 or dims_of(a)[0] != classes:
        return False
    weight[0] = data_of(a)
    return True


cdef bint read_classes(IValue *r, const int32_t *at, PyArrayObject *x, PyArrayObject *target, Classes *c) noexcept:
    """Read scores, targets, weights, reduction and ignored class into `c`. Return False for mismatched
    arguments.
    """
    cdef int d, nd = ndim_of(x)
    if scalar_type(&r[at[1]]) != INT64 or size_of(x) == 0 or nd == 0 or not NONE <= r[at[3]].v.i <= SUM:
        return False
    read_axis(x, 0 if nd == 1 else 1, &c.axis)
    if ndim_of(target) != nd - 1:
        return False
    for d in range(nd - 1):
        if dims_of(target)[d] != dims_of(x)[d + 1 if d else 0]:
            return False
    c.x, c.target, c.ignored, c.reduction = data_of(x), <const int64_t *>data_of(target), r[at[4]].v.i, <Reduction>r[at[3]].v.i
    return read_weight(&r[at[2]], c.axis.n, scalar_type(&r[at[0]]), &c.weight)


cdef int store_loss(Operator op, IValue *r, const int32_t *at, bint of_scores, double smoothing=0) except -1:
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef PyArrayObject *target = contiguous_array_or_null(&r[at[1]])
    cdef Classes c
    cdef int kind
    cdef bint done
    cdef char *out
    cdef void *logs
    cdef double total_weight
    cdef ReleasedGil gil_state
    if x == NULL or target == NULL:
        return UNSUPPORTED
    if not read_classes(r, at, x, target, &c) or (smoothing != 0 and c.reduction == NONE):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    result = new_like(target, kind) if c.reduction == NONE else new_contiguous(0, NULL, kind)
    out = data_of(<PyArrayObject *>result)
    logp = new_like(x, kind) if of_scores else None
    logs = data_of(<PyArrayObject *>logp) if of_scores else NULL
    gil_state = leave_gil(size_of(x) * EXPENSIVE_ELEMENT_COST if of_scores else size_of(target), r, at, op.nargs)
    done = not of_scores or compute_log_softmax(kind, <void *>c.x, c.axis.outer, c.axis.n, c.axis.inner, logs)
    if of_scores:
        c.x = logs
    if done and smoothing != 0:
        done = compute_smoothed_loss(&c, smoothing, <float *>out) if kind == FLOAT else compute_smoothed_loss(&c, smoothing, <double *>out)
    elif done:
        done = compute_nll(&c, <float *>out, &total_weight) if kind == FLOAT else compute_nll(&c, <double *>out, &total_weight)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind) if done else UNSUPPORTED


cdef int store_loss_of_target_probabilities(Operator op, IValue *r, const int32_t *at) except -1:
    """Store the mean or sum of cross entropies whose targets are class probabilities."""
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef PyArrayObject *target = float_array(&r[at[1]])
    cdef double smoothing = r[at[5]].v.f, total
    cdef int64_t reduction = r[at[3]].v.i
    cdef Classes c
    cdef int kind, d
    cdef bint done
    cdef void *logs
    cdef ReleasedGil gil_state
    if x == NULL or target == NULL or (reduction != MEAN and reduction != SUM) or r[at[4]].v.i >= 0:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if scalar_type(&r[at[1]]) != kind or size_of(x) == 0 or ndim_of(x) == 0 or ndim_of(target) != ndim_of(x):
        return UNSUPPORTED
    for d in range(ndim_of(x)):
        if dims_of(target)[d] != dims_of(x)[d]:
            return UNSUPPORTED
    read_axis(x, 0 if ndim_of(x) == 1 else 1, &c.axis)
    if not read_weight(&r[at[2]], c.axis.n, kind, &c.weight):
        return UNSUPPORTED
    smoothing = max(smoothing, 0.0)
    result, logp = new_contiguous(0, NULL, kind), new_like(x, kind)
    logs = data_of(<PyArrayObject *>logp)
    gil_state = leave_gil(size_of(x) * EXPENSIVE_ELEMENT_COST, r, at, op.nargs)
    done = compute_log_softmax(kind, data_of(x), c.axis.outer, c.axis.n, c.axis.inner, logs)
    c.x = logs
    if done:
        if kind == FLOAT:
            total = -sum_expected_logs(&c, <float *>data_of(target), <float>smoothing)
        else:
            total = -sum_expected_logs(&c, <double *>data_of(target), smoothing)
        if reduction == MEAN:
            total /= c.axis.outer * c.axis.inner
        if kind == FLOAT:
            (<float *>data_of(<PyArrayObject *>result))[0] = <float>total
        else:
            (<double *>data_of(<PyArrayObject *>result))[0] = total
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind) if done else UNSUPPORTED


cdef int nll_loss(Operator op, IValue *r, const int32_t *at) except -1:
    return store_loss(op, r, at, False)


cdef int cross_entropy(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double smoothing = r[at[5]].v.f
    if contiguous_array_or_null(&r[at[1]]) != NULL and scalar_type(&r[at[1]]) != INT64:
        return store_loss_of_target_probabilities(op, r, at)
    return store_loss(op, r, at, True, smoothing) if 0 <= smoothing <= 1 else UNSUPPORTED


cdef bint has_batch_dims(PyArrayObject *x, PyArrayObject *target, int spatial) noexcept:
    """Return whether the ranks are valid for `nll_loss2d` (`spatial` 2), or for `nll_loss` (`spatial` 0)."""
    return ndim_of(x) == 4 and ndim_of(target) == 3 if spatial == 2 else 1 <= ndim_of(x) <= 2


cdef int store_loss_and_weight(Operator op, IValue *r, const int32_t *at, int spatial) except -1:
    """Store the loss and the total weight, which is 0 without reduction."""
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef PyArrayObject *target = contiguous_array_or_null(&r[at[1]])
    cdef Classes c
    cdef int kind
    cdef bint done
    cdef char *out
    cdef double total_weight = 0
    cdef ReleasedGil gil_state
    if x == NULL or target == NULL or not has_batch_dims(x, target, spatial) or not read_classes(r, at, x, target, &c):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    result = new_like(target, kind) if c.reduction == NONE else new_contiguous(0, NULL, kind)
    weight_result = new_contiguous(0, NULL, kind)
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(target), r, at, op.nargs)
    done = compute_nll(&c, <float *>out, &total_weight) if kind == FLOAT else compute_nll(&c, <double *>out, &total_weight)
    take_gil(gil_state)
    if not done:
        return UNSUPPORTED
    if c.reduction == NONE and ndim_of(x) > 1:
        total_weight = 0
    if kind == FLOAT:
        (<float *>data_of(<PyArrayObject *>weight_result))[0] = <float>total_weight
    else:
        (<double *>data_of(<PyArrayObject *>weight_result))[0] = total_weight
    set_result(&r[at[op.nargs]], result, kind)
    return set_result(&r[at[op.nargs + 1]], weight_result, kind)


cdef int store_nll_gradient(Operator op, IValue *r, const int32_t *at, int spatial) except -1:
    cdef PyArrayObject *grad = float_array(&r[at[0]])
    cdef PyArrayObject *x = float_array(&r[at[1]])
    cdef PyArrayObject *target = contiguous_array_or_null(&r[at[2]])
    cdef PyArrayObject *total_weight = float_array(&r[at[6]])
    cdef Classes c
    cdef int kind, d
    cdef bint done
    cdef void *out
    cdef ReleasedGil gil_state
    if grad == NULL or x == NULL or target == NULL or total_weight == NULL or not has_batch_dims(x, target, spatial):
        return UNSUPPORTED
    kind = scalar_type(&r[at[1]])
    if not read_classes(r, at + 1, x, target, &c) or scalar_type(&r[at[0]]) != kind or scalar_type(&r[at[6]]) != kind:
        return UNSUPPORTED
    if size_of(total_weight) != 1 or ndim_of(grad) != (ndim_of(target) if c.reduction == NONE else 0):
        return UNSUPPORTED
    for d in range(ndim_of(grad)):
        if dims_of(grad)[d] != dims_of(target)[d]:
            return UNSUPPORTED
    result = new_zeros(ndim_of(x), dims_of(x), kind)
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(target), r, at, op.nargs)
    if kind == FLOAT:
        done = compute_nll_gradient(&c, <float *>data_of(grad), (<float *>data_of(total_weight))[0], <float *>out)
    else:
        done = compute_nll_gradient(&c, <double *>data_of(grad), (<double *>data_of(total_weight))[0], <double *>out)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind) if done else UNSUPPORTED


cdef int nll_loss_forward(Operator op, IValue *r, const int32_t *at) except -1:
    return store_loss_and_weight(op, r, at, 0)


cdef int nll_loss2d_forward(Operator op, IValue *r, const int32_t *at) except -1:
    return store_loss_and_weight(op, r, at, 2)


cdef int nll_loss_backward(Operator op, IValue *r, const int32_t *at) except -1:
    return store_nll_gradient(op, r, at, 0)


cdef int nll_loss2d_backward(Operator op, IValue *r, const int32_t *at) except -1:
    return store_nll_gradient(op, r, at, 2)


# ---------------------------------------------------------------- margin losses

cdef bint compute_margins(Classes *c, double p, double margin, floating *out) noexcept nogil:
    """Compute the multi-class margin losses, or their sum or mean. Return False if a target is not a valid
    class.
    """
    cdef const floating *x = <const floating *>c.x
    cdef const floating *weight = <const floating *>c.weight
    cdef floating gap, min_gap = <floating>margin
    cdef double total, batch_total = 0
    cdef npy_intp o, i, n = c.axis.n
    cdef int64_t k
    for o in range(c.axis.outer):
        k = c.target[o]
        if not 0 <= k < n:
            return False
        total = 0
        for i in range(n):
            gap = min_gap - x[k] + x[i]
            if i != k and not gap <= 0:
                gap = gap if p == 1 else gap * gap
                total += gap if weight == NULL else gap * weight[k]
        total /= n
        batch_total += total
        if c.reduction == NONE:
            out[o] = <floating>total
        x += n
    if c.reduction != NONE:
        out[0] = <floating>(batch_total / c.axis.outer if c.reduction == MEAN else batch_total)
    return True


cdef bint compute_label_margins(Classes *c, char *is_label, floating *out) noexcept nogil:
    """Compute the multi-label margin losses, or their sum or mean. Return False for an invalid label.

    The labels of a sample end at the first -1. `is_label` is a buffer with one byte per class.
    """
    cdef const floating *x = <const floating *>c.x
    cdef const int64_t *labels = c.target
    cdef floating gap
    cdef double total, batch_total = 0
    cdef npy_intp o, i, j, count, n = c.axis.n
    for o in range(c.axis.outer):
        memset(is_label, 0, n)
        count = 0
        for i in range(n):
            if not -1 <= labels[i] < n:
                return False
        while count < n and labels[count] >= 0:
            is_label[labels[count]] = 1
            count += 1
        total = 0
        for j in range(count):
            for i in range(n):
                gap = 1 - x[labels[j]] + x[i]
                if not is_label[i] and not gap <= 0:
                    total += gap
        total /= n
        batch_total += total
        if c.reduction == NONE:
            out[o] = <floating>total
        x += n
        labels += n
    if c.reduction != NONE:
        out[0] = <floating>(batch_total / c.axis.outer if c.reduction == MEAN else batch_total)
    return True


cdef bint read_rows(IValue *r, const int32_t *at, PyArrayObject *x, int64_t reduction, Classes *c) noexcept:
    """Read the scores `x` of shape (N, C) or (C), and the reduction, into `c`.

    Return False if the scores, the dtype of the labels or the reduction are unsupported.
    """
    if scalar_type(&r[at[1]]) != INT64 or size_of(x) == 0 or not 1 <= ndim_of(x) <= 2 or not NONE <= reduction <= SUM:
        return False
    read_axis(x, ndim_of(x) - 1, &c.axis)
    c.x, c.reduction, c.weight = data_of(x), <Reduction>reduction, NULL
    return True


cdef int multi_margin_loss(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef PyArrayObject *target = contiguous_array_or_null(&r[at[1]])
    cdef Classes c
    cdef double p, margin
    cdef int kind
    cdef bint done
    if x == NULL or target == NULL or not read_rows(r, at, x, r[at[5]].v.i, &c):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if not read_number(&r[at[2]], kind, &p) or not read_number(&r[at[3]], kind, &margin) or (p != 1 and p != 2):
        return UNSUPPORTED
    if ndim_of(target) > 1 or size_of(target) != c.axis.outer or not read_weight(&r[at[4]], c.axis.n, kind, &c.weight):
        return UNSUPPORTED
    c.target = <const int64_t *>data_of(target)
    result = new_like(target, kind) if c.reduction == NONE else new_contiguous(0, NULL, kind)
    if kind == FLOAT:
        done = compute_margins(&c, p, margin, <float *>data_of(<PyArrayObject *>result))
    else:
        done = compute_margins(&c, p, margin, <double *>data_of(<PyArrayObject *>result))
    return set_result(&r[at[op.nargs]], result, kind) if done else UNSUPPORTED


cdef int multilabel_margin_loss(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = float_array(&r[at[0]])
    cdef PyArrayObject *target = contiguous_array_or_null(&r[at[1]])
    cdef Classes c
    cdef int kind, d
    cdef char *is_label
    cdef bint done
    if x == NULL or target == NULL or not read_rows(r, at, x, r[at[2]].v.i, &c) or ndim_of(target) != ndim_of(x):
        return UNSUPPORTED
    for d in range(ndim_of(x)):
        if dims_of(target)[d] != dims_of(x)[d]:
            return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    c.target = <const int64_t *>data_of(target)
    result = new_contiguous(ndim_of(x) - 1 if c.reduction == NONE else 0, dims_of(x), kind)
    is_label = <char *>malloc(c.axis.n)
    if is_label == NULL:
        raise MemoryError()
    if kind == FLOAT:
        done = compute_label_margins(&c, is_label, <float *>data_of(<PyArrayObject *>result))
    else:
        done = compute_label_margins(&c, is_label, <double *>data_of(<PyArrayObject *>result))
    free(is_label)
    return set_result(&r[at[op.nargs]], result, kind) if done else UNSUPPORTED


register_kernel("aten::nll_loss_nd", nll_loss, CONTIGUOUS)
register_kernel("aten::nll_loss", nll_loss, CONTIGUOUS)
register_kernel("aten::nll_loss2d", nll_loss, CONTIGUOUS)
register_kernel("aten::nll_loss_forward", nll_loss_forward, CONTIGUOUS)
register_kernel("aten::nll_loss2d_forward", nll_loss2d_forward, CONTIGUOUS)
register_kernel("aten::nll_loss_backward", nll_loss_backward, CONTIGUOUS)
register_kernel("aten::nll_loss2d_backward", nll_loss2d_backward, CONTIGUOUS)
register_kernel("aten::cross_entropy_loss", cross_entropy, CONTIGUOUS)
register_kernel("aten::multi_margin_loss", multi_margin_loss)
register_kernel("aten::multilabel_margin_loss", multilabel_margin_loss)
