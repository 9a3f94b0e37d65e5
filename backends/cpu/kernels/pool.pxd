"""Windows of poolings over planes, and what is computed of them."""

from libc.stdint cimport int64_t

ctypedef fused number:
    float
    double
    int64_t

ctypedef fused real:
    float
    double

cdef struct Windows:
    int64_t size[3]                    # of a plane
    int64_t places[3]                  # of the result
    int64_t *begin[3]
    int64_t *stop[3]
    int64_t dilation[3]

# The maxima of planes [first, last), and their places where `index` is not NULL; -1 without memory.
cdef int largest(Windows *w, number *x, number *out, int64_t *index, number lowest, int64_t first, int64_t last) noexcept nogil
# Sums over windows divided by `divisor`, which has one number a window; -1 without memory.
cdef int means(Windows *w, real *x, real *out, real *divisor, int64_t first, int64_t last) noexcept nogil
