"""Blocks of products of bfloat16 matrices by AVX512_BF16 (`simd_bfloat16.h`), with packing of the operands as pairs.

The pitch of a `Matrix` is measured in bfloat16 elements.
"""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.blas_matrix cimport Matrix

cdef enum:
    PANEL_COLUMNS = 64                 # maximal number of columns of a packed panel
    MAX_UNPACKED_ROWS = 4              # maximal number of rows of the left operand in `multiply_unpacked`

cdef extern from "simd_bfloat16.h" nogil:
    ctypedef struct PairStore:
        float alpha, beta
        const void *summand
        Py_ssize_t summand_pitch
        const void *row_bias
        void *out
        Py_ssize_t pitch
        int wide
    ctypedef struct LaneCopy:
        int64_t source, lane
    void pack_copied_pairs(
        Py_ssize_t depth, const void *source, const int64_t *offset, const LaneCopy *copies, Py_ssize_t count, char *to,
        Py_ssize_t step
    )
    void round_to_bfloat16(const float *x, Py_ssize_t n, void *out)

cdef struct LeftOperand:               # rows of the left operand of a product
    const char *data
    int64_t rows
    int64_t row_bytes                  # distance between consecutive rows
    int64_t pair_bytes                 # distance between consecutive pairs of a row
    int64_t depth                      # number of elements of a row

# Return whether the processor has AVX512_BF16, the SIMD level is AVX-512 and the tiles are not disabled.
cdef bint has_bfloat16_tiles() noexcept nogil

# Return the size of the memory for `columns` packed columns of `depth` elements. It must be aligned to 64 bytes.
cdef int64_t packed_pairs_bytes(int64_t depth, int64_t columns) noexcept nogil

# Pack the columns [column, column_end) of `b` as panels of PANEL_COLUMNS columns.
cdef void pack_pairs(Matrix *b, int64_t column, int64_t column_end, char *to) noexcept nogil

# Return the rows [row, row_end) of `a`. If the columns of `a` are contiguous, the rows are packed in `buffer`, which
# has `packed_pairs_bytes(a.columns, row_end - row)` bytes. Otherwise, the buffer is not used.
cdef LeftOperand prepare_left_operand(Matrix *a, int64_t row, int64_t row_end, char *buffer) noexcept nogil

# Multiply `left` by `columns` packed columns. `panels` points to the first panel, and `store` describes the first row
# and column of the result.
cdef void multiply_pairs(const LeftOperand *left, const char *panels, int64_t columns, PairStore store) noexcept nogil

# Return whether `multiply_unpacked` supports the left operand `a`: at most MAX_UNPACKED_ROWS rows, each
# contiguous. `multiply_unpacked` needs no packing and is the fastest algorithm for few rows.
cdef bint can_multiply_unpacked(Matrix *a) noexcept nogil
# Multiply `a` by the columns [column, column_end) of `b`. `store` describes the first row and `column` of the result. If the
# rows of `b` are contiguous, the result has the same bits as the result of `multiply_pairs`.
cdef void multiply_unpacked(Matrix *a, Matrix *b, int64_t column, int64_t column_end, PairStore store) noexcept nogil

# Return `store` with the destination and the summand moved by some rows and columns.
cdef PairStore moved_store(const PairStore *store, int64_t rows, int64_t columns) noexcept nogil
