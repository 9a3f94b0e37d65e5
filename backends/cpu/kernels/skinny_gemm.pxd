"""Matrix products with few rows (skinny GEMM), without packing."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.gemm_tiles cimport Panels
from ts.backends.cpu.kernels.blas_matrix cimport Matrix

# Return whether `skinny_gemm` is the fastest algorithm for a floating product. Depends on shapes and strides
# only.
cdef bint can_use_skinny_gemm(bint double_, Matrix *a, Matrix *b) noexcept nogil

# Return whether the product is faster with packed panels of b. The time of packing is not counted.
cdef bint skinny_gemm_uses_panels(bint double_, Matrix *a, Matrix *b) noexcept nogil

# Compute out[r, c] = alpha * (a @ b)[r, c] + bias[c] for all rows r and the columns c in [column,
# column_end), at least one vector of columns. `bias` may be NULL. `panels` are the packed panels of b, or
# NULL. They are allowed only if b has contiguous columns, and `column` must then be the first column of a
# panel. The bits of an element depend neither on the range of columns nor on the use of panels.
cdef void skinny_gemm(
    bint double_, Matrix *a, Matrix *b, int64_t column, int64_t column_end, char *out, int64_t pitch, double alpha,
    const char *bias, const Panels *panels
) noexcept nogil
