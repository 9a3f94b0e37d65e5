"""Cross-correlations of arrays: layout of the input, and the elements that are multiplied."""

cimport cython
from libc.stdint cimport int64_t
from libc.string cimport memcpy

ctypedef fused real:
    float
    double


@cython.final
cdef class InputLayout:
    cdef int64_t size[3]
    cdef int64_t step[3]
    cdef int64_t first[3]
    cdef int64_t length[3]
    cdef int64_t *residues[3]
    cdef int64_t residue_count[3]
    cdef readonly object plane         # elements of a channel, as a Python int
    cdef list kept                     # owners of the memory that the pointers refer to
    cdef bint as_is                    # whether it equals a dense input's own layout


@cython.final
cdef class SubConvolution:
    cdef object kept                   # owner of the memory that the pointers refer to
    cdef int64_t *tap_place
    cdef int64_t *tap_index            # 3 numbers each
    cdef Py_ssize_t taps
    cdef int64_t *row_q
    cdef int64_t *row_place
    cdef Py_ssize_t rows
    cdef int64_t row
    cdef int64_t step
    cdef int64_t length                # last q + 1
    # Upper bounds that `require_fitting` checks against the operands of a call:
    cdef int64_t furthest_tap          # offset in a channel of the source
    cdef int64_t furthest_index[3]     # index in the weight's window
    cdef int64_t furthest_place        # offset in a channel of the output


cdef inline void copy_row(const real *line, int64_t n, real *to) noexcept nogil:
    """Copy a short row without calling memcpy."""
    if n > 64:
        memcpy(to, line, n * sizeof(real))
        return
    while n >= 8:
        memcpy(to, line, 8 * sizeof(real))
        line, to, n = line + 8, to + 8, n - 8
    if n & 4:
        memcpy(to, line, 4 * sizeof(real))
        line, to = line + 4, to + 4
    if n & 2:
        memcpy(to, line, 2 * sizeof(real))
        line, to = line + 2, to + 2
    if n & 1:
        to[0] = line[0]


# Copy one channel of one image: zeros outside of the input, elements of one residue modulo the step together.
# The strides count elements and are those of images, channels and three spatial dimensions.
cdef void arrange_channel(
    const real *input, const int64_t *strides, InputLayout s, int64_t image, int64_t channel, real *to
) noexcept nogil
# Raise an exception unless dtypes and layouts match, and all offsets lie within the operands: preconditions
# of the loops.
cdef int require_fitting(x, w, bias, y, InputLayout source, list phases, Py_ssize_t groups, bint transposed) except -1

# Write the sum of all phases' correlations to `out`, like `correlate`, without checking the operands.
cdef int correlate_fitting(
    object input, object weight, object bias, object out, InputLayout source, list phases, int64_t groups, bint transposed
) except -1
