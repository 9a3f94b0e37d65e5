"""Convolutions with many filters: a GEMM whose right operand is packed in panels of output positions.

Input: a laid out source and a packed weight (`Job`). Output: the sums of a correlation, written to the output.

The output positions of all images are numbered without gaps. A panel contains the source elements that 3 vectors of
positions read, for WEIGHT_BLOCK_DEPTH pairs of channel and tap. Adjacent positions of a row are adjacent in the
source, so a panel consists of a few vector copies for each pair. For example, with rows of 14 positions and vectors
of 16 lanes, position 20 is element 6 of row 1:

    positions of the panel     0 ... 13    14 ... 27    28 ... 41    42 ... 47
    row                        0           1            2            3

Each copy writes a whole vector. The next copy overwrites the lanes after the end of the row. A last panel with at
most MAX_COLUMNS positions is computed with vectors of filters instead of vectors of positions.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport free

from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.conv_job cimport bias_of_tile, kernel_index, tile_count
from ts.backends.cpu.kernels.conv_weight_packing cimport WEIGHT_BLOCK_DEPTH
from ts.backends.cpu.kernels.microkernels cimport MAX_COLUMNS, VectorCopy

cdef enum:
    MAX_POSITIONS = 48                 # largest number of positions of a panel


cdef struct Panel:
    int64_t positions
    int64_t vectors                    # number of vectors of a step, 0 if the panel consists of columns
    int64_t pitch                      # number of elements of a step
    int64_t copy_count
    VectorCopy copies[MAX_POSITIONS]
    int64_t run_count                  # number of runs: rows, or parts of rows, of one image
    int64_t run_source[MAX_POSITIONS]  # offset of the first position in the source
    int64_t run_output[MAX_POSITIONS]  # offset of the first position in the output
    int64_t run_length[MAX_POSITIONS]
    int64_t run_lane[MAX_POSITIONS]    # first position of the run in the panel
    bint inside                        # True if whole vectors can be read without passing the end of the source
    bint direct                        # True if microkernels write to the output instead of a buffer


cdef int64_t position_count(Job *job, SubConvolution p) noexcept nogil:
    return job.images * p.rows * p.row


cdef void set_panel_layout(Job *job, SubConvolution p, int64_t first, int64_t positions, Panel *panel) noexcept nogil:
    """Set the runs and copies of the panel of the positions [first, first + positions)."""
    cdef int64_t lanes = job.kernels.lanes, done = 0, length, image, row, column, i, run, last_read = 0
    panel.positions = positions
    panel.vectors = 0 if positions <= min(<int64_t>MAX_COLUMNS, lanes // 4) else (positions + lanes - 1) // lanes
    panel.pitch = panel.vectors * lanes if panel.vectors else positions
    panel.run_count = panel.copy_count = 0
    while done < positions:
        image = (first + done) // (p.rows * p.row)
        row = (first + done) // p.row % p.rows
        column = (first + done) % p.row
        length = min(p.row - column, positions - done)
        run = panel.run_count
        panel.run_source[run] = image * job.source_image + p.row_q[row] + column
        panel.run_output[run] = image * job.groups * job.filters * job.out_plane + p.row_offset[row] + column * p.output_stride
        panel.run_length[run] = length
        panel.run_lane[run] = done
        panel.run_count += 1
        for i in range((length + lanes - 1) // lanes if panel.vectors else 0):
            panel.copies[panel.copy_count].source = panel.run_source[run] + i * lanes
            panel.copies[panel.copy_count].lane = done + i * lanes
            panel.copy_count += 1
        last_read = max(last_read, panel.run_source[run] + (length + lanes - 1) // lanes * lanes)
        done += length
    panel.inside = last_read + job.furthest + (job.groups - 1) * job.channels * job.source_channel <= job.source_end
    # Microkernels can write to the output only if the runs of the panel are consecutive there.
    panel.direct = job.direct and (panel.vectors == 0 or positions == panel.pitch)
    for run in range(1, panel.run_count):
        if panel.run_output[run] != panel.run_output[0] + panel.run_lane[run]:
            panel.direct = False


cdef void pack_panel(Job *job, Panel *panel, const real *source, const int64_t *offset, int64_t depth, real *to) noexcept nogil:
    cdef int64_t k, run, i
    cdef const real *line
    if panel.inside and panel.vectors == 3 and panel.run_count == 1:
        job.kernels.pack(depth, source + panel.copies[0].source, offset, to, 3)
        return
    if panel.inside and panel.vectors:
        job.kernels.pack_copies(depth, source, offset, panel.copies, panel.copy_count, to, panel.pitch)
        return
    for k in range(depth):
        for run in range(panel.run_count):
            line = source + offset[k] + panel.run_source[run]
            for i in range(panel.run_length[run]):
                to[panel.run_lane[run] + i] = line[i]
        for i in range(panel.positions, panel.pitch):
            to[i] = 0
        to += panel.pitch


cdef void write_panel_sums(
    Job *job, Panel *panel, int64_t filters, const real *sums, int64_t pitch, int64_t output_stride, real *output
) noexcept nogil:
    """Copy the sums of a panel to the rows of the output."""
    cdef int64_t filter, run, i
    cdef const real *line
    cdef real *to
    for filter in range(filters):
        for run in range(panel.run_count):
            line = sums + panel.run_lane[run]
            to = output + panel.run_output[run]
            if output_stride == 1:
                for i in range(panel.run_length[run]):
                    to[i] = line[i]
            else:
                for i in range(panel.run_length[run]):
                    to[i * output_stride] = line[i]
        sums += pitch
        output += job.out_plane


cdef int compute_panels(Job *job, SubConvolution p, int64_t partition, int64_t partition_count, real *kind) noexcept nogil:
    cdef int64_t lanes = job.kernels.lanes, rows = job.kernels.rows, wide = 3 * lanes
    cdef int64_t tiles = tile_count(job), pitch = wide * job.panels
    cdef int64_t positions = position_count(job, p), all_panels = (positions + wide - 1) // wide
    cdef int64_t blocks = (all_panels + job.panels - 1) // job.panels
    cdef int64_t tasks = job.groups * blocks * job.filter_parts
    cdef int64_t task, group, block, first_panel, panels, tile, tile_begin, tile_end, filters, index, k, depth, i
    cdef int64_t to_pitch, columns
    cdef Panel descriptions[MAX_PANELS_PER_TASK]
    cdef Panel *panel
    cdef const real *source
    cdef real *weight
    cdef real *tile_weight
    cdef real *output
    cdef real *to
    cdef real *panel_at
    # The last copy of a panel can write one vector past its end.
    cdef real *packed = <real *>malloc_aligned((pitch * min(job.depth, <int64_t>WEIGHT_BLOCK_DEPTH) + lanes) * sizeof(real))
    cdef real *sums = <real *>malloc_aligned(pitch * tiles * rows * sizeof(real))
    if packed == NULL or sums == NULL:
        free(packed)
        free(sums)
        return -1
    for task in range(tasks * partition // partition_count, tasks * (partition + 1) // partition_count):
        group = task // (blocks * job.filter_parts)
        block = task // job.filter_parts % blocks
        i = task % job.filter_parts
        tile_begin, tile_end = tiles * i // job.filter_parts, tiles * (i + 1) // job.filter_parts
        filters = min(job.filters, tile_end * rows) - tile_begin * rows
        first_panel = all_panels * block // blocks
        panels = all_panels * (block + 1) // blocks - first_panel
        for i in range(panels):
            set_panel_layout(
                job, p, (first_panel + i) * wide, min(wide, positions - (first_panel + i) * wide), &descriptions[i]
            )
        source = <real *>job.source + group * job.channels * job.source_channel
        weight = <real *>job.packed + group * job.packed_group
        output = <real *>job.out + (group * job.filters + tile_begin * rows) * job.out_plane
        k = 0
        while True:
            depth = min(job.depth - k, <int64_t>WEIGHT_BLOCK_DEPTH)
            columns = -1
            for i in range(panels):
                panel = &descriptions[i]
                pack_panel(job, panel, source, job.offset + k, depth, packed + i * wide * depth)
                if panel.vectors == 0:
                    columns = i
            for tile in range(tile_end - tile_begin):
                index = kernel_index(job, filters - tile * rows)
                tile_weight = weight + (k * tiles + (tile_begin + tile) * depth) * rows
                for i in range(panels):
                    panel = &descriptions[i]
                    to, to_pitch = sums + tile * rows * pitch + i * wide, pitch
                    if panel.direct:
                        to, to_pitch = output + tile * rows * job.out_plane + panel.run_output[0], job.out_plane
                    if panel.vectors:
                        job.kernels.tile[index][panel.vectors - 1](
                            depth, tile_weight, packed + i * wide * depth, to, to_pitch, k > 0, bias_of_tile(job, group, tile_begin + tile)
                        )
            if columns >= 0:
                panel = &descriptions[columns]
                to, to_pitch = sums + columns * wide, pitch
                if panel.direct:
                    to, to_pitch = output + panel.run_output[0], job.out_plane
                job.kernels.columns(
                    depth, weight + (k * tiles + tile_begin * depth) * rows, packed + columns * wide * depth,
                    <int>panel.positions, to, to_pitch, filters, k > 0, bias_of_tile(job, group, tile_begin),
                )
            k += depth
            if k >= job.depth:
                break
        for i in range(panels):
            if not descriptions[i].direct:
                write_panel_sums(job, &descriptions[i], filters, sums + i * wide, pitch, p.output_stride, output)
    free(packed)
    free(sums)
    return 0
