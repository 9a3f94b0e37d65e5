"""Products of few rows, without packing: `few_rows.pyx` says how."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.gemm_tiles cimport Panels
from ts.backends.cpu.kernels.matrix cimport Matrix

# Whether this is the way for a product of floats or doubles; what it asks depends on the shapes and on how they lie.
cdef bint few_rows_serve(bint double_, Matrix *a, Matrix *b) noexcept nogil

# Whether panels of b, once they are there, make it faster.
cdef bint few_rows_pack(bint double_, Matrix *a, Matrix *b) noexcept nogil

# out[r, c] = alpha * (a @ b)[r, c] + bias[c] for all rows and the columns from `column` to `column_end`, which are a vector
# or more; `bias` may be NULL.  Where b has its columns in order, its panels may be given, else NULL: `column` begins one then.
# Each element has the same bits whatever the columns, and with panels or without.
cdef void few_rows(
    bint double_, Matrix *a, Matrix *b, int64_t column, int64_t column_end, char *out, int64_t pitch, double alpha,
    const char *bias, const Panels *panels
) noexcept nogil
