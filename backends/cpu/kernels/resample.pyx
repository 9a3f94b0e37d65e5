"""Weighted sums of few elements of an array, on the CPU: what resampling and sampling at the places of a grid do.

In: an array (C-contiguous; float32, float64 or int32), for each place of the result the places that it reads (taps) and
their weights; out: the sums, in the array's dtype, added in the order of the taps.

    weighted_sums(x, out, axis, index, weight)       taps along one dimension, the same for all others
    weighted_bytes(x, out, axis, index, weight, places)    of bytes, with integers that have so many binary places
    weighted_picks(x, out, index, weight)            taps anywhere in a plane, the same for all its channels

Where other dimensions lie inside of this one, a tap adds a whole row to another, which the compiler turns into vector
instructions; the innermost dimension is gathered element by element.
"""

import numpy as np

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

from ts._core.tensor.ndarray cimport PyArrayObject, data_of
from ts._core.value.sealed cimport seal

from ts.backends.cpu import workers

from ts.backends.cpu.kernels.parts cimport require_part

ctypedef fused number:
    float
    double
    int32_t


cdef struct Taps:
    int64_t n                          # places of the source
    int64_t m                          # of the result
    int64_t count                      # taps for each of them
    int64_t inner                      # elements inside of a place; of picks, the channels of a batch
    int64_t *index                     # (m, count), each in [0, n); of picks (batch, m, count), -1 for a zero


cdef void along(Taps *taps, number *x, number *out, number *weight, int64_t first, int64_t last) noexcept nogil:
    """The sums of planes [first, last)."""
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
            elif inner == 3:  # colours
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


cdef inline uint8_t rounded(int32_t total, int places) noexcept nogil:
    total >>= places
    return 0 if total < 0 else 255 if total > 255 else <uint8_t>total


cdef void bytes_along(
    Taps *taps, const uint8_t *x, uint8_t *out, const int32_t *weight, int places, int32_t *totals, int64_t first, int64_t last
) noexcept nogil:
    """The sums of planes [first, last), rounded; `totals` has room for the elements inside of a place."""
    cdef int64_t p, i, t, c, inner = taps.inner, count = taps.count
    cdef int64_t *index
    cdef const int32_t *w
    cdef const uint8_t *source
    cdef const uint8_t *row
    cdef uint8_t *target
    cdef int32_t half = (1 << places) >> 1, factor, a, b, d
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
                target[0] = rounded(a, places)
            elif inner == 3:
                a = b = d = half
                for t in range(count):
                    row = source + index[t] * 3
                    factor = w[t]
                    a += row[0] * factor
                    b += row[1] * factor
                    d += row[2] * factor
                target[0], target[1], target[2] = rounded(a, places), rounded(b, places), rounded(d, places)
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
                    target[c] = rounded(totals[c], places)
            target += inner
            index += count
            w += count


cdef void picks(Taps *taps, number *x, number *out, number *weight, int64_t first, int64_t last) noexcept nogil:
    """The sums of planes [first, last), of which each batch has `inner`."""
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
    cdef tuple held                    # whose memory the pointers are of, as long as any thread runs
    cdef char *x
    cdef char *out
    cdef char *weight
    cdef str kind
    cdef int64_t planes
    cdef bint anywhere                 # picks
    cdef int places                    # of the weights of bytes

    def part(self, Py_ssize_t part, Py_ssize_t parts):
        require_part(part, parts, self.kind is not None)
        cdef int64_t first = self.planes * part // parts, last = self.planes * (part + 1) // parts
        cdef str kind = self.kind
        cdef Py_UCS4 letter = kind[0]
        cdef int32_t *totals
        if letter == u"B":
            totals = <int32_t *>malloc(max(self.taps.inner, 1) * sizeof(int32_t))
            if totals == NULL:
                raise MemoryError()
            with nogil:
                bytes_along(
                    &self.taps, <uint8_t *>self.x, <uint8_t *>self.out, <int32_t *>self.weight, self.places, totals, first, last
                )
            free(totals)
            return
        with nogil:
            if self.anywhere:
                if letter == u"f":
                    picks(&self.taps, <float *>self.x, <float *>self.out, <float *>self.weight, first, last)
                elif letter == u"d":
                    picks(&self.taps, <double *>self.x, <double *>self.out, <double *>self.weight, first, last)
                else:
                    picks(&self.taps, <int32_t *>self.x, <int32_t *>self.out, <int32_t *>self.weight, first, last)
            elif letter == u"f":
                along(&self.taps, <float *>self.x, <float *>self.out, <float *>self.weight, first, last)
            elif letter == u"d":
                along(&self.taps, <double *>self.x, <double *>self.out, <double *>self.weight, first, last)
            else:
                along(&self.taps, <int32_t *>self.x, <int32_t *>self.out, <int32_t *>self.weight, first, last)


seal(Run)


cdef int _require_arrays(arrays) except -1:
    for array in arrays:
        if type(array) is not np.ndarray:
            raise TypeError("weighted sums are of NumPy's arrays")
    return 0


cdef Run _prepared(x, out, index, weight, int64_t length, int64_t lowest):
    """The work on checked arrays: their dtypes, that they are contiguous, that taps lie in [lowest, length)."""
    cdef Run run = Run.__new__(Run)
    if x.dtype.char not in "fdiB" or out.dtype != x.dtype or index.dtype.char not in "lq":
        raise TypeError("weighted sums are of float32, float64, int32 or bytes, at int64 places")
    if weight.dtype.char != ("i" if x.dtype.char == "B" else x.dtype.char):
        raise TypeError("weights are of the same dtype, and of bytes int32")
    for array in (x, out, index, weight):
        if not array.flags.c_contiguous or not array.flags.aligned or not array.dtype.isnative:
            raise ValueError("weighted sums take contiguous arrays")
    if weight.shape != index.shape:
        raise ValueError("each place has a weight")
    places = index.copy()  # nobody else writes to it
    if places.size and (places.min() < lowest or places.max() >= length):
        raise IndexError("a tap lies outside of the input")
    run.held = (x, out, places, weight)
    run.taps.index = <int64_t *>data_of(<PyArrayObject *>places)
    run.taps.n = length
    run.taps.m, run.taps.count = index.shape[index.ndim - 2], index.shape[index.ndim - 1]
    run.x = data_of(<PyArrayObject *>x)
    run.out = data_of(<PyArrayObject *>out)
    run.weight = data_of(<PyArrayObject *>weight)
    run.kind = x.dtype.char
    return run


cdef int _start(Run run, int64_t size) except -1:
    if size:
        workers.run(run.part, min(workers.parts(size * max(run.taps.count, 1)), max(run.planes, 1)))
    return 0


def weighted_sums(x, out, int axis, index, weight):
    """Write the weighted sums along `axis` of x to `out`; index and weight are (places of the result, taps)."""
    if type(x) is np.ndarray and x.dtype.char == "B":
        raise TypeError("sums of bytes are rounded")
    _sum_along(x, out, axis, index, weight, 0)


def weighted_bytes(x, out, int axis, index, weight, int places):
    """The same of bytes: weights are integers with so many binary places, and sums are rounded to bytes."""
    if not 0 <= places <= 22 or type(x) is not np.ndarray or x.dtype.char != "B":
        raise TypeError("bytes are weighted with up to 22 binary places")
    _sum_along(x, out, axis, index, weight, places)


cdef int _sum_along(x, out, int axis, index, weight, int places) except -1:
    _require_arrays((x, out, index, weight))
    if not 0 <= axis < x.ndim or index.ndim != 2:
        raise ValueError("places and weights are two matrices of one size, for a dimension that there is")
    cdef Run run = _prepared(x, out, index, weight, x.shape[axis], 0)
    shape = list(x.shape)
    shape[axis] = run.taps.m
    if out.shape != tuple(shape):
        raise ValueError("the output is not of the size of the sums")
    run.planes = 1
    for d in shape[:axis]:
        run.planes *= d
    run.taps.inner = 1
    for d in shape[axis + 1:]:
        run.taps.inner *= d
    run.places = places
    return _start(run, out.size)


def weighted_picks(x, out, index, weight):
    """Write to out (N, C, places) sums of elements of x (N, C, cells); index and weight are (N, places, taps).

    An index of -1 stands for an element of 0.
    """
    _require_arrays((x, out, index, weight))
    if x.dtype.char == "B":
        raise TypeError("picks are of numbers that are not rounded")
    if x.ndim != 3 or index.ndim != 3 or len(index) != len(x):
        raise ValueError("picks are from (N, C, cells) at (N, places, taps)")
    cdef Run run = _prepared(x, out, index, weight, x.shape[2], -1)
    if out.shape != (x.shape[0], x.shape[1], run.taps.m):
        raise ValueError("the output is not of the size of the sums")
    run.anywhere = True
    run.taps.inner = x.shape[1]
    run.planes = x.shape[0] * x.shape[1]
    _start(run, out.size)
