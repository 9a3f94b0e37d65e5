"""Products of float matrices by the tiles of `simd_tiles.h`, where the BLAS at hand has narrower vectors."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.matrix cimport Matrix

cdef enum:
    BLOCK_ROWS = 256                   # of a block of the product; with BLOCK_COLUMNS and BLOCK_DEPTH it fits the
    BLOCK_COLUMNS = 192                # second-level cache: 256 x 192 sums, 256 x 256 and 256 x 192 factors
    BLOCK_DEPTH = 256

# Whether tiles have vectors of 512 bits.
cdef bint has_wide_tiles() noexcept nogil

# Elements of a panel of columns: blocks of several tasks should begin at its multiples.
cdef int64_t panel_columns(bint double_) noexcept nogil

# out[r, c] = alpha * (a @ b)[r, c] + beta * out[r, c] for the rows from `row` to `row_end` and so on; -1 without memory.
# Each element is summed in the same order whatever the block.
cdef int tiled_block(
    bint double_, Matrix *a, Matrix *b, int64_t row, int64_t row_end, int64_t column, int64_t column_end,
    char *out, int64_t pitch, double alpha, double beta,
) noexcept nogil
