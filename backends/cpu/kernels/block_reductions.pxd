"""Reductions of one long row on several threads, in blocks of a fixed size.

The threads compute the result of each block. Then one thread combines these results in the order of the blocks.
Results are therefore bit-identical for every number of threads, and equal to those of the row loops on one thread.
Short rows, and rows within a partition of an outer loop, are reduced on one thread.
"""

from libc.stdint cimport int64_t
from numpy cimport npy_intp

# Return the sum of a row.
cdef double sum_of_floats(const float *x, npy_intp n) noexcept nogil
cdef double sum_of_doubles(const double *x, npy_intp n) noexcept nogil
cdef int64_t sum_of_integers(const int64_t *x, npy_intp n) noexcept nogil
# Return the sum of (x - mean) ** 2 of a row, and set `first` to the sum of x - mean.
cdef double squares_of_floats(const float *x, npy_intp n, float mean, double *first) noexcept nogil
# Return the sum of x ** 2 of a row.
cdef double squares_of_doubles(const double *x, npy_intp n) noexcept nogil
# Return the maximum (if `largest`) or the minimum of a row, or NaN if the row has a NaN. A zero may have any sign.
cdef float extreme_of_floats(bint largest, const float *x, npy_intp n) noexcept nogil
# Write the sum of each block of BLOCK elements to `totals`.
cdef void sum_blocks_of_floats(const char *x, npy_intp n, double *totals) noexcept nogil
cdef void sum_blocks_of_doubles(const char *x, npy_intp n, double *totals) noexcept nogil
