"""Reductions of one long row on several threads. `block_reductions.pxd` describes the contract."""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from numpy cimport npy_intp

from ts.backends.cpu.kernels.parallel_for cimport RangeBody, parallel_ranges, partition_count
from ts.backends.cpu.kernels.reduce cimport BLOCK, block_squares, block_sum
from ts.backends.cpu.kernels.row_loops cimport RowLoops
from ts.backends.cpu.kernels.vector_math cimport row_loops_here

cdef extern from "simd.h" nogil:
    int64_t simd_sum_int64(const int64_t *x, npy_intp n)

cdef const RowLoops *LOOPS = row_loops_here()
cdef double ELEMENT_COST = 0.25        # time in units of 0.5 ns

cdef enum:
    RANGE_BLOCK = 64                   # Ranges of blocks begin at multiples of this number.
    SQUARES_BLOCK = 1024               # ROW_BLOCK of `simd_row_loops.h`
    EXACT_BLOCK = 1 << 14              # block size of maxima and integer sums, which are exact
    MIN_LAST_BLOCK = 16                # The row loops compute rows of fewer elements in another order.

cdef struct Blocks:
    const char *x
    npy_intp n
    float mean
    bint largest
    double *totals
    double *firsts
    int64_t *integers
    float *extremes


cdef bint run_blocks(RangeBody body, Blocks *task, npy_intp n, npy_intp block, npy_intp bytes) noexcept nogil:
    """Compute the results of all blocks, with `bytes` bytes of memory for each, which the caller frees.

    Return False if the row is too short for several threads or if there is no memory.
    """
    cdef npy_intp count = (n + block - 1) // block
    if partition_count(n * ELEMENT_COST) <= 1:
        return False
    task.n, task.totals = n, <double *>malloc(count * bytes)
    if task.totals == NULL:
        return False
    task.firsts, task.integers, task.extremes = task.totals + count, <int64_t *>task.totals, <float *>task.totals
    parallel_ranges(body, task, count, block * ELEMENT_COST, RANGE_BLOCK if block < EXACT_BLOCK else 1)
    return True


# ---------------------------------------------------------------- sums

cdef void sum_blocks_of_floats(const char *x, npy_intp n, double *totals) noexcept nogil:
    cdef npy_intp whole = n // BLOCK
    LOOPS.sum_of_blocks(<const float *>x, whole, BLOCK, totals)
    if n > whole * BLOCK:
        totals[whole] = block_sum(<const float *>x + whole * BLOCK, n - whole * BLOCK, 0)


cdef void sum_blocks_of_doubles(const char *x, npy_intp n, double *totals) noexcept nogil:
    cdef npy_intp i = 0
    while i < n:
        totals[i // BLOCK] = block_sum(<const double *>x + i, min(<npy_intp>BLOCK, n - i), 0)
        i += BLOCK


cdef int sum_floats(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    cdef Blocks *task = <Blocks *>context
    sum_blocks_of_floats(task.x + start * BLOCK * sizeof(float), min(end * BLOCK, task.n) - start * BLOCK, task.totals + start)
    return 0


cdef int sum_doubles(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    cdef Blocks *task = <Blocks *>context
    sum_blocks_of_doubles(task.x + start * BLOCK * sizeof(double), min(end * BLOCK, task.n) - start * BLOCK, task.totals + start)
    return 0


cdef double combine(Blocks *task, npy_intp block) noexcept nogil:
    """Add the totals of the blocks in their order, and free the memory."""
    cdef double total = 0
    cdef npy_intp i
    for i in range((task.n + block - 1) // block):
        total += task.totals[i]
    free(task.totals)
    return total


cdef double sum_of_floats(const float *x, npy_intp n) noexcept nogil:
    cdef Blocks task
    cdef double total
    task.x = <const char *>x
    if run_blocks(sum_floats, &task, n, BLOCK, sizeof(double)):
        return combine(&task, BLOCK)
    LOOPS.sum_of_blocks(x, 1, n, &total)
    return total


cdef double sum_of_doubles(const double *x, npy_intp n) noexcept nogil:
    cdef Blocks task
    cdef double total = 0
    task.x = <const char *>x
    if run_blocks(sum_doubles, &task, n, BLOCK, sizeof(double)):
        return combine(&task, BLOCK)
    while n > BLOCK:
        total += block_sum(x, BLOCK, 0)
        x += BLOCK
        n -= BLOCK
    return total + block_sum(x, n, 0)


cdef int sum_integers(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    cdef Blocks *task = <Blocks *>context
    cdef npy_intp b
    for b in range(start, end):
        task.integers[b] = simd_sum_int64(<const int64_t *>task.x + b * EXACT_BLOCK, min(<npy_intp>EXACT_BLOCK, task.n - b * EXACT_BLOCK))
    return 0


cdef int64_t sum_of_integers(const int64_t *x, npy_intp n) noexcept nogil:
    cdef Blocks task
    cdef int64_t total
    task.x = <const char *>x
    if not run_blocks(sum_integers, &task, n, EXACT_BLOCK, sizeof(int64_t)):
        return simd_sum_int64(x, n)
    total = simd_sum_int64(task.integers, (n + EXACT_BLOCK - 1) // EXACT_BLOCK)
    free(task.totals)
    return total


# ---------------------------------------------------------------- sums of squares

cdef int square_floats(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    cdef Blocks *task = <Blocks *>context
    cdef npy_intp b, i
    for b in range(start, end):
        i = b * SQUARES_BLOCK
        task.totals[b] = LOOPS.sum_of_squared_differences(
            <const float *>task.x + i, min(<npy_intp>SQUARES_BLOCK, task.n - i), task.mean, &task.firsts[b]
        )
    return 0


cdef double squares_of_floats(const float *x, npy_intp n, float mean, double *first) noexcept nogil:
    cdef Blocks task
    cdef npy_intp b
    task.x, task.mean = <const char *>x, mean
    if 0 < n % SQUARES_BLOCK < MIN_LAST_BLOCK or not run_blocks(square_floats, &task, n, SQUARES_BLOCK, 2 * sizeof(double)):
        return LOOPS.sum_of_squared_differences(x, n, mean, first)
    first[0] = 0
    for b in range((n + SQUARES_BLOCK - 1) // SQUARES_BLOCK):
        first[0] += task.firsts[b]
    return combine(&task, SQUARES_BLOCK)


cdef int sum_squares_of_double_blocks(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    cdef Blocks *task = <Blocks *>context
    cdef double first = 0
    cdef npy_intp b
    for b in range(start, end):
        task.totals[b] = block_squares(<const double *>task.x + b * BLOCK, min(<npy_intp>BLOCK, task.n - b * BLOCK), 0, 0, &first)
    return 0


cdef double squares_of_doubles(const double *x, npy_intp n) noexcept nogil:
    cdef Blocks task
    cdef double total = 0, first = 0
    task.x = <const char *>x
    if run_blocks(sum_squares_of_double_blocks, &task, n, BLOCK, sizeof(double)):
        return combine(&task, BLOCK)
    while n > BLOCK:
        total += block_squares(x, BLOCK, 0, 0, &first)
        x += BLOCK
        n -= BLOCK
    return total + block_squares(x, n, 0, 0, &first)


# ---------------------------------------------------------------- minima and maxima

cdef int find_extremes(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    cdef Blocks *task = <Blocks *>context
    cdef npy_intp b, i
    for b in range(start, end):
        i = b * EXACT_BLOCK
        task.extremes[b] = (LOOPS.max_or_nan if task.largest else LOOPS.min_or_nan)(
            <const float *>task.x + i, min(<npy_intp>EXACT_BLOCK, task.n - i)
        )
    return 0


cdef float extreme_of_floats(bint largest, const float *x, npy_intp n) noexcept nogil:
    cdef Blocks task
    cdef float extreme
    task.x, task.largest = <const char *>x, largest
    if not run_blocks(find_extremes, &task, n, EXACT_BLOCK, sizeof(float)):
        return (LOOPS.max_or_nan if largest else LOOPS.min_or_nan)(x, n)
    extreme = (LOOPS.max_or_nan if largest else LOOPS.min_or_nan)(task.extremes, (n + EXACT_BLOCK - 1) // EXACT_BLOCK)
    free(task.totals)
    return extreme
