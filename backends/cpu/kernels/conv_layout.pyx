"""Memory layout of the input of a convolution, and the correlations that compute the convolution.

Input: sizes, strides and taps that `backends.cpu.conv_decomposition` computes. Output: an `InputLayout`, and a
`SubConvolution` for each phase. Both check their arguments, because the loops of `conv.pyx` do not.
"""

import numpy as np

cimport cython
from libc.stdint cimport int64_t
from libc.string cimport memset

from ts._core.tensor.ndarray cimport PyArrayObject, data_of


cdef int64_t *_numbers_of(array) except NULL:
    """Return the address of the elements of `array`.

    Raise TypeError if it is not a contiguous int64 array.
    """
    if array.dtype.char not in "lq" or array.itemsize != 8 or not array.flags.c_contiguous:
        raise TypeError("expected an array of int64")
    return <int64_t *>data_of(<PyArrayObject *>array)


MAX_SIZE = 1 << 48                     # largest allowed size or offset, so that byte counts cannot overflow


@cython.final
cdef class InputLayout:
    """Memory layout of a convolution's input, along 3 dimensions.

    Along each dimension, the layout has one sequence of `length` elements for each residue r modulo the
    stride. The sequence contains the input elements u * stride + r for u = first, first + 1, ...
    """

    def __cinit__(self, sizes, strides, firsts, lengths, residues):
        cdef int d
        if not len(sizes) == len(strides) == len(firsts) == len(lengths) == len(residues) == 3:
            raise ValueError("Source: each argument must have three dimensions")
        if min(sizes) < 0 or min(lengths) < 0 or min(strides) < 1 or max(map(abs, firsts)) >= MAX_SIZE:
            raise ValueError("Source: sizes and lengths must not be negative, strides must be positive")
        if max(sizes) >= MAX_SIZE or max(lengths) >= MAX_SIZE or max(strides) >= MAX_SIZE:
            raise MemoryError()
        self.owners = []
        self.plane = 1
        self.as_is = True
        for d in range(3):
            self.size[d] = sizes[d]
            self.stride[d] = strides[d]
            self.first[d] = firsts[d]
            self.length[d] = lengths[d]
            self.owners.append(np.array(residues[d], np.int64).reshape(-1))
            if len(residues[d]) and not 0 <= min(residues[d]) <= max(residues[d]) < strides[d]:
                raise ValueError("Source: residues must be in [0, stride)")
            self.residues[d] = _numbers_of(self.owners[d])
            self.residue_count[d] = len(residues[d])
            self.plane *= lengths[d] * len(residues[d])
            self.as_is = self.as_is and strides[d] == 1 and firsts[d] == 0 and lengths[d] == sizes[d]


@cython.final
cdef class SubConvolution:
    """One correlation of a convolution: its kernel taps, and the output positions of its results.

    The attributes are:

    taps            for each tap: an offset in a channel of the source, and an index into the weight's window
    row             number of consecutive positions q in a row of results
    output_stride   distance of the results of a row in the output
    row_q           first position of each row
    row_offset      offset of each row in an output channel
    plane           for a correlation over rows and columns: (size, stride, offsets of the taps) of each, or None
    """

    def __cinit__(self, taps, row_q, row_offset, row, output_stride, plane=None):
        cdef int d
        self.taps = len(taps)
        self.rows = len(row_q)
        if len(row_offset) != self.rows:
            raise ValueError("Phase: row_q and row_offset must have the same length")
        offsets = np.array([offset for offset, _ in taps] or [0], np.int64)
        indices = np.array([i for _, index in taps for i in index] or [0, 0, 0], np.int64)
        self.tap_offset, self.tap_index = _numbers_of(offsets), _numbers_of(indices)
        self.row_q, self.row_offset = _numbers_of(row_q), _numbers_of(row_offset)
        self.owners = (offsets, indices, row_q, row_offset)
        self.tap_layout = indices.tobytes()
        self.row = row
        self.output_stride = output_stride
        self.length = row_q[self.rows - 1] + row if self.rows else 0
        if row < 0 or output_stride < 0 or max(row, output_stride) >= MAX_SIZE or indices.size != 3 * max(self.taps, 1):
            raise ValueError("Phase: row and output_stride must not be negative, and each tap needs three indices")
        if min(offsets.min(), indices.min()) < 0 or (self.rows and min(row_q[0], row_offset.min()) < 0):
            raise ValueError("Phase: offsets and indices must not be negative")
        if self.rows and ((np.diff(row_q) < 0).any() or max(row_q[self.rows - 1], row_offset.max()) >= MAX_SIZE):
            raise ValueError("Phase: row_q must be ascending, and row_q and row_offset below 2**48")
        for d in range(2 if plane is not None else 0):
            size, stride, tap_offsets = plane[d]
            tap_offsets = np.array(tap_offsets, np.int64)
            if size < 0 or stride < 1 or max(size, stride, abs(tap_offsets).max(initial=0)) >= MAX_SIZE:
                raise ValueError("Phase: sizes and strides of the plane must be positive, and offsets below 2**48")
            self.owners += (tap_offsets,)
            self.plane_size[d], self.plane_stride[d], self.plane_taps[d] = size, stride, len(tap_offsets)
            self.plane_offsets[d] = _numbers_of(tap_offsets)
        if plane is not None and self.plane_taps[0] * self.plane_taps[1] != self.taps:
            raise ValueError("Phase: the taps of rows and columns do not match")
        self.furthest_tap = offsets.max()
        self.furthest_index[0], self.furthest_index[1], self.furthest_index[2] = indices.reshape(-1, 3).max(0).tolist()
        self.furthest_row = row_offset.max() + (row - 1) * output_stride if self.rows and row else -1


cdef void arrange_channel(
    const element *input, const int64_t *stride, InputLayout s, int64_t image, int64_t channel, int64_t first_row,
    int64_t row_count, element *to
) noexcept nogil:
    cdef const element *plane = input + image * stride[0] + channel * stride[1]
    cdef const element *line
    cdef int64_t a, b, c, u, v, w, i, j, begin, end, element_stride = s.stride[2] * stride[4], count = s.length[2]
    for a in range(s.residue_count[0]):
        for b in range(s.residue_count[1]):
            for c in range(s.residue_count[2]):
                # [begin, end) is the range of all w for which (first + w) * stride + residue is a valid index
                # of the input
                begin = min(max(-s.first[2], 0), count)
                end = 0
                if s.size[2] > s.residues[2][c]:
                    end = (s.size[2] - s.residues[2][c] - 1) // s.stride[2] + 1
                end = max(min(end - s.first[2], count), begin)
                for u in range(s.first[0], s.first[0] + s.length[0]):
                    i = u * s.stride[0] + s.residues[0][a]
                    for v in range(s.first[1] + first_row, s.first[1] + first_row + row_count):
                        j = v * s.stride[1] + s.residues[1][b]
                        if i < 0 or i >= s.size[0] or j < 0 or j >= s.size[1]:
                            memset(to, 0, count * sizeof(element))
                            to += count
                            continue
                        for w in range(begin):
                            to[w] = 0
                        for w in range(end, count):
                            to[w] = 0
                        line = plane + i * stride[2] + j * stride[3] + s.residues[2][c] * stride[4]
                        line += (s.first[2] + begin) * element_stride
                        if element_stride == 1:
                            copy_row(line, end - begin, to + begin)
                        elif element_stride == 2:  # a loop with a constant stride is vectorized
                            for w in range(end - begin):
                                to[begin + w] = line[2 * w]
                        else:
                            for w in range(end - begin):
                                to[begin + w] = line[w * element_stride]
                        to += count
