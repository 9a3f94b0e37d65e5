"""Global average pooling of CPU tensors (adaptive average pooling to one element).

Input: interpreter registers with contiguous or channels-last images, and sizes that are all 1. Output: the
register of the result, of shape (images, channels, 1, 1).

Sums are accumulated in double. For other arguments, the operator's Python kernel runs. Example:

    adaptive_avg_pool2d(x, [1, 1])
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.value.container cimport List, list_item
from ts._core.value.ivalue cimport IValue, TAG_OBJECT
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, is_tensor, new_contiguous, set_result, scalar_type
from ts.backends.cpu.kernels.channels_last cimport is_channels_last, dense_channels_last, new_channels_last
from ts.backends.cpu.kernels.reduce cimport BLOCK, block_sum, floating

cnp.import_array()


cdef void mean_planes(const floating *x, npy_intp planes, npy_intp n, floating *out) noexcept nogil:
    cdef npy_intp p, i
    cdef double total
    for p in range(planes):
        total = 0
        i = 0
        while n - i > BLOCK:
            total = block_sum(x + i, BLOCK, total)
            i += BLOCK
        out[p] = <floating>(block_sum(x + i, n - i, total) / n)
        x += n


cdef void mean_rows(
    const floating *x, npy_intp images, npy_intp channels, npy_intp n, double *sums, floating *out
) noexcept nogil:
    """Average each channel of channels-last images. `sums` is a buffer with one number per channel."""
    cdef npy_intp i, k, c
    for i in range(images):
        for c in range(channels):
            sums[c] = 0
        for k in range(n):
            for c in range(channels):
                sums[c] += x[c]
            x += channels
        for c in range(channels):
            out[c] = <floating>(sums[c] / n)
        out += channels


cdef bint are_ones(IValue *x) noexcept:
    cdef List sizes
    if x.tag != TAG_OBJECT or type(<object>x.v.o) is not List:
        return False
    sizes = <List>x.v.o
    if sizes.size != 1 and sizes.size != 2:
        return False
    return list_item(<PyObject *>sizes, 0).v.i == 1 and list_item(<PyObject *>sizes, sizes.size - 1).v.i == 1


cdef int mean_of_planes(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a
    cdef npy_intp shape[4]
    cdef npy_intp n
    cdef int kind
    cdef bint channels_last
    cdef void *out
    cdef double *sums = NULL
    cdef ReleasedGil gil_state
    if not is_tensor(&r[at[0]]) or (<Tensor>r[at[0]].v.o).backend != BACKEND_CPU or not are_ones(&r[at[1]]):
        return UNSUPPORTED
    a = <PyArrayObject *>(<Tensor>r[at[0]].v.o).array
    kind = scalar_type(&r[at[0]])
    if ndim_of(a) != 4 or size_of(a) == 0 or (kind != FLOAT and kind != DOUBLE):
        return UNSUPPORTED
    channels_last = is_channels_last(a)
    if not (dense_channels_last(a) if channels_last else contiguous_array_or_null(&r[at[0]]) != NULL):
        return UNSUPPORTED
    shape[0], shape[1], shape[2], shape[3] = dims_of(a)[0], dims_of(a)[1], 1, 1
    n = dims_of(a)[2] * dims_of(a)[3]
    result = new_channels_last(4, shape, kind) if channels_last else new_contiguous(4, shape, kind)
    out = data_of(<PyArrayObject *>result)
    if channels_last:
        sums = <double *>malloc(shape[1] * sizeof(double))
        if sums == NULL:
            raise MemoryError()
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    if channels_last and kind == FLOAT:
        mean_rows(<float *>data_of(a), shape[0], shape[1], n, sums, <float *>out)
    elif channels_last:
        mean_rows(<double *>data_of(a), shape[0], shape[1], n, sums, <double *>out)
    elif kind == FLOAT:
        mean_planes(<float *>data_of(a), shape[0] * shape[1], n, <float *>out)
    else:
        mean_planes(<double *>data_of(a), shape[0] * shape[1], n, <double *>out)
    take_gil(gil_state)
    free(sums)
    return set_result(&r[at[op.nargs]], result, kind)
