"""Matrix descriptor for BLAS: contiguous rows or contiguous columns."""

from libc.stdint cimport int64_t
from numpy cimport npy_intp

cdef enum:
    AS_IT_IS = 111                     # CblasNoTrans: contiguous rows
    TRANSPOSED = 112                   # CblasTrans: contiguous columns

cdef struct Matrix:
    char *data
    int64_t rows
    int64_t columns
    # leading dimension: elements from one row to the next, or from one column to the next if TRANSPOSED
    int64_t pitch
    int flag


cdef inline bint as_matrix(Matrix *m, char *data, npy_intp *dims, npy_intp *strides, int64_t itemsize, bint transpose) noexcept nogil:
    """Set `m` to describe a matrix for BLAS, or the transpose of the matrix if `transpose`.

    Return False if neither rows nor columns are contiguous.
    """
    cdef int64_t down = strides[0], right = strides[1], rows = dims[0], columns = dims[1]
    if transpose:
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


# Function that a matrix product calls for each finished tile of the result, while the tile is in the L1
# cache. The tile has `rows` x `columns` elements, and starts at row `row` and column `column` of the result.
ctypedef void (*Epilogue)(
    void *context, bint double_, void *tile, int64_t pitch, int64_t row, int64_t column, int64_t rows, int64_t columns
) noexcept nogil

cdef struct GemmEpilogue:                    # scale, bias and epilogue of a matrix product
    double alpha                       # factor by which the product is multiplied
    const char *bias                   # vector that is added to each row, or NULL
    Epilogue epilogue                  # function that is applied to finished tiles, or NULL
    void *context
