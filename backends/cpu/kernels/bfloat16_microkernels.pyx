"""GEMM microkernels for bfloat16 with float32 accumulation (AVX512_BF16), and packing of their operands.

Input: bfloat16 matrices. Output: blocks of the product, rounded once to bfloat16, or float32 sums. Each element
is one sum over k in increasing order of the pairs, so that its bits do not depend on the blocks.

The functions are for processors with AVX512_BF16. On other processors, `has_bfloat16_tiles` returns False, and
the callers compute in float32.
"""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.blas_matrix cimport AS_IT_IS, Matrix

cdef extern from "simd_bfloat16.h" nogil:
    bint has_avx512_bf16()
    void multiply_pair_panel(
        Py_ssize_t rows, Py_ssize_t depth, const char *a, Py_ssize_t row_bytes, Py_ssize_t pair_bytes, const char *b,
        Py_ssize_t columns, PairStore to
    )
    void pack_row_pairs(Py_ssize_t depth, Py_ssize_t columns, const char *x, Py_ssize_t pitch_bytes, char *to, Py_ssize_t step)
    void pack_column_pairs(Py_ssize_t depth, Py_ssize_t columns, const char *x, Py_ssize_t pitch_bytes, char *to, Py_ssize_t step)
    void multiply_unpacked_rows(
        Py_ssize_t rows, Py_ssize_t depth, Py_ssize_t columns, const char *a, Py_ssize_t a_bytes, const char *b,
        Py_ssize_t b_bytes, int transposed, const PairStore *to
    )

cdef bint enabled = has_avx512_bf16()


cdef bint has_bfloat16_tiles() noexcept nogil:
    return enabled


def use_bfloat16_tiles(bint use):
    """Enable or disable the tiles. Return the previous setting, which is False on processors without AVX512_BF16."""
    global enabled
    before = enabled
    enabled = use and has_avx512_bf16()
    return before


cdef int64_t packed_pairs_bytes(int64_t depth, int64_t columns) noexcept nogil:
    return (depth + 1) // 2 * ((columns + 15) // 16) * 64


cdef void pack_panel(Matrix *b, int64_t column, int64_t columns, char *to) noexcept nogil:
    """Pack the columns from `column` on as one panel of `columns` columns."""
    cdef int64_t step = (columns + 15) // 16 * 64, c = 0
    while c < columns:
        if b.flag == AS_IT_IS:
            pack_row_pairs(b.rows, columns - c, b.data + 2 * (column + c), 2 * b.pitch, to, step)
        else:
            pack_column_pairs(b.rows, columns - c, b.data + 2 * (column + c) * b.pitch, 2 * b.pitch, to, step)
        to += 64
        c += 16


cdef void pack_pairs(Matrix *b, int64_t column, int64_t column_end, char *to) noexcept nogil:
    cdef int64_t columns
    while column < column_end:
        columns = min(column_end - column, <int64_t>PANEL_COLUMNS)
        pack_panel(b, column, columns, to)
        to += packed_pairs_bytes(b.rows, columns)
        column += columns


cdef LeftOperand prepare_left_operand(Matrix *a, int64_t row, int64_t row_end, char *buffer) noexcept nogil:
    cdef LeftOperand left
    cdef Matrix transposed = a[0]
    left.rows, left.depth = row_end - row, a.columns
    if a.flag == AS_IT_IS:
        left.data, left.row_bytes, left.pair_bytes = a.data + 2 * row * a.pitch, 2 * a.pitch, 4
        return left
    transposed.rows, transposed.columns, transposed.flag = a.columns, a.rows, AS_IT_IS
    pack_panel(&transposed, row, row_end - row, buffer)
    left.data, left.row_bytes, left.pair_bytes = buffer, 4, (row_end - row + 15) // 16 * 64
    left.depth = (a.columns + 1) // 2 * 2  # the packed pairs are complete
    return left


cdef void multiply_pairs(const LeftOperand *left, const char *panels, int64_t columns, PairStore store) noexcept nogil:
    cdef int64_t column = 0, count
    while column < columns:
        count = min(columns - column, <int64_t>PANEL_COLUMNS)
        multiply_pair_panel(
            left.rows, left.depth, left.data, left.row_bytes, left.pair_bytes, panels, count, moved_store(&store, 0, column)
        )
        panels += packed_pairs_bytes(left.depth, count)
        column += count


cdef bint can_multiply_unpacked(Matrix *a) noexcept nogil:
    return a.rows <= MAX_UNPACKED_ROWS and a.flag == AS_IT_IS


cdef void multiply_unpacked(Matrix *a, Matrix *b, int64_t column, int64_t column_end, PairStore store) noexcept nogil:
    multiply_unpacked_rows(
        a.rows, a.columns, column_end - column, a.data, 2 * a.pitch,
        b.data + 2 * column * (1 if b.flag == AS_IT_IS else b.pitch), 2 * b.pitch, b.flag != AS_IT_IS, &store
    )


cdef PairStore moved_store(const PairStore *store, int64_t rows, int64_t columns) noexcept nogil:
    cdef PairStore moved = store[0]
    moved.out = <char *>store.out + (rows * store.pitch + columns) * (4 if store.wide else 2)
    if store.summand != NULL:
        moved.summand = <const char *>store.summand + 2 * (rows * store.summand_pitch + columns)
    if store.row_bias != NULL:
        moved.row_bias = <const char *>store.row_bias + 2 * rows
    return moved
