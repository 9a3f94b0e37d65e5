"""Matrix products on the CPU: by BLAS, by the tiles of `simd_tiles.h`, or by the inner loop of np.matmul."""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t
from numpy cimport npy_intp

from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.blas_matrix cimport Epilogue, GemmEpilogue, Matrix
from ts.backends.cpu.kernels.gemm_tiles cimport Packed, Panels

cdef enum:
    MIN_MULTIPLICATIONS_WITHOUT_GIL = 1 << 19  # smaller products keep the GIL: getting it back takes longer

# Return x @ y, or x @ y.T, plus a bias row (or None), for matrices of one floating dtype, as a new reference
# to a Tensor; NULL without an exception if they are unsupported.
cdef PyObject *matrix_product(Tensor x, Tensor y, bint transposed, object bias) except? NULL

# Compute c = alpha * a @ b + beta * c + bias for matrices, or stacks that broadcast to the shape of c. Return
# False if the dtypes or shapes are unsupported. With `beta` 0, c is not read. The bias is a row that `is_row`
# accepts, or None; with a bias, beta must be 0. `packed` is None or the packed b. The epilogue, which may be
# NULL, is applied to blocks of the product while they are in the cache, possibly on several threads without
# the GIL.
cdef bint multiply_into(
    object a, object b, object c, double alpha, double beta, object bias, Packed packed, Epilogue epilogue, void *context
) except -1

# Return the cached packed columns of `y`, or of its transpose, for the product x @ y; None if there are none
# or the algorithm does not use them. Call it before `multiply_into`, before another reference to the array is
# taken.
cdef Packed cached_panels_for(Tensor x, Tensor y, bint transposed)
# Like `cached_panels_for`, for a left operand with `rows` rows.
cdef Packed cached_panels_for_rows(int64_t rows, Tensor y, bint transposed)

# Return whether an array is a contiguous, aligned row of `columns` elements with NumPy type number `number`.
cdef bint is_row(object array, npy_intp columns, int number) noexcept

# Return the index of an array's dtype in `gemm_of` (float32, float64, complex64, complex128); -1 for another
# one.
cdef int dtype_index(a) except -2

ctypedef enum GemmAlgorithm:
    BY_ROWS                            # few rows: `few_rows.pyx`
    BY_TILES
    BY_BLAS
    BY_LOOP                            # inner loop of np.matmul


cdef class Job:
    cdef object left_array             # references, because other threads may release the arrays
    cdef object right_array
    cdef object out_array
    cdef GemmAlgorithm way
    cdef int kind                      # index in `gemm_of`
    cdef int64_t itemsize
    cdef Matrix left
    cdef Matrix right
    cdef char *out
    cdef int64_t pitch                 # elements between rows of `out`
    cdef GemmEpilogue finish                 # alpha and bias
    cdef double beta
    cdef object bias_array             # or None
    cdef Packed packed                 # the packed right operand, or None, and its panels
    cdef Panels panels
    cdef int64_t count                 # products of the stack, and the strides in bytes between them:
    cdef int64_t left_step
    cdef int64_t right_step
    cdef int64_t out_step
    cdef int64_t left_strides[2]       # in bytes, for np.matmul's loop
    cdef int64_t right_strides[2]
    cdef int64_t rows                  # size of a task
    cdef int64_t columns
    cdef int64_t row_tasks
    cdef int64_t column_tasks
    cdef Py_ssize_t parts              # number of threads
    cdef bint limited                  # True if BLAS is limited to one thread during the run
    cdef int64_t next                  # next task to be started

    cdef void set_panels(self, Packed packed) noexcept
    cdef Packed pack(self, Packed before)
    cdef double work(self) noexcept nogil
    cdef int divide(self) except -1
    cdef int run(self) except -1
    cdef int run_again(self) noexcept nogil
    cdef int64_t vector_panel(self, int64_t inner_stride) noexcept
    cdef int run_parts(self) except -1
    cdef int divide_tiles(self, Py_ssize_t parts) except -1
    cdef int run_tasks(self) noexcept nogil
    cdef void end_block(self, char *product, int64_t row, int64_t column, int64_t rows, int64_t columns) noexcept nogil
    cdef void run_loop(self, Matrix *left, Matrix *right, char *out) noexcept nogil


# Prepare the product of two floating matrices into `c`, for repeated execution; None if it is unsupported.
# All three have one dtype and matching shapes; `c` is C-contiguous.
cdef Job make_job(object a, object b, object c)
