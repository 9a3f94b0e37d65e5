"""Matrix multiplication of bfloat16 operands by AVX512_BF16, with cache blocking and tasks for threads.

Input: bfloat16 matrices or stacks of matrices. Output: their product with a scale, a summand or a bias. The sums
are float32, and each element is rounded once.

    few rows     loops that read both matrices without packing, unless the cache has the packed right matrix
    other sizes  for each block of columns:     pack the columns as pairs, unless the cache has them
                     for each block of rows:    multiply the rows by the panels (`bfloat16_microkernels.pyx`)

The algorithm depends only on shapes and layouts, so that the bits do not depend on the number of threads.
"""

cimport cython
cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of, size_of, strides_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.value.no_python_construction cimport seal
from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.bfloat16_microkernels cimport (
    PANEL_COLUMNS, LeftOperand, PairStore, can_multiply_unpacked, has_bfloat16_tiles, moved_store, multiply_pairs,
    multiply_unpacked, pack_pairs, packed_pairs_bytes, prepare_left_operand,
)
from ts.backends.cpu.kernels.blas_matrix cimport AS_IT_IS, Matrix, as_matrix
from ts.backends.cpu.kernels.gemm_tiles cimport Packed, new_packed
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS
from ts.backends.cpu.kernels.matmul cimport MIN_MULTIPLICATIONS_WITHOUT_GIL
from ts.backends.cpu.kernels.matrix_stacks cimport Stacks, next_stack, read_stacks
from ts.backends.cpu.kernels.packed_operand_cache cimport CacheEntry, cached_in_layout
from ts.backends.cpu.kernels.parallel_for cimport parallel_for, partition_count
from ts.backends.cpu.kernels.short_floats cimport BFLOAT16
from ts.backends.cpu.kernels.tensor_iterator cimport contiguous_copy

cdef extern from *:
    int64_t fetch_and_add "__sync_fetch_and_add"(int64_t *, int64_t) noexcept nogil

cnp.import_array()

cdef enum:
    MAX_LEFT_BYTES = 1 << 19           # maximal size of a block of rows of the left operand: half of the L2 cache
    MAX_RIGHT_BYTES = 1 << 18          # maximal size of the packed columns of a task
    MIN_BLOCK_ROWS = 24
    # Estimates of the number of multiplications per 0.5 ns
    TILE_SPEED = 128
    UNPACKED_SPEED = 16                # memory bandwidth limits the speed


@cython.final
cdef class PairJob:
    """A stack of products, divided into tasks. A task computes one block of rows and columns of one product."""

    cdef Matrix left
    cdef Matrix right
    cdef PairStore store               # describes the first element of the first product
    cdef object packed                 # keeps `panels` alive
    cdef const char *panels            # packed right operand, or NULL
    cdef bint unpacked                 # whether the tasks use `multiply_unpacked`
    cdef int64_t count                 # number of products of the stack
    # distances in bytes between the operands of consecutive products
    cdef int64_t left_batch_bytes
    cdef int64_t right_batch_bytes
    cdef int64_t out_batch_bytes
    cdef int64_t rows                  # number of rows of a task
    cdef int64_t columns               # number of columns of a task
    cdef int64_t row_tasks
    cdef int64_t column_tasks
    cdef Py_ssize_t partition_count    # number of threads
    cdef int64_t next                  # index of the next task that a thread takes

    cdef double work(self) noexcept nogil:
        """Return the number of multiplications of the stack."""
        return <double>self.left.rows * self.right.columns * self.left.columns * self.count

    cdef void divide(self) noexcept nogil:
        """Choose the number of threads and the size of the tasks."""
        cdef int64_t m = self.left.rows, n = self.right.columns, depth_bytes = 2 * self.left.columns, min_tasks
        self.unpacked = self.panels == NULL and can_multiply_unpacked(&self.left)
        self.partition_count = partition_count(self.work() / (UNPACKED_SPEED if self.unpacked else TILE_SPEED))
        min_tasks = 3 * self.partition_count if self.partition_count > 1 else 1
        self.rows = min(m, max(MAX_LEFT_BYTES // depth_bytes // MIN_BLOCK_ROWS, 1) * MIN_BLOCK_ROWS)
        self.columns = (n + PANEL_COLUMNS - 1) // PANEL_COLUMNS * PANEL_COLUMNS
        if self.panels == NULL and not self.unpacked:
            self.columns = min(self.columns, max(MAX_RIGHT_BYTES // depth_bytes // PANEL_COLUMNS, 1) * PANEL_COLUMNS)
        while True:
            self.row_tasks = (m + self.rows - 1) // self.rows
            self.column_tasks = (n + self.columns - 1) // self.columns
            if self.count * self.row_tasks * self.column_tasks >= min_tasks:
                return
            if self.columns > PANEL_COLUMNS:
                self.columns = (self.columns // PANEL_COLUMNS + 1) // 2 * PANEL_COLUMNS
            elif self.rows > 2 * MIN_BLOCK_ROWS:
                self.rows = (self.rows + 2 * MIN_BLOCK_ROWS - 1) // (2 * MIN_BLOCK_ROWS) * MIN_BLOCK_ROWS
            else:
                return

    cdef int run_partitions(self) noexcept nogil:
        cdef Py_ssize_t partitions = min(self.partition_count, self.count * self.row_tasks * self.column_tasks)
        self.next = 0
        if partitions <= 1:
            return self.run_tasks()
        return parallel_for(run_tasks_of_job, <void *>self, partitions)

    cdef int run_tasks(self) noexcept nogil:
        """Run tasks until none remain. Return -1 if memory is exhausted."""
        cdef int64_t depth = self.left.columns, task, item, block, row, row_end, column, column_end, packed_block = -1
        cdef int64_t right_bytes = packed_pairs_bytes(depth, self.columns) if self.panels == NULL and not self.unpacked else 0
        cdef int64_t left_bytes = packed_pairs_bytes(depth, self.rows) if self.left.flag != AS_IT_IS else 0
        cdef char *buffer = NULL
        cdef Matrix left = self.left, right = self.right
        cdef const char *panels
        cdef LeftOperand rows
        cdef PairStore store
        if left_bytes + right_bytes > 0:
            buffer = <char *>malloc_aligned(<size_t>(left_bytes + right_bytes))
            if buffer == NULL:
                return -1
        while True:
            task = fetch_and_add(&self.next, 1)
            if task >= self.count * self.row_tasks * self.column_tasks:
                break
            block = task // self.row_tasks
            item = block // self.column_tasks
            row, column = task % self.row_tasks * self.rows, block % self.column_tasks * self.columns
            row_end, column_end = min(row + self.rows, left.rows), min(column + self.columns, right.columns)
            left.data = self.left.data + item * self.left_batch_bytes
            right.data = self.right.data + item * self.right_batch_bytes
            store = moved_store(&self.store, row, column)
            store.out = <char *>store.out + item * self.out_batch_bytes
            if self.store.summand_pitch != 0:  # the summand is in `out`
                store.summand = store.out
            if self.unpacked:
                multiply_unpacked(&left, &right, column, column_end, store)
                continue
            if self.panels != NULL:
                panels = self.panels + packed_pairs_bytes(depth, column)
            else:
                panels = buffer
                if block != packed_block:
                    pack_pairs(&right, column, column_end, buffer)
                    packed_block = block
            rows = prepare_left_operand(&left, row, row_end, buffer + right_bytes)
            multiply_pairs(&rows, panels, column_end - column, store)
        free(buffer)
        return 0

    cdef int run_stacks(self, Stacks *s) noexcept nogil:
        """Run the job for all batch dimensions."""
        cdef npy_intp index[MAX_DIMS]
        cdef char *out = <char *>self.store.out
        cdef int d, code
        for d in range(s.n):
            index[d] = 0
        while True:
            code = self.run_partitions()
            if code or not next_stack(s, index, &self.left.data, &self.right.data, &out):
                return code
            self.store.out = out


seal(PairJob)


cdef int run_tasks_of_job(void *job, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
    """Run tasks until none remain."""
    return (<PairJob>job).run_tasks()


cdef bint read_matrix(Matrix *m, PyArrayObject *a) noexcept:
    """Set `m` to describe the first matrix of the stack `a`.

    Return False if neither the rows nor the columns of that matrix are contiguous.
    """
    cdef int last = ndim_of(a) - 2
    return as_matrix(m, data_of(a), dims_of(a) + last, strides_of(a) + last, 2, False)


cdef bint multiply_bfloat16_into(object a, object b, object c, double alpha, double beta, object bias, Packed packed) except -1:
    cdef PyArrayObject *z = <PyArrayObject *>c
    cdef int ndim = ndim_of(z), last, code
    cdef Stacks stacks
    cdef PairJob job = PairJob.__new__(PairJob)
    if not has_bfloat16_tiles() or ndim < 2 or size_of(<PyArrayObject *>a) == 0 or size_of(<PyArrayObject *>b) == 0:
        return False
    if not flags_of(z) & cnp.NPY_ARRAY_C_CONTIGUOUS:
        return False
    if not read_matrix(&job.left, <PyArrayObject *>a):
        a = contiguous_copy(<PyArrayObject *>a)
        read_matrix(&job.left, <PyArrayObject *>a)
    if not read_matrix(&job.right, <PyArrayObject *>b):
        b = contiguous_copy(<PyArrayObject *>b)
        read_matrix(&job.right, <PyArrayObject *>b)
    if job.left.columns != job.right.rows or job.left.rows != dims_of(z)[ndim - 2] or job.right.columns != dims_of(z)[ndim - 1]:
        return False
    if not read_stacks(&stacks, <PyArrayObject *>a, <PyArrayObject *>b, z):
        return False
    job.store.out, job.store.pitch, job.store.wide = data_of(z), job.right.columns, False
    job.store.alpha, job.store.beta = <float>alpha, <float>beta
    job.store.summand, job.store.summand_pitch, job.store.row_bias = NULL, 0, NULL
    if bias is not None:
        job.store.summand, job.store.beta = data_of(<PyArrayObject *>bias), 1
    elif beta != 0:
        job.store.summand, job.store.summand_pitch = data_of(z), job.right.columns
    job.packed, job.panels = packed, NULL
    if packed is not None:
        job.panels = <const char *>packed.panels.memory
    last = stacks.n - 1
    job.count = stacks.dims[last]
    job.left_batch_bytes, job.right_batch_bytes = stacks.strides[0][last], stacks.strides[1][last]
    job.out_batch_bytes = stacks.strides[2][last]
    job.divide()
    if job.partition_count <= 1 and job.work() < MIN_MULTIPLICATIONS_WITHOUT_GIL:
        code = job.run_stacks(&stacks)
    else:
        with nogil:
            code = job.run_stacks(&stacks)
    if code:
        raise MemoryError()
    return True


# ---------------------------------------------------------------- packed operands in the cache

cdef Packed pack_matrix(const void *context, CacheEntry entry):
    cdef Packed result = new_packed(packed_pairs_bytes(entry.matrix.rows, entry.matrix.columns))
    if result is not None:
        result.panels.rows, result.panels.columns, result.panels.wide = entry.matrix.rows, entry.matrix.columns, PANEL_COLUMNS
        pack_pairs(&entry.matrix, 0, entry.matrix.columns, <char *>result.panels.memory)
    return result


cdef Packed cached_pairs_for(Tensor x, Tensor y, bint transposed):
    cdef PyArrayObject *a
    cdef PyArrayObject *b
    cdef Matrix left, right
    if not has_bfloat16_tiles() or x.scalar_type != BFLOAT16 or y.scalar_type != BFLOAT16:
        return None
    if x.backend != BACKEND_CPU or y.backend != BACKEND_CPU:
        return None
    a, b = <PyArrayObject *>x.array, <PyArrayObject *>y.array
    if ndim_of(a) < 2 or ndim_of(b) != 2 or size_of(a) == 0 or size_of(b) == 0:
        return None
    if not as_matrix(&right, data_of(b), dims_of(b), strides_of(b), 2, transposed):
        return None
    if not read_matrix(&left, a):  # a contiguous copy is multiplied
        left.flag = AS_IT_IS
    left.rows = size_of(a) // dims_of(a)[ndim_of(a) - 1]
    if right.flag != AS_IT_IS and can_multiply_unpacked(&left):  # dot products have other bits than packed columns
        return None
    return cached_in_layout(y, False, &right, b"bfloat16 pairs", pack_matrix, NULL, 0)
