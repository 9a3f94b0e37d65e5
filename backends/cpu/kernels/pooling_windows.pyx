"""Max pooling and average pooling loops on the CPU: maxima and means of windows.

Input: C-contiguous planes with three spatial dimensions, and the start and end of each window per dimension.
Output: one element per window. Max pooling also returns the index of the element in the plane. `simd_pooling.h`
implements the loops over the columns of a row.

The first of several equal maxima is selected. If a window contains NaN, the last NaN is selected.
"""

cimport cython
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memset

from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of
from ts._core.value.no_python_construction cimport seal


from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.parallel_for cimport parallel_for, partition_count, partition_start

cdef extern from "simd_pooling.h" nogil:
    enum:
        MAX_TAPS
        MAX_PLANE_ELEMENTS
    ctypedef struct PoolRow:
        Py_ssize_t width, out_width, stride, left, half, pitch, taps, span, dilation
        const int64_t *begin
        const int64_t *stop
        int64_t tap_offsets[MAX_TAPS]
    ctypedef void (*PoolRowsKernel)(
        const PoolRow *, const void **, const int64_t *, Py_ssize_t, const void *, void *, void *
    ) noexcept nogil
    ctypedef void (*PoolColumnsKernel)(
        const PoolRow *, const void *, const void *, void *, const void *, int64_t *, void *, void *
    ) noexcept nogil
    ctypedef struct PoolKernels:
        int lanes, element_size
        PoolRowsKernel max_rows, max_rows_with_indices, sum_rows
        PoolColumnsKernel max_columns, max_columns_with_indices, sum_columns
        void (*fill_lowest)(Py_ssize_t, void *, void *) noexcept nogil
    const PoolKernels *pool_kernels(int letter)
    const char *prefetch_bytes(const char *start, const char *position, const char *end)
    void divide_floats(float *out, const float *divisor, Py_ssize_t n)
    void divide_doubles(double *out, const double *divisor, Py_ssize_t n)

cdef enum:
    MAX_BUFFER_BYTES = 1 << 14             # maximal size of the buffered rows, unless one row needs more


cdef bint has_regular_columns(Windows *w, int lanes, PoolRow *row) noexcept nogil:
    """Set the layout of the buffer of a row, for windows that advance by a stride.

    Return False for other windows.
    """
    cdef int64_t count = w.output_size[2], gap = w.dilation[2], width = w.size[2]
    cdef int64_t taps = 0, complete = 0, stride = 1, start, k, n, position
    for k in range(count):
        n = (w.stop[2][k] - w.begin[2][k] + gap - 1) // gap
        if w.begin[2][k] >= w.stop[2][k] or n > MAX_TAPS:
            return False
        if n > taps:
            taps, complete = n, k          # the first window that is not clipped at the start
    if complete + 1 < count:
        stride = w.begin[2][complete + 1] - w.begin[2][complete]
    elif complete > 0:
        stride = w.stop[2][complete] - w.stop[2][complete - 1]
    if count == 0 or not 1 <= stride <= max(lanes // 2, 2):
        return False
    start = w.begin[2][complete] - complete * stride
    position = start + (count - 1) * stride + gap * (taps - 1) + 1  # end of the last window
    if max(-start, 0) + max(position, width) > 4 * width + 1024:
        return False
    for k in range(count):
        position = start + k * stride
        if w.begin[2][k] != (position if position >= 0 else position + (-position + gap - 1) // gap * gap):
            return False
        if w.stop[2][k] != min(position + gap * (taps - 1) + 1, width):
            return False
    row.stride, row.taps, row.left = stride, taps, max(-start, 0)
    row.span = count if stride <= 2 else (count - 1) * stride + 1
    start += row.left
    if stride == 2:
        row.half = max((row.left + width + 1) // 2, (start + gap * (taps - 1)) // 2 + count) + 2 * lanes
        row.pitch = 2 * row.half
    else:
        row.pitch = max(row.left + width, start + gap * (taps - 1) + row.span) + 2 * lanes
    for k in range(taps):
        position = start + k * gap
        row.tap_offsets[k] = position if stride != 2 else position // 2 + position % 2 * row.half
    return True


cdef PoolRow row_layout(Windows *w, int lanes) noexcept nogil:
    """Return the layout of the buffer of a row."""
    cdef PoolRow row
    row.width, row.out_width, row.dilation = w.size[2], w.output_size[2], w.dilation[2]
    row.begin, row.stop = w.begin[2], w.stop[2]
    if not has_regular_columns(w, lanes, &row):
        row.stride, row.taps, row.left, row.half, row.pitch = 1, 0, 0, 0, max(row.width, row.out_width) + 2 * lanes
    return row


cdef int64_t list_rows(Windows *w, int64_t line, const char *plane, int size, const void **rows, int64_t *bases) noexcept nogil:
    """List the input rows of the windows in the output row `line`, and return their number."""
    cdef int64_t i = line // w.output_size[1], j = line % w.output_size[1], count = 0
    cdef int64_t a = w.begin[0][i], b
    while a < w.stop[0][i]:
        b = w.begin[1][j]
        while b < w.stop[1][j]:
            bases[count] = (a * w.size[1] + b) * w.size[2]
            rows[count] = plane + bases[count] * size
            count += 1
            b += w.dilation[1]
        a += w.dilation[0]
    return count


cdef int64_t max_row_count(Windows *w) noexcept nogil:
    """Return the largest number of input rows of a window."""
    cdef int64_t count = 1, longest, i
    cdef int d
    for d in range(2):
        longest = 0
        for i in range(w.output_size[d]):
            longest = max(longest, (w.stop[d][i] - w.begin[d][i] + w.dilation[d] - 1) // w.dilation[d])
        count *= longest
    return count


cdef void fill_neutral(const PoolTask *task, const PoolKernels *kernels, int64_t count, void *out, void *at) noexcept nogil:
    if task.mean:
        memset(out, 0, count * kernels.element_size)
    else:
        kernels.fill_lowest(count, out, at)


cdef bint contains_empty_windows(Windows *w) noexcept nogil:
    cdef int64_t i
    cdef int d
    for d in range(3):
        for i in range(w.output_size[d]):
            if w.begin[d][i] >= w.stop[d][i]:
                return True
    return False


cdef void set_indices_of_empty_windows(Windows *w, int64_t line, int64_t *index) noexcept nogil:
    """Set the index of each window without elements in the output row `line` to its first position."""
    cdef int64_t i = line // w.output_size[1], j = line % w.output_size[1], k
    cdef bint has_rows = w.begin[0][i] < w.stop[0][i] and w.begin[1][j] < w.stop[1][j]
    for k in range(w.output_size[2]):
        if not has_rows or w.begin[2][k] >= w.stop[2][k]:
            index[k] = (w.begin[0][i] * w.size[1] + w.begin[1][j]) * w.size[2] + w.begin[2][k]


cdef int pool_planes(const PoolTask *task, int64_t first, int64_t last) noexcept nogil:
    cdef Windows *w = task.windows
    cdef const PoolKernels *kernels = pool_kernels(task.letter)
    cdef PoolRowsKernel combine_rows = kernels.max_rows
    cdef PoolColumnsKernel combine_columns = kernels.max_columns
    cdef PoolRow row = row_layout(w, kernels.lanes)
    cdef int64_t plane_elements = w.size[0] * w.size[1] * w.size[2], lines = w.output_size[0] * w.output_size[1]
    cdef int64_t result = lines * row.out_width, size = kernels.element_size, row_bytes = row.pitch * size
    cdef int64_t chunk = max(1, min(lines, MAX_BUFFER_BYTES // row_bytes)), max_rows = max_row_count(w)
    cdef int64_t p, begin, line, count, o
    cdef const char *end = task.x + last * plane_elements * size
    cdef const char *prefetched = task.x + first * plane_elements * size
    cdef char *slot
    cdef char *indices
    cdef int64_t *index = NULL
    # The last row of both buffers is temporary memory of `combine_columns`.
    cdef char *buffer = <char *>malloc_aligned((chunk + 1) * row_bytes)
    cdef char *at = NULL
    cdef const void **rows = <const void **>malloc_aligned((max_rows + 1) * sizeof(void *))
    cdef int64_t *bases = <int64_t *>malloc_aligned((max_rows + 1) * sizeof(int64_t))
    cdef bint has_empty_windows
    cdef bint has_memory = buffer != NULL and rows != NULL and bases != NULL
    if task.mean:
        combine_rows, combine_columns = kernels.sum_rows, kernels.sum_columns
    elif task.index != NULL:
        combine_rows, combine_columns = kernels.max_rows_with_indices, kernels.max_columns_with_indices
        at = <char *>malloc_aligned((chunk + 1) * row_bytes)
        has_memory = has_memory and at != NULL
    if has_memory:
        has_empty_windows = task.index != NULL and contains_empty_windows(w)
        fill_neutral(task, kernels, (chunk + 1) * row.pitch, buffer, at)
        for p in range(first, last):
            begin = 0
            while begin < lines:
                # The rows of several output rows are combined before their columns, because vector loads of
                # elements that were just stored by other vectors stall.
                for line in range(begin, min(begin + chunk, lines)):
                    slot = buffer + (line - begin) * row_bytes
                    indices = NULL if at == NULL else at + (line - begin) * row_bytes
                    count = list_rows(w, line, task.x + p * plane_elements * size, size, rows, bases)
                    if count > 0:
                        prefetched = prefetch_bytes(prefetched, <const char *>rows[count - 1] + w.size[2] * size, end)
                        combine_rows(&row, rows, bases, count, end, slot, indices)
                    else:
                        fill_neutral(task, kernels, row.pitch, slot, indices)
                for line in range(begin, min(begin + chunk, lines)):
                    slot = buffer + (line - begin) * row_bytes
                    indices = NULL if at == NULL else at + (line - begin) * row_bytes
                    o = p * result + line * row.out_width
                    index = NULL if at == NULL else task.index + o
                    combine_columns(
                        &row, slot, indices, task.out + o * size, task.out + (p + 1) * result * size, index,
                        buffer + chunk * row_bytes, NULL if at == NULL else at + chunk * row_bytes,
                    )
                    if index != NULL and has_empty_windows:
                        set_indices_of_empty_windows(w, line, index)
                begin += chunk
            if task.mean and task.letter == c'f':
                divide_floats(<float *>task.out + p * result, <const float *>task.divisor, result)
            elif task.mean:
                divide_doubles(<double *>task.out + p * result, <const double *>task.divisor, result)
    free(buffer)
    free(at)
    free(rows)
    free(bases)
    return 0 if has_memory else -1


# ---------------------------------------------------------------- entry points

cdef int64_t *_numbers(array, Py_ssize_t count) except NULL:
    if array.dtype.char not in "lq" or array.itemsize != 8 or array.ndim != 1 or not array.flags.c_contiguous:
        raise TypeError("expected a contiguous 1-d array of int64")
    if len(array) != count:
        raise ValueError(f"expected {count} windows, got {len(array)}")
    return <int64_t *>data_of(<PyArrayObject *>array)


@cython.final
cdef class Table:
    """Start and end index of each pooling window along three dimensions. The constructor checks the indices."""

    cdef Windows windows
    cdef object owners                   # keeps the owners of the memory behind the pointers alive

    def __cinit__(self, sizes, begin, stop, dilation):
        cdef int d
        if not len(sizes) == len(begin) == len(stop) == len(dilation) == 3:
            raise ValueError("Table: each argument must have three dimensions")
        self.owners = (begin, stop)
        if sizes[0] * sizes[1] * sizes[2] >= MAX_PLANE_ELEMENTS:
            raise ValueError("Table: a plane must have fewer than 2**30 elements")
        for d in range(3):
            self.windows.size[d] = sizes[d]
            self.windows.output_size[d] = len(begin[d])
            self.windows.dilation[d] = dilation[d]
            self.windows.begin[d] = _numbers(begin[d], len(begin[d]))
            self.windows.stop[d] = _numbers(stop[d], len(begin[d]))
            if len(begin[d]) and (begin[d].min() < 0 or stop[d].max() > sizes[d] or dilation[d] < 1):
                raise ValueError("Table: a window is outside the input")

    def output_size(self):
        """Return the spatial shape of the result, the number of windows per dimension."""
        return (self.windows.output_size[0], self.windows.output_size[1], self.windows.output_size[2])


@cython.final
cdef class Run:
    cdef PoolTask task
    cdef tuple owners                    # keeps the owners of the memory behind the pointers alive
    cdef int64_t planes


seal(Run)


cdef struct Planes:
    const PoolTask *task
    int64_t count


cdef int pool_partition(void *context, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
    """Compute a partition's consecutive range of planes."""
    cdef Planes *planes = <Planes *>context
    return pool_planes(
        planes.task, partition_start(planes.count, partition, partition_count), partition_start(planes.count, partition + 1, partition_count)
    )


cdef int pool_in_parallel(const PoolTask *task, int64_t planes, double work) noexcept nogil:
    cdef Planes all_planes
    all_planes.task, all_planes.count = task, planes
    return parallel_for(pool_partition, &all_planes, max(min(partition_count(2 * work), planes), 1))


cdef int _run(Table table, x, out, more, bint mean) except -1:
    cdef Run run = Run.__new__(Run)
    cdef int64_t work
    cdef int done
    cdef object array
    for array in (x, out) if more is None else (x, out, more):
        if not array.flags.c_contiguous or not array.flags.aligned:
            raise ValueError("pooling: operands must be contiguous and aligned")
    run.planes = len(x)
    if x.shape != (run.planes, *[table.windows.size[d] for d in range(3)]):
        raise ValueError("pooling: the input does not match the windows")
    if out.shape != (run.planes, *table.output_size()) or out.dtype != x.dtype:
        raise ValueError("pooling: the output does not match the windows or the input's dtype")
    run.owners = (table, x, out, more)
    run.task.windows = &table.windows
    run.task.letter = c'f' if x.dtype.char == "f" else c'd' if x.dtype.char == "d" else c'q'
    run.task.x, run.task.out = data_of(<PyArrayObject *>x), data_of(<PyArrayObject *>out)
    run.task.mean = mean
    if mean:
        run.task.divisor = data_of(<PyArrayObject *>more)
    elif more is not None:
        run.task.index = <int64_t *>data_of(<PyArrayObject *>more)
    work = x.size + out.size
    with nogil:
        done = pool_in_parallel(&run.task, run.planes, work)
    if done < 0:
        raise MemoryError()
    return 0


def max_of_windows(Table table not None, x, out, index):
    """Write the maximum of each window to `out`, and the index of the maximum in its plane to `index`.

    If `index` is None, write only the maxima.
    """
    if x.dtype.char not in "fdlq" or x.itemsize < 4:
        raise TypeError("max_of_windows: expected float32, float64 or int64")
    if index is not None and (index.dtype.char not in "lq" or index.shape != out.shape):
        raise TypeError("max_of_windows: index must be int64 with the output's shape")
    _run(table, x, out, index, False)


def mean_of_windows(Table table not None, x, out, divisor):
    """For each window, write the sum of its elements, divided by its element of `divisor`, to `out`."""
    if x.dtype.char not in "fd" or divisor.dtype != x.dtype or divisor.size * len(x) != out.size:
        raise TypeError("mean_of_windows: expected float32 or float64 operands of one dtype, and a divisor per window")
    _run(table, x, out, divisor, True)
