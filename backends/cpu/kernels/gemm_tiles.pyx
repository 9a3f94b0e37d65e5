"""Blocked GEMM by register tiles (`simd_tiles.h`), loop tiling (cache blocking) and packing, for floats.

Input: a block of a product, or a matrix to pack for several products. Output: the elements of the block, with
bias and epilogue applied. The algorithm for a @ b is:

    for each BLOCK_DEPTH of the inner dimension k:
        pack the columns of b in panels of 48 columns
        for each tile:   out[tile, panel] += 8 rows of a @ panel

Each element is one sum over k in increasing order. Therefore, its bits depend neither on the blocks nor on
the packing.
"""

cimport cython
from libc.stdint cimport int64_t
from libc.stdlib cimport free

from ts._core.value.no_python_construction cimport seal
from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.blas_matrix cimport AS_IT_IS, GemmEpilogue, Matrix
from ts.backends.cpu.kernels.microkernels cimport Kernels, microkernels

ctypedef fused real:
    float
    double


cdef bint has_fast_tiles() noexcept nogil:
    return microkernels(False).lanes >= 8


cdef int64_t panel_columns(bint double_) noexcept nogil:
    return 3 * microkernels(double_).lanes


cdef int64_t narrow_columns(bint double_) noexcept nogil:
    return microkernels(double_).lanes


cdef void pack_columns(
    Kernels *kernels, Matrix *b, int64_t column, int64_t column_end, int64_t k, int64_t depth, int64_t wide, real *to
) noexcept nogil:
    """Pack the columns [column, column_end) as panels of `wide` columns.

    The last panel can be narrower. It is padded with zero columns to a whole number of vectors.
    """
    cdef int64_t lanes = kernels.lanes, vectors, full_vectors, step, c, i, v
    cdef real *data = <real *>b.data
    while column < column_end:
        vectors = min((column_end - column + lanes - 1) // lanes, wide // lanes)
        full_vectors = min((column_end - column) // lanes, vectors)
        step = vectors * lanes
        if b.flag == AS_IT_IS and full_vectors == vectors:
            kernels.copy_vectors(depth, data + k * b.pitch + column, b.pitch, to, <int>vectors)
        else:
            for v in range(vectors):
                if v < full_vectors and b.flag != AS_IT_IS:
                    kernels.transpose_vector(depth, data + (column + v * lanes) * b.pitch + k, b.pitch, to + v * lanes, <int>step)
                    continue
                for i in range(depth):
                    for c in range(v * lanes, (v + 1) * lanes):
                        if column + c >= column_end:
                            to[i * step + c] = 0
                        elif b.flag == AS_IT_IS:
                            to[i * step + c] = data[(k + i) * b.pitch + column + c]
                        else:
                            to[i * step + c] = data[(column + c) * b.pitch + k + i]
        to += step * depth
        column += step


cdef void add_summand(
    real *sums, int64_t sums_pitch, int64_t rows, int64_t columns, real *out, int64_t pitch, real beta
) noexcept nogil:
    cdef int64_t r, c
    for r in range(rows):
        for c in range(columns):
            out[c] = beta * out[c] + sums[c]
        out += pitch
        sums += sums_pitch


cdef void run_panel(
    Kernels *kernels, Matrix *a, int64_t row, int64_t row_end, int64_t k, int64_t depth, real *packed,
    int64_t columns, real *out, int64_t pitch, bint last, GemmEpilogue *finish, int64_t column
) noexcept nogil:
    """Multiply the rows [row, row_end) of `a` by one packed panel of `columns` columns.

    The first column of the panel is column `column` of the product.
    """
    cdef int64_t lanes = kernels.lanes, vectors = (columns + lanes - 1) // lanes, wide = vectors * lanes, rows, r, c
    cdef int64_t a_row = a.pitch if a.flag == AS_IT_IS else 1, a_stride = 1 if a.flag == AS_IT_IS else a.pitch
    cdef real *left = <real *>a.data + row * a_row + k * a_stride
    cdef real *bias = NULL
    cdef double alpha = 1
    cdef real edge[8 * 48]             # result of a tile at the right edge, where the columns do not fill whole vectors
    cdef real edge_bias[48]            # bias of such a tile, padded with zeros
    cdef real *to
    cdef bint is_full = wide == columns
    # While the rows are multiplied by this panel, the next packed panel is prefetched.
    cdef char *ahead = <char *>(packed + wide * depth)
    cdef int64_t ahead_stride = wide * sizeof(real) * kernels.rows // max(row_end - row, <int64_t>kernels.rows)
    cdef int kind
    if last:
        alpha = finish.alpha
        if finish.bias != NULL:
            bias = <real *>finish.bias + column
            if not is_full:
                for c in range(wide):
                    edge_bias[c] = bias[c] if c < columns else 0
                bias = edge_bias
    while row < row_end:
        kind = 0
        while (2 << kind) <= min(row_end - row, <int64_t>kernels.rows):
            kind += 1
        rows = 1 << kind
        to = out if is_full else edge
        if k > 0 and not is_full:
            for r in range(rows):
                for c in range(columns):
                    edge[r * wide + c] = out[r * pitch + c]
        kernels.part[kind][vectors - 1](
            depth, left, packed, to, pitch if is_full else wide, k > 0, a_row, a_stride, alpha, bias, ahead, ahead_stride,
        )
        ahead += depth * ahead_stride
        if not is_full:
            for r in range(rows):
                for c in range(columns):
                    out[r * pitch + c] = edge[r * wide + c]
        if last and finish.epilogue != NULL:
            finish.epilogue(finish.context, sizeof(real) == 8, out, pitch, row, column, rows, columns)
        row += rows
        left += rows * a_row
        out += rows * pitch


cdef int block(
    Kernels *kernels, Matrix *a, Matrix *b, int64_t row, int64_t row_end, int64_t column, int64_t column_end,
    real *out, int64_t pitch, real beta, GemmEpilogue *finish,
) noexcept nogil:
    cdef int64_t wide = 3 * kernels.lanes, inner = a.columns, n = column_end - column, k = 0, depth, c
    cdef int64_t panels = (n + wide - 1) // wide, deepest = min(inner, <int64_t>BLOCK_DEPTH)
    cdef int64_t sums_pitch = pitch if beta == 0 else panels * wide, room = 0 if beta == 0 else (row_end - row) * sums_pitch
    cdef real *packed = <real *>malloc_aligned(<size_t>(panels * wide * deepest + room) * sizeof(real))
    cdef real *sums
    if packed == NULL:
        return -1
    out += row * pitch + column
    sums = out if beta == 0 else packed + panels * wide * deepest
    while k < inner:
        depth = min(inner - k, <int64_t>BLOCK_DEPTH)
        pack_columns(kernels, b, column, column_end, k, depth, wide, packed)
        c = 0
        while c < n:
            run_panel(
                kernels, a, row, row_end, k, depth, packed + c * depth, min(wide, n - c), sums + c, sums_pitch,
                k + depth == inner, finish, column + c,
            )
            c += wide
        k += depth
    if beta != 0:
        add_summand(sums, sums_pitch, row_end - row, n, out, pitch, beta)
    free(packed)
    return 0


cdef int tiled_block(
    bint double_, Matrix *a, Matrix *b, int64_t row, int64_t row_end, int64_t column, int64_t column_end,
    char *out, int64_t pitch, double beta, GemmEpilogue *finish,
) noexcept nogil:
    cdef Kernels *kernels = microkernels(double_)
    if double_:
        return block(kernels, a, b, row, row_end, column, column_end, <double *>out, pitch, beta, finish)
    return block(kernels, a, b, row, row_end, column, column_end, <float *>out, pitch, <float>beta, finish)


# ---------------------------------------------------------------- matrices that are packed once

@cython.final
cdef class Packed:
    """A packed operand, the columns of a matrix or the weight of a convolution, that several calls can use."""

    def __dealloc__(self):
        free(self.panels.memory)


seal(Packed)


cdef int64_t panel_bytes(bint double_, Matrix *b) noexcept nogil:
    cdef int64_t lanes = microkernels(double_).lanes
    return (b.columns + lanes - 1) // lanes * lanes * b.rows * (8 if double_ else 4)


cdef void pack_panels(bint double_, Matrix *b, int64_t wide, void *memory, Panels *panels) noexcept nogil:
    panels.wide = wide
    panels.memory, panels.rows, panels.columns, panels.double_ = memory, b.rows, b.columns, double_
    if double_:
        pack_columns(microkernels(True), b, 0, b.columns, 0, b.rows, wide, <double *>memory)
    else:
        pack_columns(microkernels(False), b, 0, b.columns, 0, b.rows, wide, <float *>memory)


cdef Packed new_packed(int64_t bytes):
    cdef Packed result = Packed.__new__(Packed)
    result.bytes = bytes
    result.panels.memory = malloc_aligned(<size_t>bytes)
    return None if result.panels.memory == NULL else result


cdef Packed packed_columns(bint double_, Matrix *b, int64_t wide):
    cdef Packed result = new_packed(panel_bytes(double_, b))
    if result is not None:
        pack_panels(double_, b, wide, result.panels.memory, &result.panels)
    return result


cdef void packed_block(
    const Panels *b, Matrix *a, int64_t row, int64_t row_end, int64_t column, int64_t column_end, char *out, int64_t pitch,
    GemmEpilogue *finish
) noexcept nogil:
    cdef Kernels *kernels = microkernels(b.double_)
    cdef int64_t wide = 3 * kernels.lanes, c = column
    while c < column_end:
        if b.double_:
            run_panel(
                kernels, a, row, row_end, 0, b.rows, <double *>b.memory + c * b.rows, min(wide, column_end - c),
                <double *>out + row * pitch + c, pitch, True, finish, c,
            )
        else:
            run_panel(
                kernels, a, row, row_end, 0, b.rows, <float *>b.memory + c * b.rows, min(wide, column_end - c),
                <float *>out + row * pitch + c, pitch, True, finish, c,
            )
        c += wide
