"""A matrix as BLAS sees it: rows that lie in order, or columns that do."""

from libc.stdint cimport int64_t

cdef enum:
    AS_IT_IS = 111                     # cblas's names: rows in order
    TRANSPOSED = 112                   # columns in order

cdef struct Matrix:
    char *data
    int64_t rows
    int64_t columns
    int64_t pitch                      # elements from row to row, or where transposed from column to column
    int flag
