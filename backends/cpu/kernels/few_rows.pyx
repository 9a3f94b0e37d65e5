"""Products of few rows, without packing: vectors by matrices, small batches by the weights of a layer.

In: two matrices.  Out: their product, by the loops of `simd_rows.h`, which read both where they lie.

    1 x 128 @ (512 x 128).T      along: sixteen columns at a time, 128 / 16 vectors of each
    2 x 128 @ 128 x 512          across: eight vectors of columns at a time

Packing reads and writes all of b for a few products with each of its elements; so does a BLAS, which for one row has loops
as these but needs longer to find them.
"""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.gemm_tiles cimport Panels
from ts.backends.cpu.kernels.matrix cimport AS_IT_IS, Matrix
from ts.backends.cpu.kernels.microkernels cimport Kernels, microkernels

cdef enum:
    ALONG_ROWS = 4                     # at most: more pay for packing, which needs no folds
    ACROSS_ROWS = 16
    PACKED_ROWS = 2                    # at most: panels are read once for each, and ...
    PACKED_BYTES = 1 << 20             # ... what the second-level cache holds: beyond it, memory alone takes time


cdef bint few_rows_serve(bint double_, Matrix *a, Matrix *b) noexcept nogil:
    cdef int lanes = microkernels(double_).lanes
    if b.columns < lanes or a.columns < 1:
        return False
    if b.flag == AS_IT_IS:
        return a.rows <= ACROSS_ROWS
    return a.flag == AS_IT_IS and a.columns >= lanes and a.rows <= ALONG_ROWS


cdef bint few_rows_pack(bint double_, Matrix *a, Matrix *b) noexcept nogil:
    return b.flag != AS_IT_IS and a.rows <= PACKED_ROWS and b.rows * b.columns * (8 if double_ else 4) <= PACKED_BYTES


cdef void few_rows(
    bint double_, Matrix *a, Matrix *b, int64_t column, int64_t column_end, char *out, int64_t pitch, double alpha,
    const char *bias, const Panels *panels
) noexcept nogil:
    cdef Kernels *kernels = microkernels(double_)
    cdef int64_t size = 8 if double_ else 4, row = a.pitch, step = 1
    if a.flag != AS_IT_IS:
        row, step = 1, a.pitch
    if bias != NULL:
        bias += column * size
    if b.flag == AS_IT_IS:
        kernels.across(
            a.rows, column_end - column, a.columns, a.data, row, step, b.data + column * size, b.pitch, alpha, bias,
            out + column * size, pitch,
        )
    elif panels != NULL and few_rows_pack(double_, a, b):
        kernels.packed(
            a.rows, column_end - column, a.columns, a.data, row, step, <char *>panels.memory + column * b.rows * size, 0, alpha,
            bias, out + column * size, pitch,
        )
    else:
        kernels.along(
            a.rows, column_end - column, a.columns, a.data, row, step, b.data + column * b.pitch * size, b.pitch, alpha,
            bias, out + column * size, pitch,
        )
