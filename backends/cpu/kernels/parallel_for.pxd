"""Parallel loops of kernels over the partitions of their work, on the threads of the intra-op thread pool.

Kernels call the functions with or without the GIL. A kernel defines a function that computes one partition, and
a struct with its arguments:

    cdef int fill_partition(void *context, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
        cdef Fill *fill = <Fill *>context
        cdef Py_ssize_t end = partition_start(fill.size, partition + 1, partition_count)
        for i in range(partition_start(fill.size, partition, partition_count), end): ...
        return 0

    gil_state = leave_gil(fill.size, r, at, op.nargs)
    code = parallel_for(fill_partition, &fill, partition_count(fill.size))
    take_gil(gil_state)

For bit-identical results with every number of threads, elements must not depend on the division into
partitions.
"""

# A function that computes one partition. It returns 0, or another number as an error code.
ctypedef int (*PartitionBody)(void *context, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil

# Call `body(context, i, count)` for all i in [0, count), on this thread and on worker threads. After all calls,
# return 0, or the error code of the first failed partition. If other threads or an outer partition use the
# worker threads, all calls run on this thread. Kernels release the GIL before the call.
cdef int parallel_for(PartitionBody body, void *context, Py_ssize_t count) noexcept nogil

# A function that computes a range [start, end) of rows or elements. It returns 0, or an error code.
ctypedef int (*RangeBody)(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil

# Divide [0, size) into a consecutive range for each thread, and call `body` for all ranges. The ranges begin at
# multiples of `block`. `cost` is the time per row or element in units of 0.5 ns. After all calls, return 0, or the error
# code of the first failed range.
cdef int parallel_ranges(RangeBody body, void *context, Py_ssize_t size, double cost, Py_ssize_t block=*) noexcept nogil
# Copy `bytes` bytes like `memcpy`, on several threads if they are many.
cdef void parallel_copy(void *to, const void *source, Py_ssize_t bytes) noexcept nogil

cdef enum:
    # Number of elements of which each partition but the last of a pointwise operator has a multiple
    VECTOR_BLOCK_ELEMENTS = 1024

# Return the number of partitions (grain size) for work that takes about `units` * 0.5 ns, at least 1.
cdef Py_ssize_t partition_count(double units) noexcept nogil


cdef inline Py_ssize_t partition_start(Py_ssize_t size, Py_ssize_t partition, Py_ssize_t partition_count, Py_ssize_t block=1) noexcept nogil:
    """Return the index of a partition's first element, if `size` elements are divided into equal partitions.

    The index is a multiple of `block`, or `size`. Vector loops compute the elements after the last whole vector
    by other instructions. With a block of whole vectors, only the last elements are computed in this way.
    """
    cdef Py_ssize_t blocks = size // block + (size % block != 0)
    # The product of `blocks` and `partition` could overflow.
    blocks = blocks // partition_count * partition + blocks % partition_count * partition // partition_count
    return size if blocks > size // block else blocks * block
