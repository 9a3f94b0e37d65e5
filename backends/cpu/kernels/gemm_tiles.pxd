"""Products of floating matrices by the register tiles of `simd_tiles.h`, with packed panels of columns."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.blas_matrix cimport GemmEpilogue, Matrix

cdef enum:
    BLOCK_ROWS = 256                   # rows of a product block; the 256 x 256 and 256 x 192
    BLOCK_COLUMNS = 192                # blocks of the operands fit the L2 cache
    BLOCK_DEPTH = 256

# Return whether vectors have 256 bits or more; the tiles then need 50 to 90 % of OpenBLAS's time.
cdef bint has_fast_tiles() noexcept nogil

# Return the columns of a panel for tiles, or for few rows; blocks of tasks should begin at multiples of them.
cdef int64_t panel_columns(bint double_) noexcept nogil
cdef int64_t narrow_columns(bint double_) noexcept nogil

# Compute out[r, c] = alpha * (a @ b)[r, c] + beta * out[r, c] for the rows [row, row_end) and columns
# [column, column_end); `finish` has scale, bias and epilogue. If beta is not 0, alpha must be 1, without bias
# and epilogue. Return -1 if memory allocation fails.
cdef int tiled_block(
    bint double_, Matrix *a, Matrix *b, int64_t row, int64_t row_end, int64_t column, int64_t column_end,
    char *out, int64_t pitch, double beta, GemmEpilogue *finish,
) noexcept nogil


cdef struct Panels:                    # packed columns of a matrix
    void *memory                       # vectors are aligned to cache lines if it is
    int64_t rows                       # size of the matrix
    int64_t columns
    int64_t wide                       # columns of a panel
    bint double_


cdef class Packed:
    cdef Panels panels
    cdef int64_t bytes


# Return the bytes needed for packing `b`, and pack it into memory aligned to 64 bytes.
cdef int64_t panel_bytes(bint double_, Matrix *b) noexcept nogil
cdef void pack_panels(bint double_, Matrix *b, int64_t wide, void *memory, Panels *panels) noexcept nogil

# Pack a floating matrix; None if memory allocation fails.
cdef Packed packed_columns(bint double_, Matrix *b, int64_t wide)

# Like `tiled_block` for a packed right operand with beta 0; `column` begins a panel.
cdef void packed_block(
    const Panels *b, Matrix *a, int64_t row, int64_t row_end, int64_t column, int64_t column_end, char *out, int64_t pitch,
    GemmEpilogue *finish
) noexcept nogil
