"""Correlations of arrays: how the input is laid out, and which elements meet."""

cimport cython
from libc.stdint cimport int64_t
from libc.string cimport memcpy

ctypedef fused real:
    float
    double


@cython.final
cdef class Source:
    cdef int64_t size[3]
    cdef int64_t step[3]
    cdef int64_t first[3]
    cdef int64_t length[3]
    cdef int64_t *residues[3]
    cdef int64_t residue_count[3]
    cdef readonly object plane         # elements of a channel
    cdef list kept                     # the arrays that the pointers are of
    cdef bint as_is                    # it is the input's own layout where that is dense


@cython.final
cdef class Phase:
    cdef object kept                   # the arrays that the pointers are of
    cdef int64_t *tap_place
    cdef int64_t *tap_index            # 3 numbers each
    cdef Py_ssize_t taps
    cdef int64_t *row_q
    cdef int64_t *row_place
    cdef Py_ssize_t rows
    cdef int64_t row
    cdef int64_t step
    cdef int64_t length                # q of the last position + 1
    # What must lie within the operands of a call:
    cdef int64_t furthest_tap          # in a channel of the source
    cdef int64_t furthest_index[3]     # in the weight's window
    cdef int64_t furthest_place        # in a channel of the output


cdef inline void copy_row(const real *line, int64_t n, real *to) noexcept nogil:
    """Short rows without a call."""
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


# Copy one channel of one image, whose strides count elements (of images, channels, three of places): zeros outside of the
# input, elements of one residue together.
cdef void lay_out(
    const real *input, const int64_t *strides, Source s, int64_t image, int64_t channel, real *to
) noexcept nogil
# What the loops take for granted: operands' dtype and layout, and that all places lie inside of them; else an exception.
cdef int require_fitting(x, w, bias, y, Source source, list phases, Py_ssize_t groups, bint transposed) except -1

# Write the sum of all phases' correlations to `out`: what `correlate` does, of operands that are known to fit.
cdef int correlate_fitting(
    object input, object weight, object bias, object out, Source source, list phases, int64_t groups, bint transposed
) except -1
