"""Unique values of all elements of a CPU tensor, by sorting.

Input: interpreter registers with a contiguous tensor of at most MAX_ELEMENTS elements, and flags. Output: the
registers of the unique values in ascending order, of the inverse indices and of the counts. For other arguments, the
operator's Python kernel runs. Example:

    _unique2([3, 1, 3], return_counts=True)     values [1, 3], counts [1, 2]
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT32, INT64, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, item_size, new_contiguous, new_like, scalar_type, set_result
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel

cnp.import_array()

cdef enum:
    MAX_ELEMENTS = 1 << 14             # NumPy sorts larger tensors without the GIL

ctypedef fused number:
    int32_t
    int64_t
    float
    double


cdef npy_intp collapse_runs(number *sorted_values, npy_intp n, int64_t *counts) noexcept:
    """Move the first element of each run of equal elements to the front, and count the elements of the runs.

    Return the number of runs. A NaN is not equal to another NaN.
    """
    cdef npy_intp i, runs = 0, start = 0
    for i in range(1, n + 1):
        if i == n or sorted_values[i] != sorted_values[start]:
            sorted_values[runs], counts[runs] = sorted_values[start], i - start
            start = i
            runs += 1
    return runs


cdef object sorted_copy(PyArrayObject *a, int kind, const int64_t *order):
    """Return the elements of `a` as a sorted vector. If `order` is not NULL, it has the indices of the elements in order."""
    cdef npy_intp n = size_of(a), width = item_size(a), i
    cdef object result = new_contiguous(1, &n, kind)
    cdef char *out = data_of(<PyArrayObject *>result)
    if order == NULL:
        memcpy(out, data_of(a), n * width)
        cnp.PyArray_Sort(<cnp.ndarray>result, 0, cnp.NPY_QUICKSORT)
    else:
        for i in range(n):
            memcpy(out + i * width, data_of(a) + order[i] * width, width)
    return result


cdef object inverse_indices(PyArrayObject *a, const int64_t *order, const int64_t *counts, npy_intp runs):
    """Return the number of the run to which each element of `a` belongs."""
    cdef object result = new_like(a, INT64)
    cdef int64_t *out = <int64_t *>data_of(<PyArrayObject *>result)
    cdef npy_intp run, i, position = 0
    for run in range(runs):
        for i in range(counts[run]):
            out[order[position]] = run
            position += 1
    return result


cdef int run_unique(Operator op, IValue *r, const int32_t *at, bint with_inverse, bint with_counts) except -1:
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef npy_intp n, runs, none = 0
    cdef int kind
    cdef int64_t *order = NULL
    cdef int64_t *run_lengths
    cdef void *x
    if a == NULL or size_of(a) == 0 or size_of(a) > MAX_ELEMENTS:
        return UNSUPPORTED
    kind, n = scalar_type(&r[at[0]]), size_of(a)
    if kind not in (INT32, INT64, FLOAT, DOUBLE):
        return UNSUPPORTED
    array = <object>a
    if with_inverse:
        permutation = cnp.PyArray_ArgSort(cnp.PyArray_Ravel(<cnp.ndarray>array, cnp.NPY_CORDER), 0, cnp.NPY_QUICKSORT)
        order = <int64_t *>data_of(<PyArrayObject *>permutation)
    ordered = sorted_copy(a, kind, order)
    counts = new_contiguous(1, &n, INT64)
    x, run_lengths = data_of(<PyArrayObject *>ordered), <int64_t *>data_of(<PyArrayObject *>counts)
    if kind == INT32:
        runs = collapse_runs[int32_t](<int32_t *>x, n, run_lengths)
    elif kind == INT64:
        runs = collapse_runs[int64_t](<int64_t *>x, n, run_lengths)
    elif kind == FLOAT:
        runs = collapse_runs[float](<float *>x, n, run_lengths)
    else:
        runs = collapse_runs[double](<double *>x, n, run_lengths)
    values = new_contiguous(1, &runs, kind)
    memcpy(data_of(<PyArrayObject *>values), x, runs * item_size(a))
    inverse = inverse_indices(a, order, run_lengths, runs) if with_inverse else new_contiguous(1, &none, INT64)
    if op.nrets == 3:
        result = new_contiguous(1, &runs if with_counts else &none, INT64)
        memcpy(data_of(<PyArrayObject *>result), run_lengths, runs * sizeof(int64_t) if with_counts else 0)
        set_result(&r[at[op.nargs + 2]], result, INT64)
    set_result(&r[at[op.nargs + 1]], inverse, INT64)
    return set_result(&r[at[op.nargs]], values, kind)


cdef int unique_values(Operator op, IValue *r, const int32_t *at) except -1:
    return run_unique(op, r, at, r[at[2]].v.i != 0, op.nargs == 4 and r[at[3]].v.i != 0)


register_kernel("aten::_unique2", unique_values, CONTIGUOUS)
register_kernel("aten::_unique", unique_values, CONTIGUOUS)
