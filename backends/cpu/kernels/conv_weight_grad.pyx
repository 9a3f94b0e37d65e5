"""Weight gradient of convolutions, computed by correlations of the input with the output's gradient.

Input: the convolution's input (images, channels, positions), and the output's gradient `other` (images,
filters, positions). Output: the weight's gradient. Each of its elements is a sum:

    weight[f, c, tap] = sum over images and positions q of other[f, q] * source[c, q + offset of the tap]

A tap is a position of the kernel. `source` is the input in the padded layout of `conv.pyx`, which also
numbers the positions. The order of additions does not depend on the number of threads.
"""

import numpy as np

cimport cython
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memset

from numpy cimport NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_WRITEABLE, npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of
from ts._core.value.no_python_construction cimport seal
from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.conv cimport require_fitting
from ts.backends.cpu.kernels.conv_layout cimport InputLayout, SubConvolution, arrange_channel, copy_row, real, row_of_position
from ts.backends.cpu.kernels.kernel cimport item_size
from ts.backends.cpu.kernels.microkernels cimport Kernels, microkernels
from ts.backends.cpu.kernels.parallel_for cimport parallel_for, partition_count, partition_start


cdef enum:
    PANEL_POSITIONS = 128              # number of positions in a panel
    MIN_PARTIAL_SUM_POSITIONS = 1024   # minimal number of positions that are summed before the partial sum is added to the total
    MAX_SUM_BYTES = 1 << 17            # maximal size of a task's accumulators in bytes, unless one block of channels needs more
    # Minimal number of filters per channel for which a depthwise convolution uses panels of filters. With
    # fewer filters, the gradient is computed row by row.
    MIN_PANEL_FILTERS = 4


@cython.final
cdef class Weights:
    """One computation of a weight gradient, divided into tasks by filters and channels."""

    cdef Kernels *kernels
    cdef tuple owners                    # keeps the arrays of the operands alive
    cdef InputLayout layout
    cdef SubConvolution phase
    cdef bint double_
    # True for a depthwise convolution with few filters per channel. Its gradient is computed row by row.
    cdef bint by_rows
    cdef char *conv_input              # the convolution's input as passed by the caller
    cdef int64_t strides[5]
    cdef char *source                  # the input in the layout `layout`, or NULL if `by_rows`
    cdef char *other
    cdef char *out
    cdef int64_t plane                 # number of elements in a channel of the source
    cdef int64_t channel_size                # number of elements in a channel of `other`
    cdef int64_t window                # number of elements of the weight for one filter and one channel
    cdef int64_t axes[3]               # strides, in elements, of the three dimensions of the weight's window
    cdef int64_t images
    cdef int64_t groups
    cdef int64_t channels              # number of channels of a group
    cdef int64_t filters               # number of filters of a group
    cdef int64_t panels                # number of panels of filters
    cdef int64_t vectors               # number of SIMD vectors of a panel
    cdef int64_t blocks                # number of blocks of channels
    cdef int64_t block             
    def __dealloc__(self):
        if self.source != self.conv_input:
            free(self.source)

    cdef int64_t tasks(self) noexcept nogil:
        return self.groups if self.by_rows else self.groups * self.panels * self.blocks

    cdef int arrange_source(self) except -1:
        """Lay out the input of all images.

        A contiguous input whose layout already matches is used directly.
        """
        cdef int64_t count = self.images * self.groups * self.channels, plane = self.plane, i
        cdef int64_t each = self.groups * self.channels, size = 8 if self.double_ else 4
        if self.layout.as_is:
            self.source = self.conv_input
            return 0
        self.source = <char *>malloc_aligned(<size_t>(count * plane * size + 1))
        if self.source == NULL:
            raise MemoryError()
        with nogil:
            for i in range(count):
                if self.double_:
                    arrange_channel(
                        <const double *>self.conv_input, self.strides, self.layout, i // each, i % each, 0, self.layout.length[1],
                        <double *>self.source + i * plane,
                    )
                else:
                    arrange_channel(
                        <const float *>self.conv_input, self.strides, self.layout, i // each, i % each, 0, self.layout.length[1],
                        <float *>self.source + i * plane,
                    )
        return 0

    cdef int run_tasks(self, int64_t first, int64_t last) noexcept nogil:
        """Run the tasks [first, last). Return -1 if memory is exhausted."""
        if self.by_rows and self.double_:
            return sum_rows(self, self.phase, self.layout, first, last, <double *>NULL)
        if self.by_rows:
            return sum_rows(self, self.phase, self.layout, first, last, <float *>NULL)
        if self.double_:
            return sum_panels(self, self.phase, first, last, <double *>NULL)
        return sum_panels(self, self.phase, first, last, <float *>NULL)


seal(Weights)


cdef int run_partition(void *weights, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
    """Run a partition's consecutive range of tasks."""
    cdef int64_t tasks = (<Weights>weights).tasks()
    return (<Weights>weights).run_tasks(
        partition_start(tasks, partition, partition_count), partition_start(tasks, partition + 1, partition_count)
    )


cdef inline int64_t tap_offset(Weights w, SubConvolution p, int64_t tap) noexcept nogil:
    """Return the offset, counted in elements, of kernel tap `tap` from the start of the weight's window."""
    cdef int64_t *index = p.tap_index + 3 * tap
    return index[0] * w.axes[0] + index[1] * w.axes[1] + index[2] * w.axes[2]


# ---------------------------------------------------------------- panels of filters

cdef void transpose_panel(
    Weights w, SubConvolution p, int64_t image, int64_t filter, int64_t filters, int64_t q, int64_t depth, real *panel
) noexcept nogil:
    """Transpose a block of `other`, so that each position becomes one row of `panel`.

    The block has some filters and the positions [q, q + depth). The rows of unused positions are filled with
    zeros.
    """
    cdef int64_t lanes = w.kernels.lanes, wide = (filters + lanes - 1) // lanes * lanes
    cdef int64_t low = row_of_position(p, q), begin, end, first, i, k
    cdef const real *line
    cdef real *to
    memset(panel, 0, depth * wide * sizeof(real))
    while low < p.rows and p.row_q[low] < q + depth:
        begin = max(p.row_q[low], q)
        end = min(p.row_q[low] + p.row, q + depth)
        first = 0
        while begin < end and first < filters:
            line = <const real *>w.other + ((image * w.groups * w.filters) + filter + first) * w.channel_size
            line += p.row_offset[low] + begin - p.row_q[low]
            to = panel + (begin - q) * wide + first
            if filters - first >= lanes:
                w.kernels.transpose_vector(end - begin, line, w.channel_size, to, <int>wide)
            else:
                for i in range(end - begin):
                    for k in range(filters - first):
                        to[i * wide + k] = line[k * w.channel_size + i]
            first += lanes
        low += 1


cdef int sum_panels(Weights w, SubConvolution p, int64_t first, int64_t last, real *kind) noexcept nogil:
    """Run the tasks [first, last). Return -1 if memory is exhausted."""
    cdef int64_t wide = w.vectors * w.kernels.lanes, sums = p.taps * w.block * wide, task
    cdef real *panel = <real *>malloc_aligned((PANEL_POSITIONS * wide + 2 * sums) * sizeof(real))
    if panel == NULL:
        return -1
    for task in range(first, last):
        sum_panel(
            w, p, task // w.blocks // w.panels, task // w.blocks % w.panels * wide, task % w.blocks * w.block, panel,
            panel + PANEL_POSITIONS * wide, panel + PANEL_POSITIONS * wide + sums,
        )
    free(panel)
    return 0


cdef void sum_panel(
    Weights w, SubConvolution p, int64_t group, int64_t filter, int64_t channel, real *panel, real *sums, real *total
) noexcept nogil:
    """Compute the weight gradient for one panel of filters and one block of channels, both of group `group`.

    The panel starts at filter `filter` of the group, and the block at channel `channel` of the group.
    """
    cdef int64_t filters = min(w.filters - filter, w.vectors * w.kernels.lanes), lanes = w.kernels.lanes
    cdef int64_t vectors = (filters + lanes - 1) // lanes, wide = vectors * lanes, n = min(w.block, w.channels - channel)
    cdef int64_t plane = w.plane, image, q, depth, c, k, i, tap, since = 0, count = p.taps * n * wide
    cdef bint add = False
    cdef real *source
    cdef real *out
    cdef int kind
    memset(total, 0, count * sizeof(real))
    for image in range(w.images):
        source = <real *>w.source + ((image * w.groups + group) * w.channels + channel) * plane
        q = 0
        while q < p.length:
            depth = min(p.length - q, <int64_t>PANEL_POSITIONS)
            transpose_panel(w, p, image, group * w.filters + filter, filters, q, depth, panel)
            c = 0
            while c < n:
                kind = 0
                while (2 << kind) <= min(n - c, <int64_t>w.kernels.rows):
                    kind += 1
                for tap in range(p.taps):
                    w.kernels.part[kind][vectors - 1](
                        depth, source + c * plane + q + p.tap_offset[tap], panel, sums + (tap * n + c) * wide, wide, add,
                        plane, 1, 1, NULL, panel, 0,
                    )
                c += 1 << kind
            add = True
            since += depth
            q += depth
        if since >= MIN_PARTIAL_SUM_POSITIONS or image == w.images - 1:
            for i in range(count if since else 0):
                total[i] += sums[i]
            add, since = False, 0
    for k in range(filters):
        for c in range(n):
            out = <real *>w.out + ((group * w.filters + filter + k) * w.channels + channel + c) * w.window
            for tap in range(p.taps):
                out[tap_offset(w, p, tap)] = total[(tap * n + c) * wide + k]


# ---------------------------------------------------------------- depthwise convolutions

cdef int sum_rows(Weights w, SubConvolution p, InputLayout s, int64_t first, int64_t last, real *kind) noexcept nogil:
    """Compute the gradient of the depthwise groups [first, last). Return -1 if memory is exhausted."""
    cdef int64_t plane = w.plane, lanes = w.kernels.lanes, length = (p.length + lanes - 1) // lanes * lanes, group, image, filter, row, tap
    cdef real *source = <real *>malloc_aligned((plane + length + (w.filters + 1) * p.taps + lanes) * sizeof(real))
    cdef real *grads = source + plane + lanes
    cdef real *sums = grads + length
    cdef real *total = sums + p.taps
    cdef real *out
    cdef const real *line
    if source == NULL:
        return -1
    memset(source + plane, 0, (length + lanes) * sizeof(real))
    for group in range(first, last):
        memset(total, 0, w.filters * p.taps * sizeof(real))
        for image in range(w.images):
            arrange_channel(<const real *>w.conv_input, w.strides, s, image, group, 0, s.length[1], source)
            for filter in range(w.filters):
                line = <const real *>w.other + ((image * w.groups + group) * w.filters + filter) * w.channel_size
                for row in range(p.rows):
                    copy_row(line + p.row_offset[row], p.row, grads + p.row_q[row])
                w.kernels.tap_sums(p.taps, source, p.tap_offset, grads, length, sums)
                for tap in range(p.taps):
                    total[filter * p.taps + tap] += sums[tap]
        for filter in range(w.filters):
            out = <real *>w.out + (group * w.filters + filter) * w.window
            for tap in range(p.taps):
                out[tap_offset(w, p, tap)] = total[filter * p.taps + tap]
    free(source)
    return 0


# ---------------------------------------------------------------- entry point

def correlate_weights(conv_input, other, out, InputLayout source not None, SubConvolution phase not None, Py_ssize_t groups):
    """Write to `out` the gradient of the weight elements that are taps of `phase`.

    `conv_input` has images, channels, and 1 to 3 spatial dimensions. `other` has images, filters and the
    positions of the phase. Both are C-contiguous float32 or float64 arrays with equal dtypes. The shape of
    `out` is (filters, channels of a group, *window). Elements of `out` that are not taps of `phase` are not
    written, so the caller must set them to zero.
    """
    cdef Weights w = Weights.__new__(Weights)
    cdef PyArrayObject *x
    cdef PyArrayObject *y
    cdef PyArrayObject *z
    cdef int64_t work, lanes
    cdef Py_ssize_t partitions
    cdef void *weights = <void *>w
    cdef int d, lead, done
    if type(conv_input) is not np.ndarray or type(other) is not np.ndarray or type(out) is not np.ndarray:
        raise TypeError("correlate_weights: operands must be NumPy arrays")
    require_fitting(conv_input, out, None, other, source, [phase], groups, False)
    x, y, z = <PyArrayObject *>conv_input, <PyArrayObject *>other, <PyArrayObject *>out
    if not flags_of(x) & flags_of(z) & NPY_ARRAY_C_CONTIGUOUS or not flags_of(z) & NPY_ARRAY_WRITEABLE or phase.output_stride != 1:
        raise ValueError("correlate_weights: operands must be contiguous and the phase's output stride 1")
    w.owners, w.layout, w.phase, w.plane = (conv_input, other, out), source, phase, source.plane
    w.double_ = item_size(x) == 8
    w.kernels = microkernels(w.double_)
    w.conv_input, w.other, w.out = data_of(x), data_of(y), data_of(z)
    w.images, w.groups = dims_of(x)[0], groups
    w.channels, w.filters = dims_of(x)[1] // groups, dims_of(y)[1] // groups
    w.channel_size = w.window = 1
    lead = 5 - ndim_of(x)
    w.strides[4] = 1
    for d in range(2, -1, -1):         # from the innermost dimension. Dimensions that `x` lacks have size 1.
        w.axes[d] = w.window
        if d >= lead:
            w.channel_size *= dims_of(y)[2 + d - lead]
            w.window *= dims_of(z)[2 + d - lead]
        w.strides[1 + d] = w.strides[2 + d] * (dims_of(x)[2 + d - lead] if d >= lead else 1)
    w.strides[0] = w.strides[1] * dims_of(x)[1]
    if w.channel_size == 0 or w.window == 0 or w.images == 0 or w.channels == 0 or w.filters == 0 or phase.taps == 0:
        return
    w.by_rows = w.channels == 1 and w.filters < MIN_PANEL_FILTERS
    work = w.images * dims_of(y)[1] * phase.length * w.channels * phase.taps
    partitions = partition_count(work / 32.0)
    if not w.by_rows:
        lanes = w.kernels.lanes
        w.vectors = (w.filters + lanes - 1) // lanes
        w.panels = (w.vectors + 2) // 3
        w.vectors = (w.vectors + w.panels - 1) // w.panels
        w.panels = (w.filters + w.vectors * lanes - 1) // (w.vectors * lanes)
        w.block = MAX_SUM_BYTES // (phase.taps * w.vectors * lanes * item_size(x))
        if partitions > 1 and groups * w.panels < 2 * partitions:
            w.block = min(w.block, w.channels * groups * w.panels // (2 * partitions))
        w.block = min(max(w.block // w.kernels.rows * w.kernels.rows, <int64_t>w.kernels.rows), w.channels)
        w.blocks = (w.channels + w.block - 1) // w.block
        w.arrange_source()
    partitions = max(min(partitions, w.tasks()), 1)
    with nogil:
        done = parallel_for(run_partition, weights, partitions)
    if done < 0:
        raise MemoryError()
