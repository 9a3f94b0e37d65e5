"""Arguments and results of the kernels for small matrices (`small_linalg.pyx`)."""

from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS

ctypedef struct MatrixBatch:           # batch dimensions of one operand, or of two operands with broadcasting
    int kind                           # FLOAT or DOUBLE
    int n                              # number of batch dimensions
    npy_intp count                     # number of matrices, the product of `dims`
    npy_intp dims[MAX_DIMS]

# Return the array of `x` if `aligned_float_array` accepts it and it has square matrices with at most MAX_ORDER rows,
# else NULL.
cdef PyArrayObject *small_square_matrices(IValue *x) noexcept

# Read the batch dimensions of `a`, which are all but the last two. If `b` is not NULL, broadcast them with all but
# the last `b_trailing` dimensions of `b`. Return False if they do not broadcast.
cdef bint read_batch(MatrixBatch *batch, int kind, PyArrayObject *a, PyArrayObject *b, int b_trailing) noexcept

# Return the address of matrix number `i` of the batch in `a`, whose last `trailing` dimensions are the matrix.
cdef char *matrix_address(MatrixBatch *batch, PyArrayObject *a, int trailing, npy_intp i) noexcept nogil

# Allocate an array of shape (*batch, rows, columns) with matrices that are stored by columns.
cdef object new_matrices(MatrixBatch *batch, npy_intp rows, npy_intp columns)

# Allocate error codes for the batch that are all zero (success).
cdef object new_info(MatrixBatch *batch)
