"""Pooling windows over planes, and the loops that reduce each window."""

from libc.stdint cimport int64_t

ctypedef fused number:
    float
    double
    int64_t

ctypedef fused real:
    float
    double

cdef struct Windows:
    int64_t size[3]                    # sizes of a plane in three dimensions
    int64_t output_size[3]                  # sizes of the result: the number of windows per dimension
    int64_t *begin[3]
    int64_t *stop[3]
    int64_t dilation[3]

# Compute the maximum of each window of the planes [first, last), and also its index in the plane unless `index` is
# NULL. Return -1 if memory is exhausted.
cdef int pool_max(Windows *w, number *x, number *out, int64_t *index, number lowest, int64_t first, int64_t last) noexcept nogil
# For each window of the planes [first, last), compute the sum of its elements, divided by the element of
# `divisor` for this window. Return -1 if memory is exhausted.
cdef int pool_mean(Windows *w, real *x, real *out, real *divisor, int64_t first, int64_t last) noexcept nogil
