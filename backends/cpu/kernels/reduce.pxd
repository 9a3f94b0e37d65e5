"""What is reduced, and sums of blocks: what reductions, softmax and normalisation have in common."""

from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.kernel cimport MOST_DIMS

cdef enum:
    BLOCK = 512                        # elements, or rows, between additions in double
    LANES = 16                         # running sums

ctypedef fused floating:
    float
    double

ctypedef struct Shape:
    npy_intp outer                     # the array as (outer, n, inner), of which n goes
    npy_intp n
    npy_intp inner
    int nd                             # of the result
    npy_intp dims[MOST_DIMS]

# The array by the dimensions to reduce (an int, a list of them; NULL, None or an empty list: all); false where they are no
# neighbours, where there are no elements, or an argument is wrong.
cdef bint read_lengths(int nd, const npy_intp *lengths, IValue *dims, bint keepdim, Shape *s) noexcept
cdef bint read_shape(PyArrayObject *a, IValue *dims, bint keepdim, Shape *s) noexcept


cdef inline double block_sum(const floating *x, npy_intp n, double total) noexcept nogil:
    """`total` and the elements of at most one block, by running sums: the same order on every machine."""
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
    """`total` and (x - mean) ** 2 for the elements of at most one block; x - mean is added to `first`."""
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
