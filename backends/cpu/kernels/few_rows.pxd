"""Matrix products with few rows (skinny GEMM), without packing."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.gemm_tiles cimport Panels
from ts.backends.cpu.kernels.blas_matrix cimport Matrix

# Return whether this algorithm is the fastest for a floating product; depends on shapes and strides only.
cdef bint can_use_few_rows(bint double_, Matrix *a, Matrix *b) noexcept nogil

# Return whether the product is faster with packed panels of b, not counting the time of packing.
cdef bint few_rows_use_panels(bint double_, Matrix *a, Matrix *b) noexcept nogil

# Compute out[r, c] = alpha * (a @ b)[r, c] + bias[c] for all rows and the columns [column, column_end), at
# least a vector of them. `bias` may be NULL. If b has contiguous columns, its panels may be passed, else
# NULL; `column` must then begin a panel. The bits of an element depend neither on the range of columns nor on
# the use of panels.
cdef void few_rows(
    bint double_, Matrix *a, Matrix *b, int64_t column, int64_t column_end, char *out, int64_t pitch, double alpha,
    const char *bias, const Panels *panels
) noexcept nogil
