"""Max pooling and average pooling loops on the CPU: maxima and means of windows.

Input: C-contiguous planes with three spatial dimensions, and the start and end of each window per dimension.
Output: one element per window. Max pooling also returns the index of the element in the plane.

The first of several equal maxima is selected. If a window contains NaN, the last NaN is selected.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free

from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of
from ts._core.value.no_python_construction cimport seal

from ts.backends.cpu import thread_pool

from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.parallel_task cimport require_partition

cdef int pool_max(Windows *w, number *x, number *out, int64_t *index, number lowest, int64_t first, int64_t last) noexcept nogil:
    cdef int64_t width = w.size[2], plane = w.size[0] * w.size[1] * width
    cdef int64_t result = w.output_size[0] * w.output_size[1] * w.output_size[2]
    cdef int64_t p, i, j, o, a, b, c, k, best_at, at
    cdef int32_t line
    cdef number *row
    cdef number v, best
    cdef bint has_row
    cdef number *high = <number *>malloc_aligned((width + 1) * sizeof(number))
    cdef int32_t *high_at = <int32_t *>malloc_aligned((width + 1) * sizeof(int32_t))
    if high == NULL or high_at == NULL:
        free(high)
        free(high_at)
        return -1
    for p in range(first, last):
        o = p * result
        for i in range(w.output_size[0]):
            for j in range(w.output_size[1]):
                has_row = False
                a = w.begin[0][i]
                while a < w.stop[0][i]:
                    b = w.begin[1][j]
                    while b < w.stop[1][j]:
                        line = <int32_t>(a * w.size[1] + b)
                        row = x + p * plane + line * width
                        if not has_row:
                            has_row = True
                            for c in range(width):
                                high[c] = row[c]
                                high_at[c] = line
                        elif index == NULL:
                            for c in range(width):
                                v = row[c]
                                high[c] = v if (v > high[c]) | (v != v) else high[c]
                        else:
                            for c in range(width):
                                v = row[c]
                                high_at[c] = line if (v > high[c]) | (v != v) else high_at[c]
                                high[c] = v if (v > high[c]) | (v != v) else high[c]
                        b += w.dilation[1]
                    a += w.dilation[0]
                for k in range(w.output_size[2]):
                    c = w.begin[2][k]
                    if not has_row or c >= w.stop[2][k]:
                        out[o] = lowest
                        if index != NULL:
                            index[o] = (w.begin[0][i] * w.size[1] + w.begin[1][j]) * width + c
                        o += 1
                        continue
                    best = high[c]
                    if index == NULL:
                        c += w.dilation[2]
                        while c < w.stop[2][k]:
                            v = high[c]
                            best = v if (v > best) | (v != v) else best
                            c += w.dilation[2]
                    else:
                        best_at = high_at[c] * width + c
                        c += w.dilation[2]
                        while c < w.stop[2][k]:
                            v = high[c]
                            at = high_at[c] * width + c
                            if v > best or (v == best and at < best_at) or (v != v and (best == best or at > best_at)):
                                best = v
                                best_at = at
                            c += w.dilation[2]
                        index[o] = best_at
                    out[o] = best
                    o += 1
    free(high)
    free(high_at)
    return 0


cdef int pool_mean(Windows *w, real *x, real *out, real *divisor, int64_t first, int64_t last) noexcept nogil:
    cdef int64_t width = w.size[2], plane = w.size[0] * w.size[1] * width
    cdef int64_t result = w.output_size[0] * w.output_size[1] * w.output_size[2]
    cdef int64_t p, i, j, o, a, b, c, k
    cdef real *row
    cdef real total
    cdef real *sums = <real *>malloc_aligned((width + 1) * sizeof(real))
    if sums == NULL:
        return -1
    for p in range(first, last):
        o = 0
        for i in range(w.output_size[0]):
            for j in range(w.output_size[1]):
                for c in range(width):
                    sums[c] = 0
                for a in range(w.begin[0][i], w.stop[0][i]):
                    for b in range(w.begin[1][j], w.stop[1][j]):
                        row = x + p * plane + (a * w.size[1] + b) * width
                        for c in range(width):
                            sums[c] += row[c]
                for k in range(w.output_size[2]):
                    total = 0
                    for c in range(w.begin[2][k], w.stop[2][k]):
                        total += sums[c]
                    out[p * result + o] = total / divisor[o]
                    o += 1
    free(sums)
    return 0


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
        if sizes[0] * sizes[1] >= 1 << 31:
            raise ValueError("Table: a plane must have fewer than 2**31 rows")
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
    cdef Windows *windows
    cdef tuple owners                    # keeps the owners of the memory behind the pointers alive
    cdef char *x
    cdef char *out
    cdef char *more                    # indices of the maxima, or divisors of the means
    cdef str kind
    cdef bint mean
    cdef int64_t planes

    def run_partition(self, Py_ssize_t partition, Py_ssize_t partition_count):
        require_partition(partition, partition_count, self.kind is not None)
        cdef int64_t first = self.planes * partition // partition_count, last = self.planes * (partition + 1) // partition_count
        cdef int done
        cdef double below = float("-inf")
        cdef str kind = self.kind
        cdef Py_UCS4 letter = kind[0]
        with nogil:
            if self.mean:
                if letter == u"f":
                    done = pool_mean(self.windows, <float *>self.x, <float *>self.out, <float *>self.more, first, last)
                else:
                    done = pool_mean(self.windows, <double *>self.x, <double *>self.out, <double *>self.more, first, last)
            elif letter == u"f":
                done = pool_max(
                    self.windows, <float *>self.x, <float *>self.out, <int64_t *>self.more, <float>below, first, last
                )
            elif letter == u"d":
                done = pool_max(
                    self.windows, <double *>self.x, <double *>self.out, <int64_t *>self.more, below, first, last
                )
            else:
                done = pool_max(
                    self.windows, <int64_t *>self.x, <int64_t *>self.out, <int64_t *>self.more,
                    <int64_t>(-0x7fffffffffffffff - 1), first, last,
                )
        if done < 0:
            raise MemoryError()


seal(Run)


cdef int _run(Table table, x, out, more, bint mean) except -1:
    cdef Run run = Run.__new__(Run)
    cdef int64_t work
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
    run.windows = &table.windows
    run.x = data_of(<PyArrayObject *>x)
    run.out = data_of(<PyArrayObject *>out)
    run.more = NULL if more is None else data_of(<PyArrayObject *>more)
    run.kind = "q" if x.dtype.char in "lq" else x.dtype.char
    run.mean = mean
    work = x.size + out.size
    thread_pool.run(run.run_partition, min(thread_pool.partition_count(2 * work), max(run.planes, 1)))
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
