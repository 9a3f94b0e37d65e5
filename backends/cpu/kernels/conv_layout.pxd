"""Declarations of `conv_layout.pyx`: the memory layout of a convolution's input, and correlations."""

cimport cython
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from ts.backends.cpu.kernels.unaligned_types cimport two_bytes

ctypedef fused real:
    float
    double

ctypedef fused element:
    float
    double
    two_bytes                          # bfloat16


cdef inline void copy_row(const element *line, int64_t n, element *to) noexcept nogil:
    """Copy `n` elements. Short rows are copied without a call of memcpy."""
    if n > 64:
        memcpy(to, line, n * sizeof(element))
        return
    while n >= 8:
        memcpy(to, line, 8 * sizeof(element))
        line, to, n = line + 8, to + 8, n - 8
    if n & 4:
        memcpy(to, line, 4 * sizeof(element))
        line, to = line + 4, to + 4
    if n & 2:
        memcpy(to, line, 2 * sizeof(element))
        line, to = line + 2, to + 2
    if n & 1:
        to[0] = line[0]


@cython.final
cdef class InputLayout:
    cdef int64_t size[3]
    cdef int64_t stride[3]
    cdef int64_t first[3]
    cdef int64_t length[3]
    cdef int64_t *residues[3]
    cdef int64_t residue_count[3]
    cdef readonly object plane         # number of elements of one channel in this layout
    cdef list owners                     # keeps the owners of the memory behind the pointers alive
    cdef bint as_is  # True if a contiguous input already has this layout. Such an input is not copied.


@cython.final
cdef class SubConvolution:
    cdef object owners                   # keeps the owners of the memory behind the pointers alive
    cdef int64_t *tap_offset
    cdef int64_t *tap_index            # 3 indices into the weight's window per tap
    cdef readonly bytes tap_layout     # contents of `tap_index`
    cdef Py_ssize_t taps
    cdef int64_t *row_q
    cdef int64_t *row_offset
    cdef Py_ssize_t rows
    cdef int64_t row
    cdef int64_t output_stride
    cdef int64_t length                # number of output positions q, including the unused ones at the ends of rows
    # The next three fields are the bounds that `require_fitting` compares with the sizes of the operands.
    cdef int64_t furthest_tap          # largest offset of a tap in a channel of the laid out input
    cdef int64_t furthest_index[3]     # largest index of a tap in the weight's window, in each dimension
    # For a correlation over rows and columns of an input, sizes and strides of rows and columns, and the offset that
    # each tap adds to output index * stride. Otherwise, the numbers of taps are 0.
    cdef int64_t plane_size[2]
    cdef int64_t plane_stride[2]
    cdef int64_t plane_taps[2]
    cdef int64_t *plane_offsets[2]
    cdef int64_t furthest_row        # largest offset of an element in a channel of the output


cdef inline int64_t row_of_position(SubConvolution p, int64_t q) noexcept nogil:
    """Return the index of the last row whose first position is at most `q`, by binary search."""
    cdef int64_t low = 0, high = p.rows, middle
    while high - low > 1:
        middle = (low + high) // 2
        if p.row_q[middle] <= q:
            low = middle
        else:
            high = middle
    return low


# Copy one channel of one image to the layout `s`, with zeros as padding. Elements whose indices are equal
# modulo the stride become adjacent. `strides` has the strides of images, channels and the three spatial
# dimensions, in elements. Along the second spatial dimension, only `row_count` positions of the layout are copied,
# from position `first_row`.
cdef void arrange_channel(
    const element *input, const int64_t *strides, InputLayout s, int64_t image, int64_t channel, int64_t first_row,
    int64_t row_count, element *to
) noexcept nogil
