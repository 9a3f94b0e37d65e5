"""Matrix products with few rows (skinny GEMM), without packing, with horizontal sums of SIMD vectors."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.gemm_tiles cimport Panels
from ts.backends.cpu.kernels.blas_matrix cimport Matrix

# Return whether `skinny_gemm` is the fastest algorithm for the product of two floating matrices with these
# shapes and strides.
cdef bint can_use_skinny_gemm(bint double_, Matrix *a, Matrix *b) noexcept nogil

# Return whether `skinny_gemm` is faster with packed panels of b than without, provided that the panels
# already exist.
cdef bint skinny_gemm_uses_panels(bint double_, Matrix *a, Matrix *b) noexcept nogil

# Compute out[r, c] = alpha * (a @ b)[r, c] + bias[c] for all rows r and the columns c in [column,
# column_end). The range must have at least as many columns as a SIMD vector has elements. `bias` may be NULL.
# `panels` are the packed panels of b, or NULL. With panels, b must have contiguous columns, and `column` must
# be the first column of a panel. The bits of the result depend neither on the range nor on the panels.
cdef void skinny_gemm(
    bint double_, Matrix *a, Matrix *b, int64_t column, int64_t column_end, char *out, int64_t pitch, double alpha,
    const char *bias, const Panels *panels
) noexcept nogil
