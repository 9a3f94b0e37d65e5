"""Convolutions of bfloat16 arrays by AVX512_BF16: an implicit GEMM whose right operand is packed in panels of positions.

Input: input, weight, bias and phases of a convolution (`conv.pyx` describes them). Output: the convolution. The sums are
float32, and each element is rounded once.

    for each group and panel of PANEL_COLUMNS output positions of all images:
        pack the pairs of input elements that the positions read
        out[filters, positions] = weight[filters, depth] @ panel + bias

The weight is not packed: its rows are filters, and the elements of a filter are adjacent. If they are not adjacent, as in
the phases of a transposed convolution, each call copies the weight. An element is one sum over (channel, tap) in
increasing order, so that its bits do not depend on the panels and threads.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memset

from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, ndim_of, size_of, strides_of
from ts._core.value.no_python_construction cimport seal
from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.bfloat16_microkernels cimport (
    PANEL_COLUMNS, LaneCopy, LeftOperand, PairStore, has_bfloat16_tiles, multiply_pairs, pack_copied_pairs,
    packed_pairs_bytes,
)
from ts.backends.cpu.kernels.conv_layout cimport InputLayout, SubConvolution, arrange_channel
from ts.backends.cpu.kernels.conv_weight_packing cimport ConvWeight, describe_weight, has_contiguous_filters, weight_offset
from ts.backends.cpu.kernels.parallel_for cimport parallel_for, partition_count
from ts.backends.cpu.kernels.unaligned_types cimport two_bytes

cdef extern from *:
    int64_t fetch_and_add "__sync_fetch_and_add"(int64_t *, int64_t) noexcept nogil

cnp.import_array()

cdef enum:
    # minimum number of filters per group for this kernel to run a grouped convolution
    MIN_GROUP_FILTERS = 8
    COPY_ELEMENTS = 16                 # number of elements that a copy of a panel reads, which may pass the end of the source
    MAX_RUNS = PANEL_COLUMNS


cdef struct PositionPanel:             # a range of output positions, numbered over all images
    int64_t positions
    int64_t copy_count
    LaneCopy copies[MAX_RUNS]
    int64_t run_count                  # number of runs: rows, or parts of rows, of one image
    int64_t run_output[MAX_RUNS]       # offset of the first position in the output
    int64_t run_lane[MAX_RUNS]         # first position of the run in the panel
    int64_t run_length[MAX_RUNS]
    bint is_consecutive                # whether the positions are adjacent in the output


@cython.final
cdef class PairConvolution:
    """One convolution. A task computes some filters of a group at the positions of a panel."""

    cdef tuple owners                  # keeps the arrays of the operands alive
    cdef InputLayout layout
    cdef SubConvolution phase
    cdef two_bytes *input
    cdef int64_t input_strides[5]      # strides of image, channel and 3 spatial dimensions, in elements
    cdef two_bytes *source             # input of all images in the layout
    cdef int64_t plane                 # number of elements of a channel of `source`
    cdef int64_t images
    cdef int64_t all_channels          # number of channels of an image
    cdef int64_t groups
    cdef int64_t channels              # number of channels of a group
    cdef int64_t filters               # number of filters of a group
    cdef ConvWeight weight
    cdef two_bytes *rows               # weight of the current phase, as rows of filters
    cdef two_bytes *own_rows           # copy of the weight, or NULL
    cdef int64_t group_stride          # strides of `rows` in elements
    cdef int64_t filter_stride
    cdef const char *bias              # contiguous, or NULL
    cdef two_bytes *out
    cdef int64_t out_plane             # number of elements of a channel of the output
    cdef int64_t *offset               # `depth` offsets in the source, one for each pair of channel and tap
    cdef int64_t depth
    cdef int64_t panels
    cdef int64_t filter_parts          # number of parts of the filters, which are computed by different tasks
    cdef int64_t next                  # index of the next task that a thread takes

    def __dealloc__(self):
        free(self.source)
        free(self.own_rows)
        free(self.offset)

    cdef int64_t position_count(self) noexcept nogil:
        return self.images * self.phase.rows * self.phase.row

    cdef void describe_panel(self, SubConvolution p, int64_t first, PositionPanel *panel) noexcept nogil:
        """Set the copies and runs of the panel of phase `p` that begins at position `first`."""
        cdef int64_t done = 0, image, row, column, length, start, i, run
        panel.positions = min(<int64_t>PANEL_COLUMNS, self.position_count() - first)
        panel.copy_count = panel.run_count = 0
        panel.is_consecutive = True
        while done < panel.positions:
            image, row, column = (first + done) // (p.rows * p.row), (first + done) // p.row % p.rows, (first + done) % p.row
            length = min(p.row - column, panel.positions - done)
            start = image * self.all_channels * self.plane + p.row_q[row] + column
            i = 0
            while i < length:
                panel.copies[panel.copy_count].source, panel.copies[panel.copy_count].lane = start + i, done + i
                panel.copy_count += 1
                i += COPY_ELEMENTS
            run = panel.run_count
            panel.run_lane[run], panel.run_length[run] = done, length
            panel.run_output[run] = (
                image * self.groups * self.filters * self.out_plane + p.row_offset[row] + column * p.output_stride
            )
            if panel.run_output[run] != panel.run_output[0] + done or (p.output_stride != 1 and length > 1):
                panel.is_consecutive = False
            panel.run_count += 1
            done += length

    cdef void write_block(self, PositionPanel *panel, const two_bytes *block, int64_t filters, two_bytes *out) noexcept nogil:
        """Copy a block of `filters` rows of PANEL_COLUMNS elements to the output."""
        cdef int64_t filter, run, i, stride = self.phase.output_stride
        cdef const two_bytes *line
        cdef two_bytes *to
        for filter in range(filters):
            for run in range(panel.run_count):
                line, to = block + panel.run_lane[run], out + panel.run_output[run]
                for i in range(panel.run_length[run]):
                    to[i * stride] = line[i]
            block += PANEL_COLUMNS
            out += self.out_plane

    cdef int run_tasks(self) noexcept nogil:
        """Run tasks until none remain. Return -1 if memory is exhausted."""
        cdef int64_t panel_bytes = packed_pairs_bytes(self.depth, PANEL_COLUMNS) + 4 * COPY_ELEMENTS
        cdef int64_t task, group, part, filter, filter_end
        cdef PositionPanel panel
        cdef LeftOperand left
        cdef PairStore store
        cdef two_bytes *out
        cdef two_bytes *block
        cdef char *packed = <char *>malloc_aligned(<size_t>(panel_bytes + 2 * self.filters * PANEL_COLUMNS))
        if packed == NULL:
            return -1
        block = <two_bytes *>(packed + panel_bytes)
        store.alpha, store.beta, store.summand, store.summand_pitch, store.wide = 1, 0, NULL, 0, False
        while True:
            task = fetch_and_add(&self.next, 1)
            if task >= self.groups * self.panels * self.filter_parts:
                break
            group, part = task // (self.panels * self.filter_parts), task % self.filter_parts
            filter, filter_end = self.filters * part // self.filter_parts, self.filters * (part + 1) // self.filter_parts
            self.describe_panel(self.phase, task // self.filter_parts % self.panels * PANEL_COLUMNS, &panel)
            pack_copied_pairs(
                self.depth, self.source + group * self.channels * self.plane, self.offset, panel.copies, panel.copy_count,
                packed, (panel.positions + 15) // 16 * 64,
            )
            out = self.out + (group * self.filters + filter) * self.out_plane
            store.out, store.pitch = <void *>block, PANEL_COLUMNS
            if panel.is_consecutive:
                store.out, store.pitch = <void *>(out + panel.run_output[0]), self.out_plane
            store.row_bias = NULL
            if self.bias != NULL:
                store.row_bias = self.bias + 2 * (group * self.filters + filter)
            left.data = <const char *>(self.rows + group * self.group_stride + filter * self.filter_stride)
            left.rows, left.row_bytes, left.pair_bytes, left.depth = filter_end - filter, 2 * self.filter_stride, 4, self.depth
            multiply_pairs(&left, packed, panel.positions, store)
            if not panel.is_consecutive:
                self.write_block(&panel, block, filter_end - filter, out)
        free(packed)
        return 0

    cdef void arrange(self, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
        cdef int64_t count = self.images * self.all_channels, i
        for i in range(count * partition // partition_count, count * (partition + 1) // partition_count):
            arrange_channel(
                <const two_bytes *>self.input, self.input_strides, self.layout, i // self.all_channels, i % self.all_channels, 0,
                self.layout.length[1], self.source + i * self.plane,
            )

    cdef int set_phase(self, SubConvolution phase) except -1:
        """Set the offsets of the taps and the rows of the weight."""
        cdef int64_t k, tap, group, filter, i = 0
        cdef two_bytes *data = <two_bytes *>self.weight.data
        self.phase, self.depth = phase, self.channels * phase.taps
        free(self.offset)
        self.offset = NULL
        self.offset = <int64_t *>allocate(self.depth, sizeof(int64_t))
        for k in range(self.channels):
            for tap in range(phase.taps):
                self.offset[k * phase.taps + tap] = k * self.plane + phase.tap_offset[tap]
        self.rows, self.group_stride, self.filter_stride = data, self.weight.strides[0], self.weight.strides[1]
        if has_contiguous_filters(&self.weight, phase.tap_index, phase.taps) and self.filter_stride >= 0:
            return 0
        free(self.own_rows)
        self.own_rows = NULL
        self.own_rows = self.rows = <two_bytes *>allocate(self.groups * self.filters * self.depth, 2)
        self.group_stride, self.filter_stride = self.filters * self.depth, self.depth
        for group in range(self.groups):
            for filter in range(self.filters):
                for k in range(self.channels):
                    for tap in range(phase.taps):
                        self.own_rows[i] = data[weight_offset(&self.weight, phase.tap_index + 3 * tap, group, filter, k)]
                        i += 1
        return 0

    cdef int run(self) except -1:
        """Compute the current phase."""
        cdef double work = <double>self.position_count() * self.groups * self.filters * (self.depth + 1)
        cdef Py_ssize_t partitions = partition_count(work / 128)
        cdef int code
        self.panels = (self.position_count() + PANEL_COLUMNS - 1) // PANEL_COLUMNS
        if self.panels == 0:
            return 0
        self.filter_parts, self.next = 1, 0
        if partitions > 1 and self.groups * self.panels < 2 * partitions:
            self.filter_parts = min(self.filters, (2 * partitions + self.groups * self.panels - 1) // (self.groups * self.panels))
        partitions = min(partitions, self.groups * self.panels * self.filter_parts)
        with nogil:
            code = parallel_for(run_tasks_of_convolution, <void *>self, partitions)
        if code:
            raise MemoryError()
        return 0


seal(PairConvolution)


cdef int run_tasks_of_convolution(void *convolution, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
    """Run tasks until none remain."""
    return (<PairConvolution>convolution).run_tasks()


cdef int arrange_input(void *convolution, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
    (<PairConvolution>convolution).arrange(partition, partition_count)
    return 0


cdef void *allocate(object count, Py_ssize_t itemsize) except NULL:
    cdef void *memory
    if count > (1 << 62) // itemsize:
        raise MemoryError()
    memory = malloc_aligned(<size_t>count * itemsize)
    if memory == NULL:
        raise MemoryError()
    return memory


cdef bint correlate_bfloat16(
    object input, object weight, object bias, object out, InputLayout source, list phases, int64_t groups, bint transposed
) except -1:
    cdef PyArrayObject *x = <PyArrayObject *>input
    cdef PyArrayObject *y = <PyArrayObject *>out
    cdef PairConvolution c
    cdef SubConvolution phase
    cdef int64_t elements
    cdef int d, spatial = ndim_of(x) - 2
    if not has_bfloat16_tiles() or (groups > 1 and dims_of(y)[1] // groups < MIN_GROUP_FILTERS):
        return False
    if size_of(y) == 0:
        return True
    c = PairConvolution.__new__(PairConvolution)
    if bias is not None:
        bias = np.ascontiguousarray(bias)
        c.bias = data_of(<PyArrayObject *>bias)
    c.owners, c.layout = (input, weight, bias, out), source
    c.input, c.out = <two_bytes *>data_of(x), <two_bytes *>data_of(y)
    for d in range(5):
        c.input_strides[d] = 0
    c.input_strides[0], c.input_strides[1] = strides_of(x)[0] // 2, strides_of(x)[1] // 2
    for d in range(spatial):
        c.input_strides[5 - spatial + d] = strides_of(x)[2 + d] // 2
    c.images, c.all_channels, c.groups = dims_of(x)[0], dims_of(x)[1], groups
    c.channels, c.filters = c.all_channels // groups, dims_of(y)[1] // groups
    c.out_plane = size_of(y) // (dims_of(y)[0] * dims_of(y)[1])
    describe_weight(&c.weight, <PyArrayObject *>weight, groups, transposed)
    c.source = <two_bytes *>allocate(source.plane * c.images * c.all_channels + COPY_ELEMENTS, 2)
    c.plane = source.plane
    elements = c.plane * c.images * c.all_channels
    memset(c.source + elements, 0, 2 * COPY_ELEMENTS)
    with nogil:
        parallel_for(arrange_input, <void *>c, partition_count(elements / 16.0))
    for phase in phases:
        c.set_phase(phase)
        c.run()
    return True
