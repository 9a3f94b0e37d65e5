"""Convolutions of floating arrays on the CPU, by an implicit GEMM.

Input: input, weight, bias and geometry of a convolution. Output: the convolution in `out`.

Every convolution is computed as one or several correlations. Along each dimension, output element t is a sum
over the kernel positions k. Each term is the product of kernel element k and input element t * stride +
offset[k].

The input is copied to a padded layout (`InputLayout`). All output positions of an image form one range q = 0,
1, 2 ... This range includes unused positions at the ends of rows, whose results are dropped. The example
shows an input of 2 x 4 elements (a to h) with zeros (.) around it. Unused positions are in parentheses:

    3 x 3 kernel, padding 1:      . . . . . .     kernel element (i, j) at q reads element q + 6 i + j
                                  . a b c d .     q = 0 1 2 3 (4 5) 6 7 8 9 (10 11) ...
                                  . e f g h .

With few filters, the microkernels read the layout in place (`conv_in_place.pyx`). With many, the elements that a
block of positions reads are first copied to panels, without unused positions (`conv_panels.pyx`). The whole column
matrix (im2col) is never stored. Each element is summed in the same order for every number of threads.
"""

import numpy as np

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memset

from numpy cimport NPY_ARRAY_ALIGNED, NPY_ARRAY_CARRAY, npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of, size_of, strides_of
from ts._core.value.no_python_construction cimport seal
from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.conv_depthwise cimport DepthwiseTask, compute_channels, lay_out_columns
from ts.backends.cpu.kernels.conv_in_place cimport (
    block_length, block_plane_size, compute_in_place, write_sums, reads_source_in_place, rows_of_block
)
from ts.backends.cpu.kernels.conv_job cimport Job, tile_count
from ts.backends.cpu.kernels.conv_layout cimport InputLayout, SubConvolution, arrange_channel, real
from ts.backends.cpu.kernels.conv_panels cimport MAX_PANELS_PER_TASK, compute_panels, position_count
from ts.backends.cpu.kernels.conv_weight_packing cimport (
    cached_weight, describe_weight, pack_weight, packed_group_size, weight_offset
)
from ts.backends.cpu.kernels.gemm_tiles cimport Packed
from ts.backends.cpu.kernels.kernel cimport item_size
from ts.backends.cpu.kernels.microkernels cimport Kernels, microkernels
from ts.backends.cpu.kernels.parallel_for cimport parallel_for, partition_count

cdef enum:
    MIN_UNITS_WITHOUT_GIL = 1 << 13    # the smallest work, in the unit of `partition_count`, for which the GIL is released
    LARGE_WEIGHT_BYTES = 1 << 19       # maximal size in bytes of a weight that stays in the L2 cache
    DEPTHWISE_BLOCK = 2048             # number of positions that a depthwise convolution computes at a time
    # Number of references to the array of the weight while it is packed: of the operator and of `Run.owners`.
    REFERENCES_TO_WEIGHT = 2


cdef int compute_depthwise(
    Job *job, SubConvolution p, InputLayout s, int64_t plane, int64_t partition, int64_t partition_count, real *kind
) noexcept nogil:
    """Compute one partition of a depthwise convolution. Return -1 if memory is exhausted.

    This function is used if each group has one channel. A task computes one channel of one image.
    """
    cdef int64_t tasks = job.images * job.groups, slack = job.kernels.lanes
    cdef int64_t task, image, group, filter, tap, q, count
    cdef real *source = <real *>malloc_aligned((plane + slack) * sizeof(real))
    cdef real *sums = <real *>malloc_aligned((DEPTHWISE_BLOCK + slack) * sizeof(real))
    cdef real *weight = <real *>malloc_aligned((p.taps + 1) * sizeof(real))
    if source == NULL or sums == NULL or weight == NULL:
        free(source)
        free(sums)
        free(weight)
        return -1
    memset(source + plane, 0, slack * sizeof(real))
    for task in range(tasks * partition // partition_count, tasks * (partition + 1) // partition_count):
        image = task // job.groups
        group = task % job.groups
        arrange_channel(<const real *>job.input, job.input_strides, s, image, group, 0, s.length[1], source)
        for filter in range(job.filters):
            for tap in range(p.taps):
                weight[tap] = (<real *>job.weight.data)[weight_offset(&job.weight, p.tap_index + 3 * tap, group, filter, 0)]
            q = 0
            while q < p.length:
                count = min(p.length - q, <int64_t>DEPTHWISE_BLOCK)
                job.kernels.taps(p.taps, weight, source + q, job.offset, sums, count)
                write_sums(job, p, image, group * job.filters + filter, 1, sums, 0, q, count, True)
                q += count
    free(source)
    free(sums)
    free(weight)
    return 0


# ---------------------------------------------------------------- runs on the thread pool

ctypedef int (*PartitionMethod)(Run, Py_ssize_t, Py_ssize_t) noexcept nogil

@cython.final
cdef class Run:
    """One call of `correlate`, with its operands and buffers.

    Methods named `..._partition` compute one partition.
    """

    cdef Job job
    cdef tuple owners                    # keeps the arrays of the operands alive
    cdef DepthwiseTask depthwise         # operands of `compute_channels`
    cdef bint by_channels                # True if `compute_channels` computes the current phase
    cdef char *own_packed                # packed weight of this call, or NULL
    cdef Packed cached                   # packed weight of the cache, or None
    cdef InputLayout source
    cdef SubConvolution phase
    cdef int64_t plane
    cdef int64_t channels              # channels of an image

    def __dealloc__(self):
        free(self.job.offset)
        free(self.own_packed)
        free(self.job.tile_bias)
        if self.job.source != self.job.input:
            free(self.job.source)

    cdef int arrange_partition(self, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
        cdef int64_t count = self.job.images * self.channels, i
        for i in range(count * partition // partition_count, count * (partition + 1) // partition_count):
            if self.job.double_:
                arrange_channel(
                    <const double *>self.job.input, self.job.input_strides, self.source, i // self.channels,
                    i % self.channels, 0, self.source.length[1], <double *>self.job.source + i * self.plane,
                )
            else:
                arrange_channel(
                    <const float *>self.job.input, self.job.input_strides, self.source, i // self.channels,
                    i % self.channels, 0, self.source.length[1], <float *>self.job.source + i * self.plane,
                )
        return 0

    cdef int compute_partition(self, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
        if reads_source_in_place(&self.job, self.phase):
            if self.job.double_:
                return compute_in_place(&self.job, self.phase, self.source, partition, partition_count, <double *>NULL)
            return compute_in_place(&self.job, self.phase, self.source, partition, partition_count, <float *>NULL)
        if self.job.double_:
            return compute_panels(&self.job, self.phase, partition, partition_count, <double *>NULL)
        return compute_panels(&self.job, self.phase, partition, partition_count, <float *>NULL)

    cdef bint describe_depthwise(self) except -1:
        """Set `depthwise`. Return False if `compute_channels` cannot compute the current phase."""
        cdef SubConvolution p = self.phase
        cdef DepthwiseTask *task = &self.depthwise
        cdef int64_t strides[5]
        if not p.plane_taps[0] or p.plane_stride[1] > 2:
            return False
        input = self.owners[0]
        if self.job.input_strides[4] != 1 and self.source.size[2] > 1:
            input = np.ascontiguousarray(input)  # so that the result has the same bits for all strides
            self.owners += (input,)
        _strides(<PyArrayObject *>input, strides, 2, 8 if self.job.double_ else 4)
        task.kernels, task.input, task.weight = self.job.kernels, data_of(<PyArrayObject *>input), &self.job.weight
        task.tap_index = p.tap_index
        task.image_stride, task.channel_stride, task.row_stride = strides[0], strides[1], strides[3]
        task.bias, task.bias_stride, task.out, task.images = self.job.bias, self.job.bias_stride, self.job.out, self.job.images
        task.plane.height, task.plane.width = self.source.size[1], self.source.size[2]
        task.plane.row_stride, task.plane.column_stride = p.plane_stride[0], p.plane_stride[1]
        task.plane.tap_rows, task.plane.tap_columns = p.plane_taps[0], p.plane_taps[1]
        task.plane.out_height, task.plane.out_width = p.plane_size[0], p.plane_size[1]
        task.plane.row_offsets, task.plane.column_offsets = p.plane_offsets[0], p.plane_offsets[1]
        return lay_out_columns(task, self.job.offset)

    cdef int compute_depthwise_partition(self, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
        if self.by_channels:
            return compute_channels(&self.depthwise, partition, partition_count)
        if self.job.double_:
            return compute_depthwise(&self.job, self.phase, self.source, self.plane, partition, partition_count, <double *>NULL)
        return compute_depthwise(&self.job, self.phase, self.source, self.plane, partition, partition_count, <float *>NULL)

    cdef int take_packed_weight(self, Tensor owner, bytes layout) except -1:
        """Set the packed weight of the current phase, from the cache or packed for this call.

        `owner` is the tensor of the weight and `layout` the key of its packed layout, or None to bypass the
        cache.
        """
        cdef Job *job = &self.job
        job.packed_group = packed_group_size(&job.weight, self.phase.taps)
        self.cached = None
        if owner is not None:
            self.cached = cached_weight(
                owner, &job.weight, self.phase.tap_index, self.phase.taps, layout, REFERENCES_TO_WEIGHT
            )
        if self.cached is not None:
            job.packed = <char *>self.cached.panels.memory
            return 0
        free(self.own_packed)
        self.own_packed = NULL
        self.own_packed = <char *>_allocate(job.packed_group * job.groups + 1, 8 if self.job.double_ else 4)
        job.packed = self.own_packed
        pack_weight(&job.weight, self.phase.tap_index, self.phase.taps, job.packed)
        return 0

    cdef int run(self, PartitionMethod method, Py_ssize_t partitions, double units) except -1:
        """Run all partitions of `method`. The GIL is released, except for a single partition with little work.

        `units` is the estimated work, in the unit of `partition_count`.
        """
        cdef MethodCall call
        cdef int done
        call.run, call.method = <PyObject *>self, method
        if partitions <= 1 and units < MIN_UNITS_WITHOUT_GIL:
            done = method(self, 0, 1)
        else:
            with nogil:
                done = parallel_for(run_method, &call, max(partitions, 1))
        if done < 0:
            raise MemoryError()
        return 0

    cdef int arrange_bias(self) except -1:
        """Copy the bias to tiles of the microkernels' rows. The missing filters of the last tile of a group get 0."""
        cdef Job *job = &self.job
        cdef int64_t rows = job.kernels.rows, padded = tile_count(job) * rows, group, filter, i
        if job.bias == NULL:
            return 0
        job.tile_bias = <char *>_allocate(job.groups * padded, 8 if self.job.double_ else 4)
        for group in range(job.groups):
            for filter in range(padded):
                i = (group * job.filters + filter) * job.bias_stride
                if self.job.double_:
                    (<double *>job.tile_bias)[group * padded + filter] = (<double *>job.bias)[i] if filter < job.filters else 0
                else:
                    (<float *>job.tile_bias)[group * padded + filter] = (<float *>job.bias)[i] if filter < job.filters else 0
        return 0


seal(Run)


cdef struct MethodCall:
    PyObject *run
    PartitionMethod method


cdef int run_method(void *context, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
    cdef MethodCall *call = <MethodCall *>context
    return call.method(<Run>call.run, partition, partition_count)


cdef void *_allocate(object count, Py_ssize_t itemsize) except NULL:
    cdef void *result
    if count > (1 << 62) // itemsize:
        raise MemoryError()
    result = malloc_aligned(<size_t>count * itemsize)
    if result == NULL:
        raise MemoryError()
    return result


cdef int _strides(PyArrayObject *array, int64_t *strides, int lead, Py_ssize_t itemsize) except -1:
    """Write the strides of `array`, counted in elements, to `strides`.

    The strides of the first `lead` dimensions come first. The strides of three spatial dimensions follow,
    with 0 for each missing spatial dimension.
    """
    cdef int ndim = ndim_of(array), d
    for d in range(lead):
        strides[d] = strides_of(array)[d] // itemsize
    for d in range(3):
        strides[lead + d] = 0
        if ndim - lead - 3 + d >= 0:
            strides[lead + d] = strides_of(array)[lead + ndim - lead - 3 + d] // itemsize
    return 0


cdef int require_fitting(x, w, bias, y, InputLayout source, list phases, Py_ssize_t groups, bint transposed) except -1:
    cdef PyArrayObject *input = <PyArrayObject *>x
    cdef PyArrayObject *weight = <PyArrayObject *>w
    cdef PyArrayObject *out = <PyArrayObject *>y
    cdef int lead = 5 - ndim_of(input), d
    cdef int64_t plane = 1
    cdef SubConvolution phase
    cdef npy_intp *of_filters
    cdef npy_intp *of_channels
    if x.dtype.char not in "fd" or not x.dtype == w.dtype == y.dtype or not x.dtype.isnative:
        raise TypeError("correlate: operands must all be float32 or all float64")
    if not 0 <= lead <= 2 or ndim_of(weight) != ndim_of(input) or ndim_of(out) != ndim_of(input):
        raise ValueError("correlate: operands must have the same number of dimensions, 3 to 5")
    if not flags_of(input) & flags_of(weight) & NPY_ARRAY_ALIGNED or flags_of(out) & NPY_ARRAY_CARRAY != NPY_ARRAY_CARRAY:
        raise ValueError("correlate: operands must be aligned and the output contiguous")
    if groups < 1 or dims_of(input)[1] % groups or dims_of(out)[1] % groups or dims_of(out)[0] != dims_of(input)[0]:
        raise ValueError("correlate: batch sizes must be equal, and groups must divide the channels")
    of_filters, of_channels = dims_of(out), dims_of(input)
    if transposed:
        of_filters, of_channels = of_channels, of_filters
    if dims_of(weight)[0] != of_filters[1] or dims_of(weight)[1] != of_channels[1] // groups:
        raise ValueError("correlate: the weight does not match the channels of input and output")
    if bias is not None:
        if type(bias) is not np.ndarray or bias.dtype != x.dtype or bias.shape != (dims_of(out)[1],):
            raise ValueError("correlate: the bias does not match the output's channels or dtype")
        if not flags_of(<PyArrayObject *>bias) & NPY_ARRAY_ALIGNED:
            raise ValueError("correlate: operands must be aligned and the output contiguous")
    for d in range(3):
        if source.size[d] != (1 if d < lead else dims_of(input)[2 + d - lead]):
            raise ValueError("correlate: the source was created for a different input size")
    for d in range(2, ndim_of(out)):
        plane *= dims_of(out)[d]
    for phase in phases:
        if phase is None:
            raise TypeError("correlate: expected Phase objects, got None")
        for d in range(3):
            if phase.taps and phase.furthest_index[d] >= (1 if d < lead else dims_of(weight)[2 + d - lead]):
                raise ValueError("correlate: a tap is outside the weight's window")
        if phase.taps and phase.length and phase.furthest_tap + phase.length > source.plane:
            raise ValueError("correlate: a tap is outside the source")
        if phase.furthest_row >= plane or (phase.plane_taps[0] and phase.plane_size[0] * phase.plane_size[1] != plane):
            raise ValueError("correlate: a row is outside the output")
    return 0


def correlate(
    input, weight, bias, out, InputLayout source not None, list phases not None, Py_ssize_t groups, bint transposed
):
    """Write the sum of all phases' correlations to `out`.

    `input` has images, channels, and 1 to 3 spatial dimensions. The shape of `weight` is (filters, channels
    of a group, *window), or (channels, filters of a group, *window) if `transposed`. `bias` may be None. All
    arrays are aligned, float32 or float64, and have equal dtypes. `out` is C-contiguous. Raise TypeError or
    ValueError if the operands do not match.
    """
    if type(input) is not np.ndarray or type(weight) is not np.ndarray or type(out) is not np.ndarray:
        raise TypeError("correlate: operands must be NumPy arrays")
    require_fitting(input, weight, bias, out, source, phases, groups, transposed)
    correlate_fitting(input, weight, bias, out, source, phases, groups, transposed, None, None)


cdef int correlate_fitting(
    object input, object weight, object bias, object out, InputLayout source, list phases, int64_t groups, bint transposed,
    Tensor owner, list layouts
) except -1:
    cdef Run run = Run.__new__(Run)
    cdef Job *job = &run.job
    cdef PyArrayObject *x = <PyArrayObject *>input
    cdef PyArrayObject *w = <PyArrayObject *>weight
    cdef PyArrayObject *y = <PyArrayObject *>out
    cdef SubConvolution phase
    cdef Py_ssize_t itemsize
    cdef int64_t k, tap, work, partitions, plane
    cdef Py_ssize_t i
    cdef bint depthwise
    itemsize = item_size(x)
    job.double_ = itemsize == 8
    run.source = source
    run.owners = (input, weight, bias, out)
    job.kernels = microkernels(job.double_)
    job.input = data_of(x)
    _strides(x, job.input_strides, 2, itemsize)
    job.images = dims_of(x)[0]
    run.channels = dims_of(x)[1]
    job.groups = groups
    job.channels = run.channels // groups
    job.filters = dims_of(y)[1] // groups
    describe_weight(&job.weight, w, groups, transposed)
    job.bias = NULL
    if bias is not None:
        job.bias = data_of(<PyArrayObject *>bias)
        job.bias_stride = strides_of(<PyArrayObject *>bias)[0] // itemsize
    job.out = data_of(y)
    if size_of(y) == 0:
        return 0
    job.out_plane = size_of(y) // (dims_of(y)[0] * dims_of(y)[1])
    depthwise = job.channels == 1 and groups > 1 and job.filters < 4
    run.plane = source.plane
    job.block_rows = 0
    if not depthwise:
        run.arrange_bias()
        work = job.images * run.channels * run.plane
        if len(phases) == 1:
            phase = phases[0]
            if not source.as_is and reads_source_in_place(job, phase):
                partitions = partition_count(<double>job.images * dims_of(y)[1] * phase.length * job.channels * phase.taps / 64)
                job.output_rows, job.block_rows = phase.rows, rows_of_block(job, phase, source, itemsize, partitions)
        if job.block_rows:
            job.source_channel = block_plane_size(job, source)
        elif source.as_is and _has_contiguous_planes(job.input_strides, source):
            job.source = job.input
            job.source_image = job.input_strides[0]
            job.source_channel = job.input_strides[1]
            job.source_end = (
                (job.images - 1) * job.source_image + (run.channels - 1) * job.source_channel + run.plane
            )
        else:
            job.source_channel = run.plane
            job.source_image = run.plane * run.channels
            job.source_end = job.images * job.source_image + 3 * job.kernels.lanes
            job.source = <char *>_allocate(
                source.plane * run.channels * job.images + 3 * job.kernels.lanes, itemsize
            )
            run.run(Run.arrange_partition, partition_count(work / 16.0), work / 16.0)
    for i, phase in enumerate(phases):
        run.phase = phase
        free(job.offset)
        job.offset = NULL
        job.depth = job.channels * phase.taps
        job.offset = <int64_t *>_allocate(job.depth + 1, sizeof(int64_t))
        job.furthest = 0
        plane = source.length[0] * source.length[1] * source.length[2]
        for k in range(job.channels):
            for tap in range(phase.taps):
                job.offset[k * phase.taps + tap] = k * job.source_channel + phase.tap_offset[tap]
                if job.block_rows:
                    # The rows of each residue are adjacent in the buffer of a block as well as in the layout.
                    job.offset[k * phase.taps + tap] = (
                        k * job.source_channel + phase.tap_offset[tap] % plane
                        + phase.tap_offset[tap] // plane * block_length(job, source) * source.length[2]
                    )
        for k in range(job.depth):
            job.furthest = max(job.furthest, job.offset[k])
        work = job.images * dims_of(y)[1] * phase.length * job.depth
        if depthwise:
            run.by_channels = run.describe_depthwise()
            run.run(Run.compute_depthwise_partition, partition_count(work / 32.0), work / 32.0)
            continue
        run.take_packed_weight(owner, None if layouts is None else layouts[i])
        # A microkernel computes 1, 2, 4 or 8 filters. Microkernels write directly to the output only if the last
        # tile has such a number of filters. For another number, they would write past the last filter.
        k = job.filters % job.kernels.rows
        job.direct = phase.output_stride == 1 and k & (k - 1) == 0
        job.panels = MAX_PANELS_PER_TASK if job.packed_group * itemsize > LARGE_WEIGHT_BYTES else 1
        partitions = partition_count(work / 64.0)
        # Tasks have few filters if there are too few positions for all threads.
        k = max(groups * (position_count(job, phase) // (3 * job.kernels.lanes * job.panels)), 1)
        job.filter_parts = 1
        if partitions > 1:
            job.filter_parts = min(tile_count(job), (2 * partitions + k - 1) // k)
        run.run(Run.compute_partition, partitions, work / 64.0)
    return 0


cdef bint _has_contiguous_planes(int64_t *strides, InputLayout s) noexcept:
    """Return whether each channel is contiguous, and no stride of images or channels is negative."""
    return (
        strides[0] >= 0 and strides[1] >= 0
        and (s.size[2] == 1 or strides[4] == 1)
        and (s.size[1] == 1 or strides[3] == s.size[2])
        and (s.size[0] == 1 or strides[2] == s.size[1] * s.size[2])
    )
