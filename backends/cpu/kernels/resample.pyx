"""Weighted sums along a dimension or at arbitrary indices, for resampling and grid sampling on the CPU.

Input: a C-contiguous array of float32, float64, int32 or bytes. For each element of the result, the input
also has indices to read and their weights. Output: the weighted sums, in the array's dtype.

Products are added in the order of the indices. The functions are:

    weighted_sums(x, out, axis, index, weight)      indices along one dimension, equal for all slices
    weighted_bytes(x, out, axis, index, weight, fraction_bits)     for uint8, with fixed-point weights
    weighted_picks(x, out, index, weight)           indices anywhere in a plane, equal for all channels
"""

import numpy as np

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

from ts._core.tensor.ndarray cimport PyArrayObject, data_of
from ts._core.value.no_python_construction cimport seal
from ts.backends.cpu.kernels.parallel_for cimport parallel_for, partition_count, partition_start

ctypedef fused number:
    float
    double
    int32_t


cdef struct Taps:
    int64_t n                          # length of the resampled dimension in the source
    int64_t m                          # length of the resampled dimension in the result
    int64_t count                      # number of taps per element of the result
    int64_t inner  # product of the dimensions after the resampled one. In `weighted_picks`, it is the number of channels.
    # Indices in [0, n), as an array of shape (m, count). For `weighted_picks`, the shape is (batch, m,
    # count), and an index of -1 stands for an element with value 0.
    int64_t *index


cdef void sum_along(Taps *taps, number *x, number *out, number *weight, int64_t first, int64_t last) noexcept nogil:
    """Compute the weighted sums along the resampled dimension for the outer indices [first, last)."""
    cdef int64_t p, i, t, c, inner = taps.inner, count = taps.count
    cdef int64_t *index
    cdef number *w
    cdef number *source
    cdef number *row
    cdef number *target
    cdef number total, second, third, factor
    for p in range(first, last):
        source = x + p * taps.n * inner
        target = out + p * taps.m * inner
        index = taps.index
        w = weight
        for i in range(taps.m):
            if inner == 1:
                total = 0
                for t in range(count):
                    total += source[index[t]] * w[t]
                target[0] = total
            elif inner == 3:  # RGB images
                total = second = third = 0
                for t in range(count):
                    row = source + index[t] * 3
                    factor = w[t]
                    total += row[0] * factor
                    second += row[1] * factor
                    third += row[2] * factor
                target[0], target[1], target[2] = total, second, third
            else:
                for c in range(inner):
                    target[c] = 0
                for t in range(count):
                    row = source + index[t] * inner
                    factor = w[t]
                    for c in range(inner):
                        target[c] += row[c] * factor
            target += inner
            index += count
            w += count


cdef inline uint8_t round_to_byte(int32_t total, int fraction_bits) noexcept nogil:
    total >>= fraction_bits
    return 0 if total < 0 else 255 if total > 255 else <uint8_t>total


cdef void sum_bytes_along(
    Taps *taps, const uint8_t *x, uint8_t *out, const int32_t *weight, int fraction_bits, int32_t *totals, int64_t first, int64_t last
) noexcept nogil:
    """Compute the rounded sums for the outer indices [first, last).

    `totals` is a buffer with `inner` numbers.
    """
    cdef int64_t p, i, t, c, inner = taps.inner, count = taps.count
    cdef int64_t *index
    cdef const int32_t *w
    cdef const uint8_t *source
    cdef const uint8_t *row
    cdef uint8_t *target
    cdef int32_t half = (1 << fraction_bits) >> 1, factor, a, b, d
    for p in range(first, last):
        source = x + p * taps.n * inner
        target = out + p * taps.m * inner
        index = taps.index
        w = weight
        for i in range(taps.m):
            if inner == 1:
                a = half
                for t in range(count):
                    a += source[index[t]] * w[t]
                target[0] = round_to_byte(a, fraction_bits)
            elif inner == 3:
                a = b = d = half
                for t in range(count):
                    row = source + index[t] * 3
                    factor = w[t]
                    a += row[0] * factor
                    b += row[1] * factor
                    d += row[2] * factor
                target[0], target[1], target[2] = round_to_byte(a, fraction_bits), round_to_byte(b, fraction_bits), round_to_byte(d, fraction_bits)
            else:
                for c in range(inner):
                    totals[c] = half
                for t in range(count):
                    factor = w[t]
                    if factor == 0:
                        continue
                    row = source + index[t] * inner
                    for c in range(inner):
                        totals[c] += row[c] * factor
                for c in range(inner):
                    target[c] = round_to_byte(totals[c], fraction_bits)
            target += inner
            index += count
            w += count


cdef void sum_picks(Taps *taps, number *x, number *out, number *weight, int64_t first, int64_t last) noexcept nogil:
    """Compute the weighted sums of planes [first, last)."""
    cdef int64_t p, i, t, at, count = taps.count
    cdef int64_t *index
    cdef number *w
    cdef number *source
    cdef number *target
    cdef number total
    for p in range(first, last):
        source = x + p * taps.n
        target = out + p * taps.m
        index = taps.index + p // taps.inner * taps.m * count
        w = weight + p // taps.inner * taps.m * count
        for i in range(taps.m):
            total = 0
            for t in range(count):
                at = index[t]
                total += (source[at] if at >= 0 else 0) * w[t]
            target[i] = total
            index += count
            w += count


@cython.final
cdef class Run:
    cdef Taps taps
    cdef tuple owners                    # keeps the owners of the memory behind the pointers alive
    cdef char *x
    cdef char *out
    cdef char *weight
    cdef Py_UCS4 kind                    # character of the dtype
    cdef int64_t planes
    cdef bint anywhere  # True for `weighted_picks`, whose taps may be at any position of a plane instead of along one dimension
    cdef int fraction_bits                    # number of fractional bits of uint8 weights

    cdef int compute(self, int64_t first, int64_t last) noexcept nogil:
        """Compute the planes [first, last). Return -1 if memory is exhausted."""
        cdef int32_t *totals
        if self.kind == u"B":
            totals = <int32_t *>malloc(max(self.taps.inner, 1) * sizeof(int32_t))
            if totals == NULL:
                return -1
            sum_bytes_along(
                &self.taps, <uint8_t *>self.x, <uint8_t *>self.out, <int32_t *>self.weight, self.fraction_bits, totals, first, last
            )
            free(totals)
        elif self.anywhere:
            if self.kind == u"f":
                sum_picks(&self.taps, <float *>self.x, <float *>self.out, <float *>self.weight, first, last)
            elif self.kind == u"d":
                sum_picks(&self.taps, <double *>self.x, <double *>self.out, <double *>self.weight, first, last)
            else:
                sum_picks(&self.taps, <int32_t *>self.x, <int32_t *>self.out, <int32_t *>self.weight, first, last)
        elif self.kind == u"f":
            sum_along(&self.taps, <float *>self.x, <float *>self.out, <float *>self.weight, first, last)
        elif self.kind == u"d":
            sum_along(&self.taps, <double *>self.x, <double *>self.out, <double *>self.weight, first, last)
        else:
            sum_along(&self.taps, <int32_t *>self.x, <int32_t *>self.out, <int32_t *>self.weight, first, last)
        return 0


seal(Run)


cdef int compute_partition(void *run, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
    """Compute a partition's consecutive range of planes."""
    cdef int64_t planes = (<Run>run).planes
    return (<Run>run).compute(partition_start(planes, partition, partition_count), partition_start(planes, partition + 1, partition_count))


cdef int _require_arrays(arrays) except -1:
    for array in arrays:
        if type(array) is not np.ndarray:
            raise TypeError("weighted sums: operands must be NumPy arrays")
    return 0


cdef Run _prepare(x, out, index, weight, int64_t length, int64_t lowest):
    """Return a run for the operands, or raise an exception for an unsupported dtype, layout or index.

    All indices must be in [lowest, length).
    """
    cdef Run run = Run.__new__(Run)
    if x.dtype.char not in "fdiB" or out.dtype != x.dtype or index.dtype.char not in "lq":
        raise TypeError("weighted sums: expected float32, float64, int32 or uint8 operands of one dtype, and int64 indices")
    if weight.dtype.char != ("i" if x.dtype.char == "B" else x.dtype.char):
        raise TypeError("weighted sums: weights must have the operands' dtype, int32 for uint8")
    for array in (x, out, index, weight):
        if not array.flags.c_contiguous or not array.flags.aligned or not array.dtype.isnative:
            raise ValueError("weighted sums: operands must be contiguous and aligned")
    if weight.shape != index.shape:
        raise ValueError("weighted sums: index and weight must have the same shape")
    checked_indices = index.copy()  # Copy the indices, so that the program cannot change them after the check.
    if checked_indices.size and (checked_indices.min() < lowest or checked_indices.max() >= length):
        raise IndexError("weighted sums: a tap is outside the input")
    run.owners = (x, out, checked_indices, weight)
    run.taps.index = <int64_t *>data_of(<PyArrayObject *>checked_indices)
    run.taps.n = length
    run.taps.m, run.taps.count = index.shape[index.ndim - 2], index.shape[index.ndim - 1]
    run.x = data_of(<PyArrayObject *>x)
    run.out = data_of(<PyArrayObject *>out)
    run.weight = data_of(<PyArrayObject *>weight)
    run.kind = x.dtype.char
    return run


cdef int _start(Run run, int64_t size) except -1:
    cdef Py_ssize_t partitions = min(partition_count(<double>size * max(run.taps.count, 1)), max(run.planes, 1))
    cdef void *context = <void *>run
    cdef int code
    if size:
        with nogil:
            code = parallel_for(compute_partition, context, partitions)
        if code:
            raise MemoryError()
    return 0


def weighted_sums(x, out, int axis, index, weight):
    """Write weighted sums along dimension `axis` of `x` to `out`.

    `index` and `weight` have shape (length of the result, taps).
    """
    if type(x) is np.ndarray and x.dtype.char == "B":
        raise TypeError("weighted_sums: use weighted_bytes for uint8")
    _sum_along(x, out, axis, index, weight, 0)


def weighted_bytes(x, out, int axis, index, weight, int fraction_bits):
    """Write rounded weighted sums of uint8 elements to `out`. Weights are integers with `fraction_bits`
    fractional bits.
    """
    if not 0 <= fraction_bits <= 22 or type(x) is not np.ndarray or x.dtype.char != "B":
        raise TypeError("weighted_bytes: expected uint8 operands and 0 to 22 fractional bits")
    _sum_along(x, out, axis, index, weight, fraction_bits)


cdef int _sum_along(x, out, int axis, index, weight, int fraction_bits) except -1:
    _require_arrays((x, out, index, weight))
    if not 0 <= axis < x.ndim or index.ndim != 2:
        raise ValueError("weighted sums: axis out of range, or index and weight are not matrices")
    cdef Run run = _prepare(x, out, index, weight, x.shape[axis], 0)
    shape = list(x.shape)
    shape[axis] = run.taps.m
    if out.shape != tuple(shape):
        raise ValueError("weighted sums: the output has the wrong shape")
    run.planes = 1
    for d in shape[:axis]:
        run.planes *= d
    run.taps.inner = 1
    for d in shape[axis + 1:]:
        run.taps.inner *= d
    run.fraction_bits = fraction_bits
    return _start(run, out.size)


def weighted_picks(x, out, index, weight):
    """Write weighted sums of elements of `x` (N, C, n) to `out` (N, C, m).

    `index` and `weight` have the shape (N, m, taps). Each sum has `taps` terms. The index -1 selects the
    value 0 instead of an element.
    """
    _require_arrays((x, out, index, weight))
    if x.dtype.char == "B":
        raise TypeError("weighted_picks: uint8 is not supported")
    if x.ndim != 3 or index.ndim != 3 or len(index) != len(x):
        raise ValueError("weighted_picks: expected x (N, C, n) and index (N, m, taps)")
    cdef Run run = _prepare(x, out, index, weight, x.shape[2], -1)
    if out.shape != (x.shape[0], x.shape[1], run.taps.m):
        raise ValueError("weighted_picks: the output has the wrong shape")
    run.anywhere = True
    run.taps.inner = x.shape[1]
    run.planes = x.shape[0] * x.shape[1]
    _start(run, out.size)
