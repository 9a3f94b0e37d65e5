"""Backward of layer, group and batch normalization for contiguous CPU tensors.

Input: interpreter registers with the result's gradient, the input, its moments, the weights, and an output
mask. Output: the registers of the gradients of input, weight and bias.

A gradient that the mask excludes is an empty tensor. For other arguments, the operator's Python kernel runs.
The table shows the loop of each operator:

    native_layer_norm_backward      row by row
    native_group_norm_backward      channels of an image one by one
    native_batch_norm_backward      channels of an image one by one, or all in parallel if each is one element
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.value.container cimport List, list_item
from ts._core.value.ivalue cimport IValue, TAG_NONE
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, float_array, new_contiguous, new_like, set_result, scalar_type
from ts.backends.cpu.kernels.row_loops cimport RowLoops
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel
from ts.backends.cpu.kernels.vector_math cimport row_loops_here

cnp.import_array()

cdef const RowLoops *LOOPS = row_loops_here()

ctypedef fused floating:
    float
    double


# addresses to which the gradients are written. The address is NULL if the gradient is not requested.
ctypedef struct GradientOutputs:
    void *of_input
    void *of_weight
    void *of_bias


cdef void sums(const floating *g, const floating *x, floating about, npy_intp n, double *first, double *second) noexcept nogil:
    if floating is float:
        LOOPS.float_backward.sums(g, x, about, n, first, second)
    else:
        LOOPS.double_backward.sums(g, x, about, n, first, second)


cdef void affine(const floating *g, const floating *x, double a, double b, double c, npy_intp n, floating *out) noexcept nogil:
    if floating is float:
        LOOPS.float_backward.affine(g, x, <float>a, <float>b, <float>c, n, out)
    else:
        LOOPS.double_backward.affine(g, x, a, b, c, n, out)


cdef void scale_gradient(const floating *g, double a, npy_intp n, floating *out) noexcept nogil:
    if floating is float:
        LOOPS.float_backward.scale(g, <float>a, n, out)
    else:
        LOOPS.double_backward.scale(g, a, n, out)


# ---------------------------------------------------------------- arguments and results

cdef bint is_gradient_required(IValue *mask, Py_ssize_t i) noexcept:
    return i < (<List>mask.v.o).size and list_item(<PyObject *>mask.v.o, i).v.i != 0


cdef PyArrayObject *read_contiguous(IValue *x, int kind, npy_intp n) noexcept:
    """Return the array of a contiguous tensor of `n` elements with dtype `kind`, or NULL for others."""
    cdef PyArrayObject *a = contiguous_array_or_null(x)
    return a if a != NULL and scalar_type(x) == kind and size_of(a) == n else NULL


cdef bint read_weights(IValue *x, int kind, npy_intp n, void **data) noexcept:
    """Read an optional contiguous tensor with `n` elements and dtype `kind`.

    Return False for other values.
    """
    cdef PyArrayObject *a
    data[0] = NULL
    if x.tag == TAG_NONE:
        return True
    a = read_contiguous(x, kind, n)
    if a != NULL:
        data[0] = data_of(a)
    return a != NULL


cdef PyArrayObject *read_gradient(IValue *gradient, PyArrayObject *x, int kind) noexcept:
    """Return the array of a contiguous gradient with shape and dtype of the input, else NULL."""
    cdef PyArrayObject *g = read_contiguous(gradient, kind, size_of(x))
    cdef int d
    if g == NULL or ndim_of(g) != ndim_of(x):
        return NULL
    for d in range(ndim_of(x)):
        if dims_of(g)[d] != dims_of(x)[d]:
            return NULL
    return g


cdef void *new_gradient(list gradients, Py_ssize_t i, IValue *mask, int nd, npy_intp *dims, int kind, bint zeroed) except? NULL:
    """Append a new array for gradient `i` to `gradients` and return the address of its elements.

    If `mask` does not request the gradient, append an empty array and return NULL.
    """
    cdef npy_intp none = 0
    cdef PyArrayObject *a
    if not is_gradient_required(mask, i):
        gradients.append(new_contiguous(1, &none, kind))
        return NULL
    array = new_contiguous(nd, dims, kind)
    gradients.append(array)
    a = <PyArrayObject *>array
    if zeroed:
        memset(data_of(a), 0, cnp.PyArray_NBYTES(<cnp.ndarray>array))
    return data_of(a)


cdef int store_gradients(Operator op, IValue *r, const int32_t *at, list gradients, int kind) except -1:
    cdef Py_ssize_t i
    for i in range(3):
        set_result(&r[at[op.nargs + i]], gradients[i], kind)
    return 0


# ---------------------------------------------------------------- layer normalization

cdef int layer_norm(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = float_array(&r[at[1]])
    cdef PyArrayObject *g
    cdef PyArrayObject *mean
    cdef PyArrayObject *scale
    cdef List shape = <List>r[at[2]].v.o
    cdef npy_intp n = 1, rows
    cdef int kind, d, first
    cdef void *weight
    cdef GradientOutputs gradients
    cdef list arrays = []
    cdef ReleasedGil gil_state
    if x == NULL or contiguous_array_or_null(&r[at[0]]) == NULL:
        return UNSUPPORTED
    first = ndim_of(x) - <int>shape.size
    if size_of(x) == 0 or shape.size == 0 or first < 0:
        return UNSUPPORTED
    for d in range(<int>shape.size):
        if list_item(<PyObject *>shape, d).v.i != dims_of(x)[first + d]:
            return UNSUPPORTED
        n *= dims_of(x)[first + d]
    kind, rows = scalar_type(&r[at[1]]), size_of(x) // n
    g, mean, scale = read_gradient(&r[at[0]], x, kind), read_contiguous(&r[at[3]], kind, rows), read_contiguous(&r[at[4]], kind, rows)
    if g == NULL or mean == NULL or scale == NULL or not read_weights(&r[at[5]], kind, n, &weight):
        return UNSUPPORTED
    gradients.of_input = new_gradient(arrays, 0, &r[at[7]], ndim_of(x), dims_of(x), kind, False)
    gradients.of_weight = new_gradient(arrays, 1, &r[at[7]], <int>shape.size, dims_of(x) + first, kind, True)
    gradients.of_bias = new_gradient(arrays, 2, &r[at[7]], <int>shape.size, dims_of(x) + first, kind, True)
    gil_state = leave_gil(size_of(x), r, at, op.nargs)
    if kind == FLOAT:
        LOOPS.float_backward.rows(
            <float *>data_of(g), <float *>data_of(x), <float *>weight, <float *>data_of(mean), <float *>data_of(scale), rows, n,
            <float *>gradients.of_input, <float *>gradients.of_weight, <float *>gradients.of_bias)
    else:
        LOOPS.double_backward.rows(
            <double *>data_of(g), <double *>data_of(x), <double *>weight, <double *>data_of(mean), <double *>data_of(scale),
            rows, n, <double *>gradients.of_input, <double *>gradients.of_weight, <double *>gradients.of_bias)
    take_gil(gil_state)
    return store_gradients(op, r, at, arrays, kind)


# ---------------------------------------------------------------- group normalization

ctypedef struct Groups:
    npy_intp images
    npy_intp groups
    npy_intp channels                  # number of channels of a group
    npy_intp inner


cdef void group_planes(
    const floating *g, const floating *x, const floating *weight, const floating *mean, const floating *scale, Groups *s,
    floating *of_x, floating *of_weight, floating *of_bias,
) noexcept nogil:
    """Compute the gradients for each group of each image from sums over the planes of its channels."""
    cdef npy_intp i, c, at, count = s.channels * s.inner
    cdef double first, second, one, two, by, along, about, w
    for i in range(s.images * s.groups):
        by, about, first, second = scale[i], mean[i], 0, 0
        for c in range(s.channels):
            at = (i % s.groups) * s.channels + c
            sums[floating](g + c * s.inner, x + c * s.inner, mean[i], s.inner, &one, &two)
            if of_weight != NULL:
                of_weight[at] += <floating>(two * by)
            if of_bias != NULL:
                of_bias[at] += <floating>one
            w = 1 if weight == NULL else weight[at]
            first += one * w
            second += two * w
        if of_x != NULL:
            along = -second * by * by * by / count
            for c in range(s.channels):
                at = (i % s.groups) * s.channels + c
                w = by if weight == NULL else by * weight[at]
                affine[floating](
                    g + c * s.inner, x + c * s.inner, w, along, -first * by / count - along * about, s.inner, of_x + c * s.inner)
            of_x += count
        g += count
        x += count


cdef int group_norm(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = float_array(&r[at[1]])
    cdef PyArrayObject *g
    cdef PyArrayObject *mean
    cdef PyArrayObject *scale
    cdef int64_t n = r[at[5]].v.i, c = r[at[6]].v.i, area = r[at[7]].v.i, groups = r[at[8]].v.i
    cdef npy_intp channels = c
    cdef int kind
    cdef void *weight
    cdef Groups s
    cdef GradientOutputs gradients
    cdef list arrays = []
    cdef ReleasedGil gil_state
    if x == NULL or contiguous_array_or_null(&r[at[0]]) == NULL:
        return UNSUPPORTED
    if size_of(x) == 0 or ndim_of(x) < 2 or groups <= 0 or c % groups or dims_of(x)[0] != n or dims_of(x)[1] != c:
        return UNSUPPORTED
    s.images, s.groups, s.channels, s.inner = n, groups, c // groups, size_of(x) // (n * c)
    kind = scalar_type(&r[at[1]])
    g = read_gradient(&r[at[0]], x, kind)
    mean, scale = read_contiguous(&r[at[2]], kind, n * groups), read_contiguous(&r[at[3]], kind, n * groups)
    if g == NULL or mean == NULL or scale == NULL or s.inner != area or not read_weights(&r[at[4]], kind, c, &weight):
        return UNSUPPORTED
    gradients.of_input = new_gradient(arrays, 0, &r[at[9]], ndim_of(x), dims_of(x), kind, False)
    gradients.of_weight = new_gradient(arrays, 1, &r[at[9]], 1, &channels, kind, True)
    gradients.of_bias = new_gradient(arrays, 2, &r[at[9]], 1, &channels, kind, True)
    gil_state = leave_gil(size_of(x), r, at, op.nargs)
    if kind == FLOAT:
        group_planes[float](
            <float *>data_of(g), <float *>data_of(x), <float *>weight, <float *>data_of(mean), <float *>data_of(scale), &s,
            <float *>gradients.of_input, <float *>gradients.of_weight, <float *>gradients.of_bias)
    else:
        group_planes[double](
            <double *>data_of(g), <double *>data_of(x), <double *>weight, <double *>data_of(mean), <double *>data_of(scale), &s,
            <double *>gradients.of_input, <double *>gradients.of_weight, <double *>gradients.of_bias)
    take_gil(gil_state)
    return store_gradients(op, r, at, arrays, kind)


# ---------------------------------------------------------------- batch normalization

ctypedef struct Batch:
    npy_intp images
    npy_intp channels
    npy_intp inner
    bint training  # True if mean and variance were computed from the batch. The gradient then includes their dependence on the input.
    double eps


cdef inline double scale_of(floating spread, Batch *s) noexcept nogil:
    """Return the reciprocal of the standard deviation.

    In training, `spread` is this reciprocal. Otherwise, `spread` is the running variance.
    """
    return <double>spread if s.training else 1 / sqrt(spread + s.eps)


cdef void batch_planes(
    const floating *g, const floating *x, const floating *weight, const floating *mean, const floating *spread, Batch *s,
    floating *of_x, floating *of_weight, floating *of_bias,
) noexcept nogil:
    cdef npy_intp i, c, at, count = s.images * s.inner
    cdef double first, second, one, two, by, along, w
    for c in range(s.channels):
        by, first, second = scale_of[floating](spread[c], s), 0, 0
        if of_weight != NULL or of_bias != NULL or s.training:
            for i in range(s.images):
                at = (i * s.channels + c) * s.inner
                sums[floating](g + at, x + at, mean[c], s.inner, &one, &two)
                first += one
                second += two
        if of_weight != NULL:
            of_weight[c] = <floating>(second * by)
        if of_bias != NULL:
            of_bias[c] = <floating>first
        if of_x == NULL:
            continue
        w = by if weight == NULL else by * weight[c]
        along = -w * by * by * second / count if s.training else 0
        first = -w * first / count - along * mean[c] if s.training else 0
        for i in range(s.images):
            at = (i * s.channels + c) * s.inner
            if s.training:
                affine[floating](g + at, x + at, w, along, first, s.inner, of_x + at)
            else:  # the gradient does not depend on x, which may be infinite or NaN
                scale_gradient[floating](g + at, w, s.inner, of_x + at)


cdef void batch_columns(
    const floating *g, const floating *x, const floating *weight, const floating *mean, const floating *spread, Batch *s,
    floating *of_x, floating *of_weight, floating *of_bias, floating *room,
) noexcept nogil:
    """Compute batch norm gradients for planes of one element.

    `room` is a buffer with five rows of one number per channel. The first two rows must be zero.
    """
    cdef npy_intp c, n = s.channels
    cdef floating *first = room
    cdef floating *second = room + n
    cdef double by, along, w
    if floating is float:
        LOOPS.float_backward.column_sums(g, x, mean, s.images, n, first, second)
    else:
        LOOPS.double_backward.column_sums(g, x, mean, s.images, n, first, second)
    for c in range(n):
        by = scale_of[floating](spread[c], s)
        if of_weight != NULL:
            of_weight[c] = <floating>(second[c] * by)
        if of_bias != NULL:
            of_bias[c] = first[c]
        w = by if weight == NULL else by * weight[c]
        along = -w * by * by * second[c] / s.images if s.training else 0
        room[2 * n + c], room[3 * n + c] = <floating>w, <floating>along
        room[4 * n + c] = <floating>(-w * first[c] / s.images - along * mean[c]) if s.training else 0
    if of_x == NULL:
        return
    if not s.training:  # the gradient does not depend on x, which may be infinite or NaN
        if floating is float:
            LOOPS.float_backward.column_scale(g, room + 2 * n, s.images, n, of_x)
        else:
            LOOPS.double_backward.column_scale(g, room + 2 * n, s.images, n, of_x)
    elif floating is float:
        LOOPS.float_backward.column_affine(g, x, room + 2 * n, room + 3 * n, room + 4 * n, s.images, n, of_x)
    else:
        LOOPS.double_backward.column_affine(g, x, room + 2 * n, room + 3 * n, room + 4 * n, s.images, n, of_x)


cdef void batch_backward(
    const floating *g, const floating *x, const floating *weight, const floating *mean, const floating *spread, Batch *s,
    floating *of_x, floating *of_weight, floating *of_bias, void *room,
) noexcept nogil:
    if room != NULL:
        batch_columns[floating](g, x, weight, mean, spread, s, of_x, of_weight, of_bias, <floating *>room)
    else:
        batch_planes[floating](g, x, weight, mean, spread, s, of_x, of_weight, of_bias)


cdef int batch_norm(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = float_array(&r[at[1]])
    cdef PyArrayObject *g
    cdef PyArrayObject *mean
    cdef PyArrayObject *spread
    cdef npy_intp channels, more
    cdef int kind
    cdef void *weight
    cdef void *room = NULL
    cdef Batch s
    cdef GradientOutputs gradients
    cdef list arrays = []
    cdef ReleasedGil gil_state
    if x == NULL or contiguous_array_or_null(&r[at[0]]) == NULL:
        return UNSUPPORTED
    if size_of(x) == 0 or ndim_of(x) < 2:
        return UNSUPPORTED
    kind, channels, s.training, s.eps = scalar_type(&r[at[1]]), dims_of(x)[1], r[at[7]].v.i != 0, r[at[8]].v.f
    s.images, s.channels, s.inner = dims_of(x)[0], channels, size_of(x) // (dims_of(x)[0] * channels)
    g = read_gradient(&r[at[0]], x, kind)
    mean = read_contiguous(&r[at[5 if s.training else 3]], kind, channels)
    spread = read_contiguous(&r[at[6 if s.training else 4]], kind, channels)
    if g == NULL or mean == NULL or spread == NULL or not read_weights(&r[at[2]], kind, channels, &weight):
        return UNSUPPORTED
    gradients.of_input = new_gradient(arrays, 0, &r[at[9]], ndim_of(x), dims_of(x), kind, False)
    gradients.of_weight = new_gradient(arrays, 1, &r[at[9]], 1, &channels, kind, False)
    gradients.of_bias = new_gradient(arrays, 2, &r[at[9]], 1, &channels, kind, False)
    if s.inner == 1:
        more = 5 * channels
        buffer = new_contiguous(1, &more, kind)
        room = data_of(<PyArrayObject *>buffer)
        memset(room, 0, cnp.PyArray_NBYTES(<cnp.ndarray>buffer))
    gil_state = leave_gil(size_of(x), r, at, op.nargs)
    if kind == FLOAT:
        batch_backward[float](
            <float *>data_of(g), <float *>data_of(x), <float *>weight, <float *>data_of(mean), <float *>data_of(spread), &s,
            <float *>gradients.of_input, <float *>gradients.of_weight, <float *>gradients.of_bias, room)
    else:
        batch_backward[double](
            <double *>data_of(g), <double *>data_of(x), <double *>weight, <double *>data_of(mean), <double *>data_of(spread), &s,
            <double *>gradients.of_input, <double *>gradients.of_weight, <double *>gradients.of_bias, room)
    take_gil(gil_state)
    return store_gradients(op, r, at, arrays, kind)


register_kernel("aten::native_layer_norm_backward", layer_norm, CONTIGUOUS)
register_kernel("aten::native_group_norm_backward", group_norm, CONTIGUOUS)
register_kernel("aten::native_batch_norm_backward", batch_norm, CONTIGUOUS)
