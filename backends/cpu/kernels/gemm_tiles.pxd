"""Products of float matrices by the tiles of `simd_tiles.h`, with panels of columns that are packed."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.matrix cimport Finish, Matrix

cdef enum:
    BLOCK_ROWS = 256                   # of a block of the product; with BLOCK_COLUMNS and BLOCK_DEPTH it fits the
    BLOCK_COLUMNS = 192                # second-level cache: 256 x 256 and 256 x 192 factors
    BLOCK_DEPTH = 256

# Whether tiles have vectors of 256 bits or more: packed, they take half to nine tenths of the time of OpenBLAS then.
cdef bint has_fast_tiles() noexcept nogil

# Columns of a panel of tiles, or of few rows: blocks of several tasks should begin at its multiples.
cdef int64_t panel_columns(bint double_) noexcept nogil
cdef int64_t narrow_columns(bint double_) noexcept nogil

# out[r, c] = alpha * (a @ b)[r, c] + beta * out[r, c] for the rows from `row` to `row_end` and so on, alpha, the bias and the
# epilogue as `finish` has them; with a beta other than 0 there is neither of these.  -1 without memory.
cdef int tiled_block(
    bint double_, Matrix *a, Matrix *b, int64_t row, int64_t row_end, int64_t column, int64_t column_end,
    char *out, int64_t pitch, double beta, Finish *finish,
) noexcept nogil


cdef struct Panels:                    # the columns of a matrix, packed for products with all of its rows
    void *memory
    int64_t rows                       # of the matrix
    int64_t columns
    int64_t wide                       # columns of a panel
    bint double_


cdef class Packed:
    cdef Panels panels
    cdef int64_t bytes


# How much memory that is, of which vectors cross no line of the cache where it begins at one; and to fill it.
cdef int64_t panel_bytes(bint double_, Matrix *b) noexcept nogil
cdef void pack_panels(bint double_, Matrix *b, int64_t wide, void *memory, Panels *panels) noexcept nogil

# A matrix of floats or doubles, packed; None where there is no memory.
cdef Packed packed_columns(bint double_, Matrix *b, int64_t wide)

# The same as `tiled_block` for a matrix that was packed; `column` begins a panel.
cdef void packed_block(
    const Panels *b, Matrix *a, int64_t row, int64_t row_end, int64_t column, int64_t column_end, char *out, int64_t pitch,
    Finish *finish
) noexcept nogil
