"""A matrix as BLAS sees it: rows that lie in order, or columns that do."""

from libc.stdint cimport int64_t
from numpy cimport npy_intp

cdef enum:
    AS_IT_IS = 111                     # cblas's names: rows in order
    TRANSPOSED = 112                   # columns in order

cdef struct Matrix:
    char *data
    int64_t rows
    int64_t columns
    int64_t pitch                      # elements from row to row, or where transposed from column to column
    int flag


cdef inline bint as_matrix(Matrix *m, char *data, npy_intp *dims, npy_intp *strides, int64_t itemsize, bint turn) noexcept nogil:
    """A matrix (turned: its transpose) for BLAS; false where neither its rows nor its columns lie in order."""
    cdef int64_t down = strides[0], right = strides[1], rows = dims[0], columns = dims[1]
    if turn:
        down, right, rows, columns = right, down, columns, rows
    m.data, m.rows, m.columns = data, rows, columns
    if down % itemsize or right % itemsize:
        return False
    if (right == itemsize or columns == 1) and (rows == 1 or down >= columns * itemsize):
        m.flag = AS_IT_IS
        m.pitch = columns if rows == 1 else down // itemsize
        return True
    if (down == itemsize or rows == 1) and (columns == 1 or right >= rows * itemsize):
        m.flag = TRANSPOSED
        m.pitch = rows if columns == 1 else right // itemsize
        return True
    return False


# What a kernel does with finished elements while they are in the first-level cache: `rows` by `columns` of them, which
# begin at the row and column of the whole product.
ctypedef void (*Epilogue)(
    void *context, bint double_, void *tile, int64_t pitch, int64_t row, int64_t column, int64_t rows, int64_t columns
) noexcept nogil

cdef struct Finish:                    # what becomes of sums before they leave the cache
    double alpha                       # they are multiplied by it
    const char *bias                   # a row that is added, or NULL
    Epilogue epilogue                  # or NULL
    void *context
