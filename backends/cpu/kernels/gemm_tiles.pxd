"""Floating matrix products by register blocking (`simd_tiles.h`), cache blocking and packed panels."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.blas_matrix cimport GemmEpilogue, Matrix

cdef enum:
    BLOCK_ROWS = 256                   # maximal rows of a block of the product, so that the rows of `a` fit in the L2 cache
    BLOCK_COLUMNS = 192                # maximal columns of a block, so that the columns of `b` fit in the L2 cache
    BLOCK_DEPTH = 256

# Return whether the processor's SIMD vectors have at least 256 bits. With such vectors, a product by the
# tiles of this module takes 50 to 90 % of the time of OpenBLAS.
cdef bint has_fast_tiles() noexcept nogil

# Number of columns of a panel: `panel_columns` applies to `tiled_block`, and `narrow_columns` to products
# with few rows. Each task should start at a column that is a multiple of this number.
cdef int64_t panel_columns(bint double_) noexcept nogil
cdef int64_t narrow_columns(bint double_) noexcept nogil

# Compute out[r, c] = alpha * (a @ b)[r, c] + beta * out[r, c] for the rows [row, row_end) and columns
# [column, column_end). `finish` contains alpha, bias and epilogue. If beta is not 0, alpha must be 1, and
# bias and epilogue must be NULL. Return -1 if memory allocation fails.
cdef int tiled_block(
    bint double_, Matrix *a, Matrix *b, int64_t row, int64_t row_end, int64_t column, int64_t column_end,
    char *out, int64_t pitch, double beta, GemmEpilogue *finish,
) noexcept nogil


cdef struct Panels:                    # a matrix whose columns are packed as panels
    void *memory                       # aligned to 64 bytes, so that each vector is aligned to its size
    int64_t rows                       # number of rows of the matrix
    int64_t columns                    # number of columns of the matrix
    int64_t wide                       # number of columns of a panel
    bint double_


cdef class Packed:
    cdef Panels panels
    cdef int64_t bytes


# `panel_bytes` returns the size of the memory that `pack_panels` needs for `b`. `pack_panels` copies `b` to
# panels in `memory`, which must be aligned to 64 bytes.
cdef int64_t panel_bytes(bint double_, Matrix *b) noexcept nogil
cdef void pack_panels(bint double_, Matrix *b, int64_t wide, void *memory, Panels *panels) noexcept nogil

# Allocate memory for a packed operand, aligned to 64 bytes. Return None if memory allocation fails.
cdef Packed new_packed(int64_t bytes)

# Copy a floating matrix to panels of `wide` columns. Return None if memory allocation fails.
cdef Packed packed_columns(bint double_, Matrix *b, int64_t wide)

# Compute the block as `tiled_block` does for beta 0, with a packed b. `column` must be the first of a panel.
cdef void packed_block(
    const Panels *b, Matrix *a, int64_t row, int64_t row_end, int64_t column, int64_t column_end, char *out, int64_t pitch,
    GemmEpilogue *finish
) noexcept nogil
