"""Matrix products with few rows (skinny GEMM), without packing, as for small batches in a linear layer.

Input: two matrices. Output: their product.

Packing would copy the whole second matrix, although each of its elements is multiplied only a few times. The
layout of the second matrix determines the loop:

    1 x 128 @ (512 x 128).T      `along`: dot products with contiguous columns
    2 x 128 @ 128 x 512          `across`: sums of contiguous rows
"""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.gemm_tiles cimport Panels
from ts.backends.cpu.kernels.blas_matrix cimport AS_IT_IS, Matrix
from ts.backends.cpu.kernels.microkernels cimport Kernels, microkernels

cdef enum:
    # Maximal number of rows for `along`, which must add up the elements of each SIMD vector (horizontal
    # sums). With more rows, algorithms that pack the operands are faster.
    MAX_ALONG_ROWS = 4
    MAX_ACROSS_ROWS = 16
    MAX_PACKED_ROWS = 2                # maximal number of rows for which packed panels are used, because each row reads all panels
    # maximal size of a packed matrix: the size of the L2 cache. For larger matrices, memory bandwidth limits
    # the speed.
    MAX_PACKED_BYTES = 1 << 20


cdef bint can_use_skinny_gemm(bint double_, Matrix *a, Matrix *b) noexcept nogil:
    cdef int lanes = microkernels(double_).lanes
    if b.columns < lanes or a.columns < 1:
        return False
    if b.flag == AS_IT_IS:
        return a.rows <= MAX_ACROSS_ROWS
    return a.flag == AS_IT_IS and a.columns >= lanes and a.rows <= MAX_ALONG_ROWS


cdef bint skinny_gemm_uses_panels(bint double_, Matrix *a, Matrix *b) noexcept nogil:
    return b.flag != AS_IT_IS and a.rows <= MAX_PACKED_ROWS and b.rows * b.columns * (8 if double_ else 4) <= MAX_PACKED_BYTES


cdef void skinny_gemm(
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
    elif panels != NULL and skinny_gemm_uses_panels(double_, a, b):
        kernels.packed(
            a.rows, column_end - column, a.columns, a.data, row, step, <char *>panels.memory + column * b.rows * size, 0, alpha,
            bias, out + column * size, pitch,
        )
    else:
        kernels.along(
            a.rows, column_end - column, a.columns, a.data, row, step, b.data + column * b.pitch * size, b.pitch, alpha,
            bias, out + column * size, pitch,
        )
