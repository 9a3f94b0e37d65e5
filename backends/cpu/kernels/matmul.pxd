"""Products of matrices on the CPU, straight through BLAS, our own tiles or the inner loop of np.matmul."""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t
from numpy cimport npy_intp

from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.matrix cimport Epilogue, Finish, Matrix
from ts.backends.cpu.kernels.gemm_tiles cimport Packed, Panels

cdef enum:
    ALONE_FROM = 1 << 19               # multiplications that take longer than another thread takes to give the GIL back

# x @ y, or x @ y.T, and a bias (a row, or None) added to each row, of matrices of one floating dtype: a new reference to a
# Tensor, or NULL without an exception where they are not of that kind.
cdef PyObject *matrix_product(Tensor x, Tensor y, bint transposed, object bias) except? NULL

# c = alpha * a @ b + beta * c + bias, for arrays of matrices or of stacks that broadcast to c's; false where that is for the
# general way: other dtypes, shapes that do not fit.  A `beta` of 0 hides what is in c; the bias is a row as `is_row` has it,
# or None, and then beta is 0.  `packed` may be None, or is of b.  The epilogue, which may be NULL, runs over the product where it is still in the cache, block by
# block and on several threads, without the GIL or with it.
cdef bint multiplied(
    object a, object b, object c, double alpha, double beta, object bias, Packed packed, Epilogue epilogue, void *context
) except -1

# The panels that are kept of a tensor, or of its transpose: for its products, as the right one, with another tensor.  None where
# there are none, or where that product does without.  To be asked before `multiplied`, while nobody else holds its array.
cdef Packed kept_for(Tensor x, Tensor y, bint transposed)
# The same for a left factor of so many rows.
cdef Packed kept_for_rows(int64_t rows, Tensor y, bint transposed)

# Whether an array is a row of so many elements, in order, of a dtype by NumPy's number.
cdef bint is_row(object array, npy_intp columns, int number) noexcept

# The place of an array's dtype among those of BLAS: float, double, complex64, complex128; -1 for another one.
cdef int kind_of(a) except -2

ctypedef enum Way:
    BY_ROWS                            # few of them: `few_rows.pyx`
    BY_TILES
    BY_BLAS
    BY_LOOP                            # of np.matmul


cdef class Job:
    cdef object left_array             # held here, as other threads may let go of them meanwhile
    cdef object right_array
    cdef object out_array
    cdef Way way
    cdef int kind                      # as in `gemm_of`
    cdef int64_t itemsize
    cdef Matrix left
    cdef Matrix right
    cdef char *out
    cdef int64_t pitch                 # of out
    cdef Finish finish                 # alpha and bias
    cdef double beta
    cdef object bias_array             # or None
    cdef Packed packed                 # the right one for tiles, or None, and its panels
    cdef Panels panels
    cdef int64_t count                 # of the stack, and from each to the next:
    cdef int64_t left_step
    cdef int64_t right_step
    cdef int64_t out_step
    cdef int64_t left_strides[2]       # in bytes, for the loop
    cdef int64_t right_strides[2]
    cdef int64_t rows                  # of a task
    cdef int64_t columns
    cdef int64_t row_tasks
    cdef int64_t column_tasks
    cdef Py_ssize_t parts              # how many threads share the tasks
    cdef bint limited                  # BLAS is held to one thread meanwhile
    cdef int64_t next                  # the first task that nobody has taken

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


# The product of two matrices of floats into `c`, to be computed again and again, or None where it is not computed here.  All
# three are of one dtype and fit each other; `c` is C-contiguous.
cdef Job job_of(object a, object b, object c)
