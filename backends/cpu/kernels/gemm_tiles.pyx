"""Products of float matrices by the tiles of `simd_tiles.h`, where the BLAS at hand has narrower vectors.

In: a block of a product.  Out: its elements.  OpenBLAS takes kernels for AVX2 on processors that it does not know, which
is half the speed where AVX-512 is present.

    for each BLOCK_DEPTH of the inner dimension:
        rows of a     packed as tiles of 8 rows      k=0: a00 a10 .. a70  k=1: a01 a11 .. a71 ...
        columns of b  packed as panels of 48         k=0: b00 .. b0,47    k=1: b10 .. b1,47 ...
        sums[tile, panel] += tile @ panel             24 vectors that stay in registers while k runs

An element is the sum over k in order, of blocks of BLOCK_DEPTH: the same bits whatever block it is computed in.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport free

from ts.backends.cpu.kernels.matrix cimport AS_IT_IS, Matrix
from ts.backends.cpu.kernels.microkernels cimport Kernels, microkernels

cdef extern from "<stdlib.h>" nogil:
    int posix_memalign(void **, size_t, size_t)

ctypedef fused real:
    float
    double


cdef bint has_wide_tiles() noexcept nogil:
    return microkernels(False).lanes == 16


cdef int64_t panel_columns(bint double_) noexcept nogil:
    return 3 * microkernels(double_).lanes


cdef void pack_rows(Kernels *kernels, Matrix *a, int64_t row, int64_t row_end, int64_t k, int64_t depth, real *to) noexcept nogil:
    """Tiles of `kernels.rows` rows; what is missing of the last are zeros."""
    cdef int64_t rows = kernels.rows, r, i, left
    cdef real *data = <real *>a.data
    while row < row_end:
        left = row_end - row
        if left >= rows:
            if a.flag == AS_IT_IS:
                kernels.turn_rows(depth, data + row * a.pitch + k, a.pitch, to, <int>rows)
            else:
                kernels.copy_rows(depth, data + k * a.pitch + row, a.pitch, to, 1)
        else:
            for i in range(depth):
                for r in range(rows):
                    if r >= left:
                        to[i * rows + r] = 0
                    elif a.flag == AS_IT_IS:
                        to[i * rows + r] = data[(row + r) * a.pitch + k + i]
                    else:
                        to[i * rows + r] = data[(k + i) * a.pitch + row + r]
        to += rows * depth
        row += rows


cdef void pack_columns(
    Kernels *kernels, Matrix *b, int64_t column, int64_t column_end, int64_t k, int64_t depth, real *to
) noexcept nogil:
    """Panels of three vectors, the last of as many as it needs, filled up with zeros."""
    cdef int64_t lanes = kernels.lanes, vectors, whole, step, c, i, v
    cdef real *data = <real *>b.data
    while column < column_end:
        vectors = min((column_end - column + lanes - 1) // lanes, <int64_t>3)
        whole = min((column_end - column) // lanes, vectors)
        step = vectors * lanes
        if b.flag == AS_IT_IS and whole == vectors:
            kernels.copy_vectors(depth, data + k * b.pitch + column, b.pitch, to, <int>vectors)
        else:
            for v in range(vectors):
                if v < whole and b.flag != AS_IT_IS:
                    kernels.turn_vector(depth, data + (column + v * lanes) * b.pitch + k, b.pitch, to + v * lanes, <int>step)
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


cdef void write_sums(
    real *sums, int64_t sums_pitch, int64_t rows, int64_t columns, real *out, int64_t pitch, real alpha, real beta
) noexcept nogil:
    cdef int64_t r, c
    for r in range(rows):
        if beta == 0:
            for c in range(columns):
                out[c] = alpha * sums[c]
        else:
            for c in range(columns):
                out[c] = beta * out[c] + alpha * sums[c]
        out += pitch
        sums += sums_pitch


cdef int block(
    Kernels *kernels, Matrix *a, Matrix *b, int64_t row, int64_t row_end, int64_t column, int64_t column_end,
    real *out, int64_t pitch, real alpha, real beta,
) noexcept nogil:
    cdef int64_t rows = kernels.rows, wide = 3 * kernels.lanes, inner = a.columns
    cdef int64_t m = row_end - row, n = column_end - column, deepest = min(inner, <int64_t>BLOCK_DEPTH)
    cdef int64_t tiles = (m + rows - 1) // rows, panels = (n + wide - 1) // wide, sums_pitch = panels * wide
    cdef int64_t k = 0, depth, tile, panel, vectors
    cdef int kind
    cdef void *memory
    cdef real *packed_rows
    cdef real *packed_columns
    cdef real *sums
    # Vectors that cross no line of the cache are loaded at twice the speed.
    if posix_memalign(
        &memory, 64, <size_t>((tiles * rows + sums_pitch) * deepest + tiles * rows * sums_pitch + wide) * sizeof(real)
    ):
        return -1
    packed_columns = <real *>memory
    sums = packed_columns + sums_pitch * deepest
    packed_rows = sums + tiles * rows * sums_pitch
    while k < inner:
        depth = min(inner - k, <int64_t>BLOCK_DEPTH)
        pack_columns(kernels, b, column, column_end, k, depth, packed_columns)
        pack_rows(kernels, a, row, row_end, k, depth, packed_rows)
        for panel in range(panels):
            vectors = min((n - panel * wide + kernels.lanes - 1) // kernels.lanes, <int64_t>3)
            for tile in range(tiles):
                kind = 0
                while (1 << kind) < min(m - tile * rows, rows):
                    kind += 1
                kernels.tile[kind][vectors - 1](
                    depth, packed_rows + tile * rows * depth, packed_columns + panel * wide * depth,
                    sums + tile * rows * sums_pitch + panel * wide, sums_pitch, k > 0,
                )
        k += depth
    write_sums(sums, sums_pitch, m, n, out + row * pitch + column, pitch, alpha, beta)
    free(memory)
    return 0


cdef int tiled_block(
    bint double_, Matrix *a, Matrix *b, int64_t row, int64_t row_end, int64_t column, int64_t column_end,
    char *out, int64_t pitch, double alpha, double beta,
) noexcept nogil:
    cdef Kernels *kernels = microkernels(double_)
    if double_:
        return block(kernels, a, b, row, row_end, column, column_end, <double *>out, pitch, alpha, beta)
    return block(kernels, a, b, row, row_end, column, column_end, <float *>out, pitch, <float>alpha, <float>beta)
