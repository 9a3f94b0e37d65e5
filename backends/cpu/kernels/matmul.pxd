"""Matrix products on the CPU, by BLAS, by register tiles (`simd_tiles.h`), or by the loop of np.matmul."""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t
from numpy cimport npy_intp

from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.blas_matrix cimport Epilogue, GemmEpilogue, Matrix
from ts.backends.cpu.kernels.gemm_tiles cimport Packed, Panels

cdef enum:
    # Smaller products keep the GIL, because they take less time than acquiring it again.
    MIN_MULTIPLICATIONS_WITHOUT_GIL = 1 << 19

# Return x @ y + bias, or x @ y.T + bias if `transposed`, as a new reference to a Tensor. `x` and `y` are
# matrices with equal floating dtypes. `bias` is a row or None. Return NULL without an exception for
# unsupported operands.
cdef PyObject *matrix_product(Tensor x, Tensor y, bint transposed, object bias) except? NULL

# Compute c = alpha * a @ b + beta * c + bias for matrices, or for batches that broadcast to the shape of c.
# Return False if the dtypes or shapes are unsupported. If `beta` is 0, c is not read. `bias` is None or a row
# that `is_row` accepts, and requires beta = 0. `packed` is None or the packed b. `epilogue` is NULL or a
# function, which is called with each block of the product while the block is in the cache. These calls may
# run on several threads without the GIL.
cdef bint multiply_into(
    object a, object b, object c, double alpha, double beta, object bias, Packed packed, Epilogue epilogue, void *context
) except -1

# Return the cached packed columns of `y` (of y.T if `transposed`) for a product with the left operand `x`.
# Return None if they are not cached or the chosen algorithm does not use them. Precondition: the caller holds
# no references to the arrays of the tensors.
cdef Packed cached_panels_for(Tensor x, Tensor y, bint transposed)
# Return the cached panels as `cached_panels_for` does. The number of rows of the left operand is given
# instead of the operand.
cdef Packed cached_panels_for_rows(int64_t rows, Tensor y, bint transposed)

# Return whether an array is a contiguous, aligned row of `columns` elements with NumPy type number `type_number`.
cdef bint is_row(object array, npy_intp columns, int type_number) noexcept

# Return the number of an array's dtype in calls of `gemm` (float32, float64, complex64, complex128), or -1 for
# other dtypes.
cdef int dtype_index(a) except -2

ctypedef enum GemmAlgorithm:
    BY_ROWS                            # by `skinny_gemm.pyx`, for few rows of the left operand
    BY_TILES
    BY_BLAS
    BY_LOOP                            # by the inner loop of np.matmul


cdef class Job:
    cdef object left_array             # These three fields keep the arrays alive if other threads replace the arrays of the tensors.
    cdef object right_array
    cdef object out_array
    cdef GemmAlgorithm algorithm
    cdef int kind                      # dtype of the elements, as in calls of `gemm`
    cdef int64_t itemsize
    cdef Matrix left
    cdef Matrix right
    cdef char *out
    cdef int64_t pitch                 # distance in elements from one row of `out` to the next
    cdef GemmEpilogue finish                 # alpha, bias and epilogue
    cdef double beta
    cdef object bias_array             # array of the bias, or None
    cdef Packed packed                 # packed right operand, or None
    cdef Panels panels                 # panels of `packed`
    cdef int64_t count                 # number of matrix products in the batch
    # distances in bytes between the operands of consecutive matrix products
    cdef int64_t left_batch_stride
    cdef int64_t right_batch_stride
    cdef int64_t out_batch_stride
    cdef int64_t left_strides[2]       # byte strides of the left matrix, for np.matmul's loop
    cdef int64_t right_strides[2]
    cdef int64_t rows                  # number of rows of the product that a task computes
    cdef int64_t columns               # number of columns of the product that a task computes
    cdef int64_t row_tasks
    cdef int64_t column_tasks
    cdef Py_ssize_t partition_count    # number of threads
    cdef bint limited                  # True if BLAS is limited to one thread while the job runs
    cdef int64_t next                  # index of the next task that a thread takes

    cdef void set_panels(self, Packed packed) noexcept
    cdef Packed pack(self, Packed before)
    cdef double work(self) noexcept nogil
    cdef int divide(self) except -1
    cdef int run(self) except -1
    cdef int run_again(self) noexcept nogil
    cdef int64_t vector_panel(self, int64_t inner_stride) noexcept
    cdef int run_partitions(self) except -1
    cdef int divide_tiles(self, Py_ssize_t partition_count) except -1
    cdef int run_tasks(self) noexcept nogil
    cdef void end_block(self, char *product, int64_t row, int64_t column, int64_t rows, int64_t columns) noexcept nogil
    cdef void run_loop(self, Matrix *left, Matrix *right, char *out) noexcept nogil


# Return a job that computes c = a @ b for floating matrices. Each run uses the current contents of the
# arrays. The arrays must have one dtype and matching shapes, and `c` must be C-contiguous. Return None for
# unsupported operands.
cdef Job make_job(object a, object b, object c)
