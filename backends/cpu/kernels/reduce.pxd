"""Helpers of reductions, softmax and normalization: the reduced dimensions, and sums of blocks."""

from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS

cdef enum:
    # Number of elements of a block. A block is summed in the tensor's dtype, and the sums of blocks in double.
    BLOCK = 512
    LANES = 16                         # number of parallel accumulators

ctypedef fused floating:
    float
    double

ctypedef struct Shape:
    # A reduced array is viewed as (outer, n, inner), and its middle dimension is reduced.
    npy_intp outer
    npy_intp n
    npy_intp inner
    int nd                             # number of dimensions of the result
    npy_intp dims[MAX_DIMS]

# Write a shape as (outer, n, inner) to `s`, where n is the product of the sizes of the reduced dimensions.
# `dims` is an int or a list of int. NULL, None and an empty list select all dimensions. Return False if
# `dims` is invalid or the dimensions are not adjacent. `read_shape` does the same for an array, and also
# returns False if the array is empty.
cdef bint read_lengths(int nd, const npy_intp *lengths, IValue *dims, bint keepdim, Shape *s) noexcept
cdef bint read_shape(PyArrayObject *a, IValue *dims, bint keepdim, Shape *s) noexcept


cdef inline double block_sum(const floating *x, npy_intp n, double total) noexcept nogil:
    """Return `total` plus the sum of at most BLOCK elements, added in the same order on every machine."""
    cdef floating lane[LANES]
    cdef npy_intp i = 0, j
    if n >= LANES:
        for j in range(LANES):
            lane[j] = x[j]
        i = LANES
        while i + LANES <= n:
            for j in range(LANES):
                lane[j] += x[i + j]
            i += LANES
        for j in range(LANES // 2):
            lane[j] += lane[j + LANES // 2]
        for j in range(LANES // 2):
            total += lane[j]
    while i < n:
        total += x[i]
        i += 1
    return total


cdef inline double block_squares(const double *x, npy_intp n, double mean, double total, double *first) noexcept nogil:
    """Return `total` plus the sum of (x - mean) ** 2, and add the sum of x - mean to `first`.

    `n` is at most BLOCK.
    """
    cdef double lane[LANES]
    cdef double plain[LANES]
    cdef double off
    cdef npy_intp i = 0, j
    if n >= LANES:
        for j in range(LANES):
            lane[j] = plain[j] = 0
        while i + LANES <= n:
            for j in range(LANES):
                off = x[i + j] - mean
                lane[j] += off * off
                plain[j] += off
            i += LANES
        for j in range(LANES):
            total += lane[j]
            first[0] += plain[j]
    while i < n:
        off = x[i] - mean
        total += off * off
        first[0] += off
        i += 1
    return total
