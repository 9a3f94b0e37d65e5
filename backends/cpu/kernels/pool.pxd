"""Pooling windows over planes, and their reductions."""

from libc.stdint cimport int64_t

ctypedef fused number:
    float
    double
    int64_t

ctypedef fused real:
    float
    double

cdef struct Windows:
    int64_t size[3]                    # sizes of a plane
    int64_t places[3]                  # sizes of the result
    int64_t *begin[3]
    int64_t *stop[3]
    int64_t dilation[3]

# Compute the maxima of the planes [first, last), and their indices unless `index` is NULL; return -1 without
# memory.
cdef int pool_max(Windows *w, number *x, number *out, int64_t *index, number lowest, int64_t first, int64_t last) noexcept nogil
# Compute the sums of windows divided by `divisor`, which has one number per window; return -1 without memory.
cdef int pool_mean(Windows *w, real *x, real *out, real *divisor, int64_t first, int64_t last) noexcept nogil
