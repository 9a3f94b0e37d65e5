"""Histogram of the elements of a CPU tensor with bins of equal width.

Input: interpreter registers with a contiguous float32 or float64 tensor, the number of bins, and the range. Output:
the register of the counts. For other arguments, the operator's Python kernel runs. Example:

    histc([1.0, 2.0, 2.5], bins=2, min=0, max=4)     counts [1, 2]
"""

cimport numpy as cnp
from libc.math cimport INFINITY, NAN, isfinite
from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, size_of
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_INT
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, new_contiguous, scalar_type, set_result
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel

cnp.import_array()

cdef enum:
    MAX_BINS = 1 << 24                 # Bin numbers up to this limit are exact in float32.

ctypedef fused floating:
    float
    double


cdef void find_extremes(const floating *x, npy_intp n, double *low, double *high) noexcept nogil:
    """Set the minimum and the maximum of n elements, or NaN if an element is NaN."""
    cdef floating least = x[0], largest = x[0]
    cdef npy_intp i
    cdef bint has_nan = False
    for i in range(n):
        least = x[i] if x[i] < least else least
        largest = x[i] if x[i] > largest else largest
        has_nan = has_nan | (x[i] != x[i])
    low[0], high[0] = least, largest
    if has_nan:
        low[0] = high[0] = NAN


cdef void count_elements(const floating *x, npy_intp n, npy_intp bins, floating low, floating high, int64_t *counts) noexcept nogil:
    """Count the elements of each bin. As in PyTorch, the arithmetic has the dtype of the elements.

    An element outside of the range, or a NaN, belongs to no bin. The last bin contains its upper bound.
    """
    cdef floating width = high - low, scale = <floating>bins
    cdef npy_intp i, bin
    for i in range(n):
        if low <= x[i] <= high:
            bin = <npy_intp>((x[i] - low) * scale / width)
            counts[bin if bin < bins else bins - 1] += 1


cdef void store_counts(const int64_t *counts, npy_intp bins, floating *out) noexcept nogil:
    cdef npy_intp i
    for i in range(bins):
        out[i] = <floating>counts[i]


cdef bint read_bound(IValue *x, double *out) noexcept:
    out[0] = x.v.f if x.tag == TAG_FLOAT else <double>x.v.i
    return x.tag == TAG_FLOAT or x.tag == TAG_INT


cdef int histc(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef int kind
    cdef double low, high
    cdef npy_intp bins, n
    cdef int64_t *counts
    cdef ReleasedGil gil_state
    if a == NULL or r[at[1]].tag != TAG_INT or not read_bound(&r[at[2]], &low) or not read_bound(&r[at[3]], &high):
        return UNSUPPORTED
    kind, bins, n = scalar_type(&r[at[0]]), r[at[1]].v.i, size_of(a)
    if kind not in (FLOAT, DOUBLE) or not 1 <= bins <= MAX_BINS or n == 0 or low > high:
        return UNSUPPORTED
    if low == high and kind == FLOAT:
        find_extremes[float](<float *>data_of(a), n, &low, &high)
    elif low == high:
        find_extremes[double](<double *>data_of(a), n, &low, &high)
    if not (isfinite(low) and isfinite(high)):
        return UNSUPPORTED             # The Python kernel raises the error.
    if low == high:
        low, high = low - 1, high + 1
    if not isfinite(high - low) or (kind == FLOAT and not 0 < <float>high - <float>low < INFINITY):
        return UNSUPPORTED             # The width of the range overflows or is rounded to 0.
    table = cnp.PyArray_ZEROS(1, &bins, cnp.NPY_INT64, 0)
    counts = <int64_t *>data_of(<PyArrayObject *>table)
    result = new_contiguous(1, &bins, kind)
    gil_state = leave_gil(n, r, at, op.nargs)
    if kind == FLOAT:
        count_elements[float](<float *>data_of(a), n, bins, <float>low, <float>high, counts)
        store_counts[float](counts, bins, <float *>data_of(<PyArrayObject *>result))
    else:
        count_elements[double](<double *>data_of(a), n, bins, low, high, counts)
        store_counts[double](counts, bins, <double *>data_of(<PyArrayObject *>result))
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


register_kernel("aten::histc", histc, CONTIGUOUS)
