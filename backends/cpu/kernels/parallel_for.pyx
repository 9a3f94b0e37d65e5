"""The thread pool of the process (`thread_pool.h`), and its number of threads.

`ts.backends.cpu.thread_pool` describes the functions that Python code calls. `parallel_for.pxd` describes those
that kernels call.
"""

from libc.string cimport memcpy

cdef enum:
    COPY_BLOCK_BYTES = 4096            # size of a memory page

cdef double COPY_COST_PER_BYTE = 0.125  # in units of 0.5 ns

cdef extern from "thread_pool.h" nogil:
    ctypedef int (*CPartitionBody "PartitionBody")(void *, Py_ssize_t, Py_ssize_t) noexcept nogil
    int run_parallel_for "parallel_for"(CPartitionBody body, void *context, Py_ssize_t count)
    int thread_limit()
    void set_thread_limit(int threads)
    unsigned int count_jobs()
    void initialize_pool()

# Minimal work of a partition in units of 0.5 ns. It corresponds to about 16 us. Waking a sleeping worker takes the
# caller about 2 us, and the worker starts after 5 to 50 us.
cdef double min_work_per_thread = 1 << 15

initialize_pool()


cdef int parallel_for(PartitionBody body, void *context, Py_ssize_t count) noexcept nogil:
    if count == 1:
        return body(context, 0, 1)
    return run_parallel_for(body, context, count)


cdef Py_ssize_t partition_count(double units) noexcept nogil:
    cdef double count
    if units < 2 * min_work_per_thread:
        return 1
    count = min(units / min_work_per_thread, <double>thread_limit())
    return <Py_ssize_t>count


cdef struct Ranges:
    RangeBody body
    void *context
    Py_ssize_t size
    Py_ssize_t block


cdef int run_range(void *context, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
    cdef Ranges *ranges = <Ranges *>context
    return ranges.body(
        ranges.context,
        partition_start(ranges.size, partition, partition_count, ranges.block),
        partition_start(ranges.size, partition + 1, partition_count, ranges.block),
    )


cdef int parallel_ranges(RangeBody body, void *context, Py_ssize_t size, double cost, Py_ssize_t block=1) noexcept nogil:
    cdef Ranges ranges
    cdef Py_ssize_t partitions = min(partition_count(size * cost), size // block)
    if partitions <= 1:
        return body(context, 0, size)
    ranges.body, ranges.context, ranges.size, ranges.block = body, context, size, block
    return parallel_for(run_range, &ranges, partitions)


cdef struct Copy:
    char *to
    const char *source


cdef int copy_range(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    memcpy((<Copy *>context).to + start, (<Copy *>context).source + start, end - start)
    return 0


cdef void parallel_copy(void *to, const void *source, Py_ssize_t bytes) noexcept nogil:
    cdef Copy copy
    copy.to, copy.source = <char *>to, <const char *>source
    parallel_ranges(copy_range, &copy, bytes, COPY_COST_PER_BYTE, COPY_BLOCK_BYTES)


def count():
    """Return the maximal number of threads that compute one operator."""
    return thread_limit()


def set_count(int threads):
    """Set the maximal number of threads that compute one operator."""
    set_thread_limit(threads)


def min_work():
    """Return the minimal work of a partition, in units of 0.5 ns."""
    return min_work_per_thread


def set_min_work(double units):
    """Set the minimal work of a partition, in units of 0.5 ns. Tests set small numbers to divide small inputs."""
    global min_work_per_thread
    min_work_per_thread = max(units, 1.0)


def job_count():
    """Return the number of calls so far that used worker threads, modulo 2**32."""
    return count_jobs()
