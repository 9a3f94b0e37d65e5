"""Sliding windows of images as columns of a matrix (im2col, `unfold` of images).

Input: interpreter registers with a contiguous float32 or float64 CPU tensor (N, C, H, W) or (C, H, W), and kernel
size, dilation, padding and stride. Output: the register of the matrix (N, C * kernel elements, windows). For other
arguments, the operator's Python kernel runs. Example:

    im2col(x, [3, 3], [1, 1], [0, 0], [2, 2])
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.value.container cimport List, list_item
from ts._core.value.ivalue cimport IValue, TAG_OBJECT
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport float_array, item_size, new_contiguous, scalar_type, set_result
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel

cnp.import_array()

cdef enum:
    MAX_SIZE = 1 << 30                 # maximal kernel size, dilation, padding and stride
    MAX_RESULT_ELEMENTS = 1 << 30

ctypedef struct Windows:               # index 0: rows, index 1: columns
    npy_intp size[2]                   # of the image
    int64_t kernel[2]
    int64_t dilation[2]
    int64_t padding[2]
    int64_t stride[2]
    npy_intp count[2]                  # number of windows

ctypedef fused number:
    float
    double


cdef bint read_pair(IValue *x, int64_t min_value, int64_t *out):
    """Read a list of two numbers, or of one number for both. Return False for other values."""
    cdef List values
    cdef int d
    if x.tag != TAG_OBJECT or type(<object>x.v.o) is not List:
        return False
    values = <List>x.v.o
    if values.size != 1 and values.size != 2:
        return False
    for d in range(2):
        out[d] = list_item(<PyObject *>values, 0 if values.size == 1 else d).v.i
        if not min_value <= out[d] < MAX_SIZE:
            return False
    return True


cdef inline void copy_row(const number *x, npy_intp width, int64_t start, int64_t stride, npy_intp n, number *out) noexcept nogil:
    """Copy the elements start, start + stride, ... of a row with `width` elements. Others are zero."""
    cdef npy_intp i, first = 0, end = 0
    if start < 0:
        first = min((-start + stride - 1) // stride, n)
    if start < width:
        end = min((width - start + stride - 1) // stride, n)
    end = max(first, end)
    for i in range(first):
        out[i] = 0
    if stride == 1:
        memcpy(out + first, x + start + first, (end - first) * sizeof(number))
    else:
        for i in range(first, end):
            out[i] = x[start + i * stride]
    for i in range(end, n):
        out[i] = 0


cdef void copy_windows(const number *x, npy_intp planes, Windows *w, number *out) noexcept nogil:
    cdef npy_intp plane, i, j, row
    cdef int64_t y
    for plane in range(planes):
        for i in range(w.kernel[0]):
            for j in range(w.kernel[1]):
                for row in range(w.count[0]):
                    y = row * w.stride[0] - w.padding[0] + i * w.dilation[0]
                    if 0 <= y < w.size[0]:
                        copy_row[number](
                            x + y * w.size[1], w.size[1], j * w.dilation[1] - w.padding[1], w.stride[1], w.count[1], out
                        )
                    else:
                        memset(out, 0, w.count[1] * sizeof(number))
                    out += w.count[1]
        x += w.size[0] * w.size[1]


cdef int im2col(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = float_array(&r[at[0]])
    cdef Windows w
    cdef npy_intp dims[3]
    cdef npy_intp planes
    cdef int d, nd, kind
    cdef int64_t room
    cdef char *x
    cdef char *out
    cdef ReleasedGil gil_state
    if a == NULL or not 3 <= ndim_of(a) <= 4 or size_of(a) == 0 or size_of(a) > MAX_RESULT_ELEMENTS:
        return UNSUPPORTED
    if not read_pair(&r[at[1]], 1, w.kernel) or not read_pair(&r[at[2]], 1, w.dilation):
        return UNSUPPORTED
    if not read_pair(&r[at[3]], 0, w.padding) or not read_pair(&r[at[4]], 1, w.stride):
        return UNSUPPORTED
    nd, kind = ndim_of(a), scalar_type(&r[at[0]])
    for d in range(2):
        w.size[d] = dims_of(a)[nd - 2 + d]
        room = w.size[d] + 2 * w.padding[d] - w.dilation[d] * (w.kernel[d] - 1) - 1
        if room < 0:
            return UNSUPPORTED
        w.count[d] = room // w.stride[d] + 1
    planes = size_of(a) // (w.size[0] * w.size[1])
    if w.count[0] > MAX_RESULT_ELEMENTS // w.count[1] or w.kernel[0] > MAX_RESULT_ELEMENTS // w.kernel[1]:
        return UNSUPPORTED
    if <double>planes * w.count[0] * w.count[1] * w.kernel[0] * w.kernel[1] > MAX_RESULT_ELEMENTS:
        return UNSUPPORTED
    dims[0] = dims_of(a)[0]
    dims[nd - 3] = dims_of(a)[nd - 3] * w.kernel[0] * w.kernel[1]
    dims[nd - 2] = w.count[0] * w.count[1]
    result = new_contiguous(nd - 1, dims, kind)
    x, out = data_of(a), data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(<PyArrayObject *>result), r, at, op.nargs)
    if item_size(a) == sizeof(float):
        copy_windows[float](<float *>x, planes, &w, <float *>out)
    else:
        copy_windows[double](<double *>x, planes, &w, <double *>out)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


register_kernel("aten::im2col", im2col, CONTIGUOUS)
