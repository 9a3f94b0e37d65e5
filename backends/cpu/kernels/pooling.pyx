"""Pooling operators (max, average, adaptive pooling) on CPU tensors, by the loops of `pooling_windows.pyx`.

Input: interpreter registers with planes, kernel sizes, strides, paddings and dilations. Output: the register
of the result, or the registers of maxima and indices.

For large inputs and unsupported arguments, the operator's Python kernel runs. Examples:

    max_pool2d(x, [2, 2])     max_pool2d_with_indices(x, [3], [2], [1])
    avg_pool1d(x, [4])        adaptive_avg_pool2d(x, [3, 3])
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT64, PyArrayObject, data_of, dims_of, flags_of, ndim_of, size_of
from ts._core.value.container cimport List, list_item
from ts._core.value.ivalue cimport IValue, TAG_INT, TAG_OBJECT
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport CONTIGUOUS_FLAGS, is_tensor, new_contiguous, set_result, scalar_type
from ts.backends.cpu.kernels.channels_last cimport is_channels_last, new_channels_last
from ts.backends.cpu.kernels.plane_mean cimport are_ones, mean_of_planes
from ts.backends.cpu.kernels.pooling_windows cimport PoolTask, Windows, pool_in_parallel, real
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts.backends.cpu.kernels.tensor_iterator cimport contiguous_copy
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, FLOAT32_CONTIGUOUS, register_kernel


cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    int copy_array "PyArray_CopyInto"(PyArrayObject *to, PyArrayObject *source) except -1

cdef enum:
    MAX_COPIED_ELEMENTS = 1 << 16         # larger channels-last images are left to the operator's Python kernel
    MAX_SIZE = 1 << 30                    # maximal kernel size, stride, padding and dilation in each dimension
    MAX_WINDOWS = 1 << 20                 # maximal number of windows per dimension

cdef enum Divisor:
    WITH_PADDING
    WITHOUT_PADDING
    FIXED


ctypedef struct PoolGeometry:
    int n                              # number of pooled dimensions
    int64_t kernel[3]
    int64_t stride[3]
    int64_t padding[3]
    int64_t planes
    Windows windows
    int64_t *memory                    # memory of `windows`, or NULL until it is allocated
    npy_intp shape[5]                  # shape of the result
    int nd


cdef bint read_sizes(IValue *x, int n, int64_t min_size, int64_t *out):
    """Read a list of `n` sizes, or of one size for all dimensions, into the last `n` of three elements of `out`.

    Return False for other arguments, and if a size is less than `min_size` or at least MAX_SIZE.
    """
    cdef List sizes
    cdef int d
    if x.tag != TAG_OBJECT or type(<object>x.v.o) is not List:
        return False
    sizes = <List>x.v.o
    if sizes.size != 1 and sizes.size != n:
        return False
    for d in range(n):
        out[3 - n + d] = list_item(<PyObject *>sizes, 0 if sizes.size == 1 else d).v.i
        if not min_size <= out[3 - n + d] < MAX_SIZE:
            return False
    return True


cdef bint is_empty_list(IValue *x):
    return x.tag == TAG_OBJECT and type(<object>x.v.o) is List and (<List>x.v.o).size == 0


cdef object planes_array(IValue *x, int n, bint *channels_last):
    """Return a contiguous array of a floating CPU tensor with `n` spatial dimensions, or None.

    A batch of channels-last images is copied, and `channels_last` is set: the result must be channels-last, too.
    """
    cdef PyArrayObject *a
    channels_last[0] = False
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU:
        return None
    if scalar_type(x) != FLOAT and scalar_type(x) != DOUBLE:
        return None
    a = <PyArrayObject *>(<Tensor>x.v.o).array
    if ndim_of(a) >= (3 if n == 1 else 4) and is_channels_last(a):
        if n != 2 or ndim_of(a) != 4 or size_of(a) > MAX_COPIED_ELEMENTS:
            return None
        channels_last[0] = True
        return contiguous_copy(a)
    return <object>a if flags_of(a) & CONTIGUOUS_FLAGS == CONTIGUOUS_FLAGS else None


cdef object copy_channels_last(object array, int kind):
    """Copy an array of images to a channels-last array."""
    cdef PyArrayObject *a = <PyArrayObject *>array
    cdef object result = new_channels_last(ndim_of(a), dims_of(a), kind)
    copy_array(<PyArrayObject *>result, a)
    return result


cdef bint read_planes(PoolGeometry *p, PyArrayObject *a, int n):
    """Read the number of planes and their sizes. Missing spatial dimensions get size 1.

    Return False if this module does not support the tensor's rank.
    """
    cdef int d, nd = ndim_of(a)
    if nd != n + 1 and nd != n + 2:
        return False
    if size_of(a) == 0:
        return False
    p.n, p.nd, p.planes = n, nd, 1
    for d in range(nd - n):
        p.shape[d] = dims_of(a)[d]
        p.planes *= dims_of(a)[d]
    for d in range(3):
        p.windows.size[d] = p.windows.output_size[d] = p.windows.dilation[d] = 1
        p.kernel[d] = p.stride[d] = 1
        p.padding[d] = 0
    for d in range(n):
        p.windows.size[3 - n + d] = dims_of(a)[nd - n + d]
    return p.windows.size[0] * p.windows.size[1] < MAX_SIZE and size_of(a) // p.planes < MAX_SIZE


cdef bint allocate_windows(PoolGeometry *p) except -1:
    """Allocate memory for the start and end of each window, and set the result's shape from the output size.

    Return False if there are more than MAX_WINDOWS windows in a dimension.
    """
    cdef int64_t *w = p.windows.output_size
    cdef int d
    cdef int64_t *at
    for d in range(3):
        if not 1 <= w[d] <= MAX_WINDOWS:
            return False
    for d in range(p.n):
        p.shape[p.nd - p.n + d] = w[3 - p.n + d]
    p.memory = <int64_t *>malloc(2 * (w[0] + w[1] + w[2]) * sizeof(int64_t))
    if p.memory == NULL:
        raise MemoryError()
    at = p.memory
    for d in range(3):
        p.windows.begin[d], p.windows.stop[d] = at, at + w[d]
        at += 2 * w[d]
    return True


cdef bint set_sliding_windows(PoolGeometry *p, bint ceil) except -1:
    """Set the start and end of windows that advance by a stride.

    Return False if the arguments are invalid.
    """
    cdef int64_t size, room, k, s, pad, gap, start, i
    cdef int d
    for d in range(3):
        size, k, s, pad, gap = p.windows.size[d], p.kernel[d], p.stride[d], p.padding[d], p.windows.dilation[d]
        room = size + 2 * pad - gap * (k - 1) - 1
        if room < 0 or pad > k // 2:
            return False
        p.windows.output_size[d] = (room + s - 1 if ceil else room) // s + 1
        if ceil and (p.windows.output_size[d] - 1) * s >= size + pad:
            p.windows.output_size[d] -= 1
    if not allocate_windows(p):
        return False
    for d in range(3):
        gap = p.windows.dilation[d]
        for i in range(p.windows.output_size[d]):
            start = i * p.stride[d] - p.padding[d]
            p.windows.stop[d][i] = min(start + gap * (p.kernel[d] - 1) + 1, p.windows.size[d])
            p.windows.begin[d][i] = start if start >= 0 else start + (-start + gap - 1) // gap * gap
    return True


cdef bint set_adaptive_windows(PoolGeometry *p) except -1:
    """Set the windows of adaptive pooling, which divide each dimension into nearly equal sections.

    Return False if there are more than MAX_WINDOWS windows in a dimension.
    """
    cdef int64_t i, n, m
    cdef int d
    if not allocate_windows(p):
        return False
    for d in range(3):
        n, m = p.windows.size[d], p.windows.output_size[d]
        for i in range(m):
            p.windows.begin[d][i] = i * n // m
            p.windows.stop[d][i] = ((i + 1) * n + m - 1) // m
    return True


cdef double work_of(PyArrayObject *a, PoolGeometry *p) noexcept nogil:
    """Return the number of elements of the input and the result."""
    cdef int64_t *sizes = p.windows.output_size
    return size_of(a) + <double>p.planes * sizes[0] * sizes[1] * sizes[2]


cdef PoolTask new_task(PoolGeometry *p, int kind, PyArrayObject *a) noexcept:
    cdef PoolTask task
    task.windows, task.x, task.out = &p.windows, data_of(a), NULL
    task.letter = c'f' if kind == FLOAT else c'd'
    task.mean, task.index, task.divisor = False, NULL, NULL
    return task


# ---------------------------------------------------------------- maxima

cdef int store_maxima(Operator op, IValue *r, const int32_t *at, PyArrayObject *a, PoolGeometry *p, bint channels_last, bint with_values_only) except -1:
    cdef int kind = scalar_type(&r[at[0]]), done
    cdef PoolTask task = new_task(p, kind, a)
    cdef ReleasedGil gil_state
    result = new_contiguous(p.nd, p.shape, kind)
    where = None
    if not with_values_only:
        where = new_contiguous(p.nd, p.shape, INT64)
        task.index = <int64_t *>data_of(<PyArrayObject *>where)
    task.out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    done = pool_in_parallel(&task, p.planes, work_of(a, p))
    take_gil(gil_state)
    free(p.memory)
    if done < 0:
        raise MemoryError()
    if channels_last:
        result = copy_channels_last(result, kind)
        where = None if where is None else copy_channels_last(where, INT64)
    set_result(&r[at[op.nargs]], result, kind)
    if where is not None:
        set_result(&r[at[op.nargs + 1]], where, INT64)
    return 0


cdef int max_pool(Operator op, IValue *r, const int32_t *at, int n) except -1:
    cdef bint channels_last
    cdef object array = planes_array(&r[at[0]], n, &channels_last)
    cdef PyArrayObject *a = <PyArrayObject *>array
    cdef PoolGeometry p
    if array is None:
        return UNSUPPORTED
    if not read_planes(&p, a, n) or not read_sizes(&r[at[1]], n, 1, p.kernel) or not read_sizes(&r[at[3]], n, 0, p.padding):
        return UNSUPPORTED
    if not read_sizes(&r[at[1]] if is_empty_list(&r[at[2]]) else &r[at[2]], n, 1, p.stride):
        return UNSUPPORTED
    if not read_sizes(&r[at[4]], n, 1, p.windows.dilation) or not set_sliding_windows(&p, r[at[5]].v.i != 0):
        return UNSUPPORTED
    return store_maxima(op, r, at, a, &p, channels_last, op.nrets == 1)


cdef int max_pool1d(Operator op, IValue *r, const int32_t *at) except -1:
    return max_pool(op, r, at, 1)

cdef int max_pool2d(Operator op, IValue *r, const int32_t *at) except -1:
    return max_pool(op, r, at, 2)

cdef int max_pool3d(Operator op, IValue *r, const int32_t *at) except -1:
    return max_pool(op, r, at, 3)


# ---------------------------------------------------------------- means

cdef int64_t count_elements(PoolGeometry *p, int d, int64_t i, Divisor divisor) noexcept nogil:
    """Return the number of elements of window `i` along dimension `d`.

    Elements of the padding count only if `divisor` is WITH_PADDING.
    """
    cdef int64_t start = i * p.stride[d] - p.padding[d]
    if divisor == WITH_PADDING:
        return min(start + p.kernel[d], p.windows.size[d] + p.padding[d]) - start
    return p.windows.stop[d][i] - p.windows.begin[d][i]


cdef void count_window_elements(PoolGeometry *p, Divisor divisor, int64_t fixed_divisor, real *out) noexcept nogil:
    cdef int64_t i, j, k, o = 0
    for i in range(p.windows.output_size[0]):
        for j in range(p.windows.output_size[1]):
            for k in range(p.windows.output_size[2]):
                out[o] = fixed_divisor if divisor == FIXED else (
                    count_elements(p, 0, i, divisor) * count_elements(p, 1, j, divisor) * count_elements(p, 2, k, divisor)
                )
                o += 1


cdef int store_means(Operator op, IValue *r, const int32_t *at, PyArrayObject *a, PoolGeometry *p, bint channels_last, Divisor divisor, int64_t fixed_divisor) except -1:
    cdef int kind = scalar_type(&r[at[0]]), done
    cdef PoolTask task = new_task(p, kind, a)
    cdef ReleasedGil gil_state
    result = new_contiguous(p.nd, p.shape, kind)
    task.mean = True
    task.out = data_of(<PyArrayObject *>result)
    task.divisor = <char *>malloc(p.windows.output_size[0] * p.windows.output_size[1] * p.windows.output_size[2] * sizeof(double))
    if task.divisor == NULL:
        free(p.memory)
        raise MemoryError()
    gil_state = leave_gil(size_of(a), r, at, op.nargs)
    if kind == FLOAT:
        count_window_elements[float](p, divisor, fixed_divisor, <float *>task.divisor)
    else:
        count_window_elements[double](p, divisor, fixed_divisor, <double *>task.divisor)
    done = pool_in_parallel(&task, p.planes, work_of(a, p))
    take_gil(gil_state)
    free(task.divisor)
    free(p.memory)
    if done < 0:
        raise MemoryError()
    return set_result(&r[at[op.nargs]], copy_channels_last(result, kind) if channels_last else result, kind)


cdef int avg_pool(Operator op, IValue *r, const int32_t *at, int n) except -1:
    cdef bint channels_last
    cdef object array = planes_array(&r[at[0]], n, &channels_last)
    cdef PyArrayObject *a = <PyArrayObject *>array
    cdef bint overridden = op.nargs > 6 and r[at[6]].tag == TAG_INT
    cdef PoolGeometry p
    cdef int d
    if array is None:
        return UNSUPPORTED
    if not read_planes(&p, a, n) or not read_sizes(&r[at[1]], n, 1, p.kernel) or not read_sizes(&r[at[3]], n, 0, p.padding):
        return UNSUPPORTED
    if not read_sizes(&r[at[1]] if is_empty_list(&r[at[2]]) else &r[at[2]], n, 1, p.stride):
        return UNSUPPORTED
    for d in range(3):
        if n == 3 and p.windows.size[d] < p.kernel[d]:
            return UNSUPPORTED
    if (overridden and r[at[6]].v.i == 0) or not set_sliding_windows(&p, r[at[4]].v.i != 0):
        return UNSUPPORTED
    return store_means(
        op, r, at, a, &p, channels_last, FIXED if overridden else WITH_PADDING if r[at[5]].v.i else WITHOUT_PADDING, r[at[6]].v.i if overridden else 0
    )


cdef int avg_pool1d(Operator op, IValue *r, const int32_t *at) except -1:
    return avg_pool(op, r, at, 1)

cdef int avg_pool2d(Operator op, IValue *r, const int32_t *at) except -1:
    return avg_pool(op, r, at, 2)

cdef int avg_pool3d(Operator op, IValue *r, const int32_t *at) except -1:
    return avg_pool(op, r, at, 3)


# ---------------------------------------------------------------- adaptive pooling

cdef int adaptive_pool(Operator op, IValue *r, const int32_t *at, int n, bint maxima) except -1:
    cdef bint channels_last
    cdef object array = planes_array(&r[at[0]], n, &channels_last)
    cdef PyArrayObject *a = <PyArrayObject *>array
    cdef PoolGeometry p
    if array is None:
        return UNSUPPORTED
    if not read_planes(&p, a, n) or not read_sizes(&r[at[1]], n, 1, p.windows.output_size) or not set_adaptive_windows(&p):
        return UNSUPPORTED
    return store_maxima(op, r, at, a, &p, channels_last, False) if maxima else store_means(op, r, at, a, &p, channels_last, WITHOUT_PADDING, 0)


cdef int adaptive_avg_pool1d(Operator op, IValue *r, const int32_t *at) except -1:
    return adaptive_pool(op, r, at, 1, False)

cdef int adaptive_avg_pool2d(Operator op, IValue *r, const int32_t *at) except -1:
    return mean_of_planes(op, r, at) if are_ones(&r[at[1]]) else adaptive_pool(op, r, at, 2, False)

cdef int adaptive_max_pool1d(Operator op, IValue *r, const int32_t *at) except -1:
    return adaptive_pool(op, r, at, 1, True)

cdef int adaptive_max_pool2d(Operator op, IValue *r, const int32_t *at) except -1:
    return adaptive_pool(op, r, at, 2, True)


register_kernel("aten::max_pool1d", max_pool1d, FLOAT32_CONTIGUOUS)
register_kernel("aten::max_pool2d", max_pool2d, FLOAT32_CONTIGUOUS)
register_kernel("aten::max_pool3d", max_pool3d, FLOAT32_CONTIGUOUS)
register_kernel("aten::max_pool1d_with_indices", max_pool1d, FLOAT32_CONTIGUOUS)
register_kernel("aten::max_pool2d_with_indices", max_pool2d, FLOAT32_CONTIGUOUS)
register_kernel("aten::max_pool3d_with_indices", max_pool3d, FLOAT32_CONTIGUOUS)
register_kernel("aten::avg_pool1d", avg_pool1d, FLOAT32_CONTIGUOUS)
register_kernel("aten::avg_pool2d", avg_pool2d, FLOAT32_CONTIGUOUS)
register_kernel("aten::avg_pool3d", avg_pool3d, CONTIGUOUS)
register_kernel("aten::adaptive_avg_pool1d", adaptive_avg_pool1d, FLOAT32_CONTIGUOUS)
register_kernel("aten::adaptive_avg_pool2d", adaptive_avg_pool2d, FLOAT32_CONTIGUOUS)
register_kernel("aten::adaptive_max_pool1d", adaptive_max_pool1d, FLOAT32_CONTIGUOUS)
register_kernel("aten::adaptive_max_pool2d", adaptive_max_pool2d, FLOAT32_CONTIGUOUS)
