"""Pooling windows over planes, and the loops that reduce each window."""

from libc.stdint cimport int64_t

ctypedef fused real:
    float
    double

cdef struct Windows:
    int64_t size[3]                    # sizes of a plane in three dimensions
    int64_t output_size[3]                  # sizes of the result: the number of windows per dimension
    int64_t *begin[3]
    int64_t *stop[3]
    int64_t dilation[3]

cdef struct PoolTask:
    Windows *windows
    char letter                        # type of the elements: 'f' (float), 'd' (double) or 'q' (int64)
    bint mean                          # means instead of maxima
    char *x
    char *out
    int64_t *index                     # indices of the maxima in their planes, or NULL
    char *divisor                      # for means, one number per window of a plane, in the type of the elements

# Compute the maxima of the windows of the planes [first, last), or the sums of their elements, divided by the windows'
# elements of `divisor`. Return -1 if memory is exhausted.
cdef int pool_planes(const PoolTask *task, int64_t first, int64_t last) noexcept nogil
# Compute all planes on several threads, if the work of `work` elements of the input and output is large enough. Return
# -1 if memory is exhausted.
cdef int pool_in_parallel(const PoolTask *task, int64_t planes, double work) noexcept nogil
