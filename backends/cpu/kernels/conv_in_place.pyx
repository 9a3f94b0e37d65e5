"""Convolutions with few filters, whose microkernels read the laid out source in place.

Input: the input of a convolution, its layout and a packed weight (`Job`). Output: the sums of a correlation, written
to the output.

A padded input is copied to its layout in blocks of rows that fit in the L2 cache. The positions of a block form one
range q, which includes unused positions at the ends of rows. Each element is summed in the order of the depth, so its
bits do not depend on the size of the blocks.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memset

from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.conv_job cimport Job, bias_of_tile, kernel_index, tile_count
from ts.backends.cpu.kernels.conv_layout cimport InputLayout, SubConvolution, arrange_channel, row_of_position
from ts.backends.cpu.kernels.conv_weight_packing cimport WEIGHT_BLOCK_DEPTH

cdef enum:
    # With at most this many filter tiles, the tiles read the source in place. With more, the source is first
    # copied to panels, which each tile reads.
    MAX_UNPACKED_TILES = 8
    MIN_UNPACKED_TAPS = 4              # minimal number of taps to read the source in place for more than 2 filter tiles
    MAX_BLOCK_BYTES = 1 << 19          # maximal size in bytes of the input of a block of rows, which stays in the L2 cache


cdef void write_sums(
    Job *job, SubConvolution p, int64_t image, int64_t first, int64_t filters, real *sums, int64_t pitch, int64_t q, int64_t count,
    bint add_bias
) noexcept nogil:
    """Write the sums of positions [q, q + count) to the rows of the output, after adding the bias if `add_bias`."""
    cdef int64_t low = row_of_position(p, q), begin, end, i, filter
    cdef real *from_
    cdef real *to
    cdef real bias = 0
    while low < p.rows and p.row_q[low] < q + count:
        begin = max(p.row_q[low], q)
        end = min(p.row_q[low] + p.row, q + count)
        if begin < end:
            to = <real *>job.out + (image * job.groups * job.filters + first) * job.out_plane
            to += p.row_offset[low] + (begin - p.row_q[low]) * p.output_stride
            from_ = sums + begin - q
            for filter in range(filters):
                if add_bias and job.bias != NULL:
                    bias = (<real *>job.bias)[(first + filter) * job.bias_stride]
                if p.output_stride == 1:
                    for i in range(end - begin):
                        to[i] = from_[i] + bias
                else:
                    for i in range(end - begin):
                        to[i * p.output_stride] = from_[i] + bias
                to += job.out_plane
                from_ += pitch
        low += 1


cdef inline int pack_end(
    Job *job, const real *source, int64_t start, int64_t *offset, int64_t depth, real *to, int64_t width
) noexcept nogil:
    """Pack a panel that extends past the end of the source. Elements past the end are zeros."""
    cdef int64_t k, i, there
    for k in range(depth):
        there = min(max(job.source_end - start - offset[k], 0), width)
        for i in range(there):
            to[i] = source[start + offset[k] + i]
        for i in range(there, width):
            to[i] = 0
        to += width


cdef int64_t block_length(Job *job, InputLayout s) noexcept nogil:
    """Return the number of rows of the layout `s` that the taps of `job.block_rows` rows of the output read."""
    return s.length[1] - job.output_rows + job.block_rows


cdef int64_t block_plane_size(Job *job, InputLayout s) noexcept nogil:
    """Return the number of elements of a channel in the buffer of a block of rows."""
    return block_length(job, s) * s.length[2] * s.residue_count[1] * s.residue_count[2]


cdef int64_t buffer_size(Job *job, InputLayout s) noexcept nogil:
    """Return the size in elements of the row block buffer, 0 without row blocks."""
    return job.channels * block_plane_size(job, s) + 3 * job.kernels.lanes if job.block_rows else 0


cdef int64_t rows_of_block(Job *job, SubConvolution p, InputLayout s, int64_t itemsize, int64_t partitions) noexcept nogil:
    """Return the number of output rows of a block, or 0 if the whole input is laid out before the computation."""
    cdef int64_t row_bytes = job.channels * s.length[2] * s.residue_count[1] * s.residue_count[2] * itemsize
    cdef int64_t pitch = s.length[2], rows, row, tap, offset
    if not p.plane_taps[0] or p.rows != p.plane_size[0] or s.length[0] * s.residue_count[0] != 1:
        return 0
    # Each row of the output reads the rows of the layout from the row with the same index.
    for row in range(p.rows):
        if p.row_q[row] != row * pitch:
            return 0
    for tap in range(p.taps):
        offset = p.tap_offset[tap] % (s.length[1] * pitch)
        if offset // pitch > s.length[1] - p.rows or offset % pitch + p.row > pitch:
            return 0
    rows = max(MAX_BLOCK_BYTES // row_bytes - (s.length[1] - p.rows), 1)
    return max(min(rows, p.rows, job.images * job.groups * p.rows // (2 * partitions)), 1)


cdef bint reads_source_in_place(Job *job, SubConvolution p) noexcept nogil:
    """Return whether `compute_in_place` computes the correlation, otherwise `compute_panels`."""
    cdef int64_t tiles = tile_count(job)
    return tiles <= 2 or (tiles <= MAX_UNPACKED_TILES and p.taps >= MIN_UNPACKED_TAPS)


cdef int compute_in_place(
    Job *job, SubConvolution p, InputLayout s, int64_t partition, int64_t partition_count, real *kind
) noexcept nogil:
    """Run the tasks of partition `partition` of `partition_count`. Return -1 if memory is exhausted.

    A task computes all filters of one group and image. If `job.block_rows` is 0, it computes them for 3 SIMD vectors
    of output positions. Otherwise, it computes `job.block_rows` output rows, and copies the input that they read to a
    buffer first.
    """
    cdef int64_t lanes = job.kernels.lanes, rows = job.kernels.rows, wide = 3 * job.kernels.lanes
    cdef int64_t tiles = tile_count(job), blocks = (p.length + wide - 1) // wide
    cdef int64_t task, group, image, start, block, row, q, q_end, count, channel, plane = 0
    cdef bint by_rows = False
    cdef real *buffer = <real *>malloc_aligned((buffer_size(job, s) + wide * (tiles * rows + WEIGHT_BLOCK_DEPTH)) * sizeof(real))
    cdef real *sums = buffer + buffer_size(job, s)
    cdef real *source = <real *>job.source
    if buffer == NULL:
        return -1
    if job.block_rows:
        source = buffer
        blocks = (p.rows + job.block_rows - 1) // job.block_rows
        plane = block_plane_size(job, s)
        memset(buffer, 0, buffer_size(job, s) * sizeof(real))
        # Panels that begin with a row need no unused positions if they have no more vectors than the row has positions.
        by_rows = p.row >= wide and (p.row + lanes - 1) // lanes * lanes <= s.length[2]
    for task in range(
        job.images * job.groups * blocks * partition // partition_count,
        job.images * job.groups * blocks * (partition + 1) // partition_count,
    ):
        block = task % blocks
        group = task // blocks % job.groups
        image = task // blocks // job.groups
        if job.block_rows:
            row = block * job.block_rows
            for channel in range(job.channels):
                arrange_channel(
                    <const real *>job.input, job.input_strides, s, image, group * job.channels + channel, row,
                    block_length(job, s), buffer + channel * plane,
                )
            q, q_end = p.row_q[row], p.row_q[min(row + job.block_rows, p.rows) - 1] + p.row
            start = -q
        else:
            q, q_end = block * wide, min((block + 1) * wide, p.length)
            start = image * job.source_image + group * job.channels * job.source_channel
        while q < q_end:
            count = min(q_end - q, wide)
            if by_rows:
                count = min(count, p.row_q[row] + p.row - q)
            multiply_positions(job, p, image, group, q, count, source, start + q, sums)
            q += count
            if by_rows and q == p.row_q[row] + p.row:
                row += 1
                q = p.row_q[row] if row < p.rows else q_end
    free(buffer)
    return 0


cdef void multiply_positions(
    Job *job, SubConvolution p, int64_t image, int64_t group, int64_t q, int64_t count, const real *source, int64_t start,
    real *sums
) noexcept nogil:
    """Compute all filters of a group at the positions [q, q + count) of an image.

    `start` is the offset of position q in `source`. `sums` is a buffer.
    """
    cdef int64_t lanes = job.kernels.lanes, rows = job.kernels.rows, vectors = (count + lanes - 1) // lanes
    cdef int64_t wide = 3 * lanes, tiles = tile_count(job), k = 0, row, depth, tile, index, to_pitch
    cdef bint inside = job.block_rows or start + job.furthest + wide <= job.source_end, direct
    cdef real *weight = <real *>job.packed + group * job.packed_group
    cdef real *tile_weight
    cdef real *block = sums + tiles * rows * wide
    cdef char *bias
    cdef real *output = <real *>job.out + (image * job.groups + group) * job.filters * job.out_plane
    cdef real *to
    row = row_of_position(p, q)
    direct = job.direct and count == vectors * lanes and q + count <= p.row_q[row] + p.row
    output += p.row_offset[row] + q - p.row_q[row]
    while True:
        depth = min(job.depth - k, <int64_t>WEIGHT_BLOCK_DEPTH)
        if not inside:
            pack_end(job, source, start, job.offset + k, depth, block, vectors * lanes)
        for tile in range(tiles):
            index = kernel_index(job, job.filters - tile * rows)
            to, to_pitch = sums + tile * rows * wide, wide
            if direct:
                to, to_pitch = output + tile * rows * job.out_plane, job.out_plane
            tile_weight = weight + (k * tiles + tile * depth) * rows
            bias = bias_of_tile(job, group, tile)
            if inside:
                job.kernels.reach[index][vectors - 1](
                    depth, tile_weight, source + start, job.offset + k, to, to_pitch, k > 0, bias
                )
            else:
                job.kernels.tile[index][vectors - 1](depth, tile_weight, block, to, to_pitch, k > 0, bias)
        k += depth
        if k >= job.depth:
            break
    if not direct:
        write_sums(job, p, image, group * job.filters, job.filters, sums, wide, q, count, False)
