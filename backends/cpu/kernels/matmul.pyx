"""Matrix multiplication with kernel selection by a heuristic, without calls of NumPy.

Input: two matrices of one floating dtype. Output: their product.

The choice of the algorithm depends only on shapes, layouts and the processor's vector width. It is not tuned
at run time. Therefore, a product has the same bits in each run, for every number of threads. The algorithms
are:

    few rows     loops that read both matrices in place (`skinny_gemm.pyx`)
    tiles        the tiles of `gemm_tiles.pyx`
    BLAS         the library found by `ts.backends.cpu.blas`
    loop         the inner loop of np.matmul, for strides that no other algorithm supports

`python -m benchmarks products` measures the thresholds of the heuristic.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts.backends.cpu.kernels cimport blas_thread_limit
from ts.backends.cpu.kernels.skinny_gemm cimport can_use_skinny_gemm, skinny_gemm, skinny_gemm_uses_panels
from ts.backends.cpu.kernels.blas_gemm cimport gemm, load_library
from ts.backends.cpu.kernels.blas_matrix cimport AS_IT_IS, Epilogue, GemmEpilogue, Matrix, as_matrix
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, RELEASE_GIL_FROM, PyArrayObject
from ts._core.tensor.ndarray cimport data_of, dims_of, flags_of, ndim_of, new_array, size_of, strides_of
from ts.backends.cpu.kernels.matrix_stacks cimport Stacks, next_stack, read_stacks
from ts.backends.cpu.kernels.packed_operand_cache cimport cached_panels
from ts.backends.cpu.kernels.gil cimport ReleasedGil, release_gil_for_arrays, take_gil
from ts.backends.cpu.kernels.parallel_for cimport parallel_for, partition_count
from ts.backends.cpu.kernels.elementwise cimport Loop, scalar_type_of_character
from ts._core.tensor.scalar_types cimport number_of_scalar_type
from ts._core.tensor.tensor cimport BACKEND_CPU, wrap_cpu
from ts._core.value.no_python_construction cimport seal
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS
from ts.backends.cpu.kernels.tensor_iterator cimport contiguous_copy
from ts.backends.cpu.kernels.gemm_tiles cimport (
    BLOCK_COLUMNS, BLOCK_ROWS, Packed, Panels, has_fast_tiles, narrow_columns, packed_block, packed_columns, panel_columns, tiled_block
)

from ts.backends.cpu import blas

cdef extern from *:
    int64_t fetch_and_add "__sync_fetch_and_add"(int64_t *, int64_t) noexcept nogil

cnp.import_array()
cnp.import_ufunc()


# ---------------------------------------------------------------- BLAS

cdef enum:
    UNKNOWN = -1
    MIN_MULTIPLICATIONS_THREADED_BLAS = 4096  # minimal size of a product for which BLAS may use several threads
    MAX_PANEL_MULTIPLICATIONS = 1 << 23       # maximal size of a BLAS call. A larger product needs several calls,
    PANEL_SIDE = 256                          # unless it has at most this many rows and at most this many columns
    MATVEC_ELEMENTS_PER_CALL = 1 << 18        # matrix elements per BLAS call in matrix-vector products
    MATVEC_COLUMNS_PER_CALL = 1024  # minimal number of result elements per BLAS call, unless each of them is a dot product of contiguous elements
    MIN_MULTIPLICATIONS_TILED = 1 << 15       # minimal size of a product for which tiles are faster, although they need packed operands

cdef int library_bits = UNKNOWN        # integer width of the BLAS library in bits, or 0 if none was found
cdef bint tiled = False  # True if `tiled_block` is preferred to BLAS: it is fast on this CPU, and the user chose no BLAS library


cdef int find_library() except -1:
    global library_bits, tiled
    library_bits = load_library()
    tiled = library_bits != 0 and has_fast_tiles() and not blas.library().chosen
    return 0


cdef bint fits_library(Matrix *m) noexcept nogil:
    cdef int64_t limit = 0x7fffffff
    return library_bits == 64 or (m.rows <= limit and m.columns <= limit and m.pitch <= limit)


# ---------------------------------------------------------------- NumPy's loop

cdef Loop matmul_loop[2]               # inner loops of np.matmul for float32 and float64


cdef int _find_matmul() except -1:
    cdef cnp.ufunc ufunc = np.matmul
    types = np.matmul.types
    cdef int i, kind
    matmul_loop[0] = matmul_loop[1] = NULL
    for i in range(ufunc.ntypes):
        kind = scalar_type_of_character(types[i][0])
        if kind == FLOAT or kind == DOUBLE:
            matmul_loop[kind - FLOAT] = <Loop>ufunc.functions[i]
    return 0


_find_matmul()


# ---------------------------------------------------------------- products divided among threads

@cython.final
cdef class Job:
    """A product or a stack of products, divided into tasks. A task computes one block of rows and columns."""

    cdef double work(self) noexcept nogil:
        """Return the number of scalar multiplications of one product."""
        return <double>self.left.rows * self.right.columns * max(self.left.columns, <int64_t>1)

    cdef int divide(self) except -1:
        """Choose the number of threads and the size of the tasks."""
        cdef int64_t m = self.left.rows, n = self.right.columns
        cdef double total = self.work() * self.count * (1 if self.kind < 2 else 4)
        # Estimate the time of the products. The unit is the one of `partition_count`, about 0.5 ns.
        self.partition_count = partition_count(total / 4 if self.algorithm == BY_LOOP else total / 64)
        self.rows, self.columns = m, n
        if self.algorithm == BY_TILES:
            self.divide_tiles(self.partition_count)
        elif self.algorithm == BY_ROWS:
            if self.partition_count > 1:
                self.columns = panel_columns(self.kind == 1)
                self.columns *= max((n + 2 * self.partition_count - 1) // (2 * self.partition_count) // self.columns, <int64_t>1)
        elif self.algorithm == BY_BLAS:
            while <double>self.rows * self.columns * self.left.columns > MAX_PANEL_MULTIPLICATIONS and max(self.rows, self.columns) > PANEL_SIDE:
                if self.rows > self.columns:
                    self.rows = (self.rows + 31) // 32 * 16
                else:
                    self.columns = (self.columns + 31) // 32 * 16
        elif m == 1:
            self.columns = self.vector_panel(self.right_strides[0])
        else:
            self.rows = self.vector_panel(self.left_strides[1])
        self.rows, self.columns = max(min(self.rows, m), <int64_t>1), max(min(self.columns, n), <int64_t>1)
        self.row_tasks = (m + self.rows - 1) // self.rows
        self.column_tasks = (n + self.columns - 1) // self.columns
        # Only full blocks of columns get a task. The last task of a row also computes the remaining columns,
        # which may be too few for a SIMD vector.
        if self.algorithm == BY_ROWS:
            self.column_tasks = max(n // self.columns, <int64_t>1)
        self.limited = (self.algorithm == BY_BLAS or self.algorithm == BY_LOOP) and self.work() >= MIN_MULTIPLICATIONS_THREADED_BLAS
        return 0

    cdef void set_panels(self, Packed packed) noexcept:
        """Set the packed right operand, unless `packed` is None."""
        if packed is not None:
            self.packed, self.panels = packed, packed.panels

    cdef Packed pack(self, Packed before):
        """Pack the right operand if packed columns make the product faster, and return the panels.

        Otherwise, return `before`, which is None or the result of an earlier call. Panels in `before` are
        reused if their shape matches.
        """
        cdef bint double_ = self.kind == 1
        cdef int64_t wide = panel_width(self.algorithm, double_)
        if not packing_pays(self.algorithm, double_, &self.left, &self.right):
            return before
        if before is None or not panels_match(&before.panels, &self.right, wide):
            before = packed_columns(double_, &self.right, wide)
        self.set_panels(before)
        return before

    cdef int run(self) except -1:
        """Compute the product."""
        self.divide()
        if not self.limited:
            return self.run_partitions()
        blas_thread_limit.begin()
        try:
            return self.run_partitions()
        finally:
            blas_thread_limit.end()

    cdef int run_again(self) noexcept nogil:
        """Compute the product again with the current contents of the operands.

        The caller must first call `divide`, and also `blas_thread_limit.begin` if `limited` is True.
        """
        self.next = 0
        return self.run_tasks()

    cdef int64_t vector_panel(self, int64_t inner_stride) noexcept:
        """Return the number of result elements that each call of a matrix-vector product computes.

        The number is at least 16 if each element is a dot product of contiguous elements. Otherwise, it is at
        least MATVEC_COLUMNS_PER_CALL.
        """
        cdef int64_t depth = max(self.left.columns, <int64_t>1)
        return max(
            MATVEC_ELEMENTS_PER_CALL // depth // 16 * 16,
            <int64_t>(16 if inner_stride == self.itemsize else MATVEC_COLUMNS_PER_CALL),
        )

    cdef int run_partitions(self) except -1:
        cdef Py_ssize_t partitions = min(self.partition_count, self.count * self.row_tasks * self.column_tasks)
        cdef void *job = <void *>self
        cdef int code
        self.next = 0
        if partitions <= 1 and self.work() * self.count < MIN_MULTIPLICATIONS_WITHOUT_GIL:
            code = self.run_tasks()
        else:
            with nogil:
                code = parallel_for(run_tasks_of_job, job, max(partitions, 1))
        if code:
            raise MemoryError()
        return 0

    cdef int divide_tiles(self, Py_ssize_t partition_count) except -1:
        """Choose a block size so that a block fits in the L2 cache.

        For more than one partition, the blocks are also small enough for three blocks per partition, if
        possible.
        """
        cdef int64_t wide = panel_columns(self.kind == 1)
        cdef int64_t min_tasks = 3 * partition_count if partition_count > 1 else 1
        self.rows = min(self.rows, <int64_t>BLOCK_ROWS)
        self.columns = min((self.columns + wide - 1) // wide * wide, <int64_t>BLOCK_COLUMNS // wide * wide)
        while (
            self.count * ((self.left.rows + self.rows - 1) // self.rows)
            * ((self.right.columns + self.columns - 1) // self.columns) < min_tasks
        ):
            if self.columns > wide:
                self.columns = (self.columns // wide + 1) // 2 * wide
            elif self.rows > 64:
                self.rows = (self.rows + 15) // 16 * 8
            else:
                break
        return 0

    cdef int run_tasks(self) noexcept nogil:
        cdef int64_t tasks_per_product = self.row_tasks * self.column_tasks, task, item, row, column, row_end, column_end
        cdef Matrix left = self.left, right = self.right
        cdef char *out
        while True:
            task = fetch_and_add(&self.next, 1)
            if task >= tasks_per_product * self.count:
                return 0
            item = task // tasks_per_product
            task %= tasks_per_product
            row = task // self.column_tasks * self.rows
            column = task % self.column_tasks * self.columns
            row_end = min(row + self.rows, self.left.rows)
            column_end = min(column + self.columns, self.right.columns)
            left.data = self.left.data + item * self.left_batch_stride
            right.data = self.right.data + item * self.right_batch_stride
            out = self.out + item * self.out_batch_stride
            if self.algorithm == BY_ROWS:
                if task % self.column_tasks == self.column_tasks - 1:
                    column_end = self.right.columns
                skinny_gemm(
                    self.kind == 1, &left, &right, column, column_end, out, self.pitch, self.finish.alpha, self.finish.bias,
                    &self.panels if self.panels.memory != NULL else NULL,
                )
                self.end_block(out + column * self.itemsize, row, column, left.rows, column_end - column)
                continue
            if self.algorithm == BY_TILES and self.panels.memory != NULL:
                packed_block(&self.panels, &left, row, row_end, column, column_end, out, self.pitch, &self.finish)
                continue
            if self.algorithm == BY_TILES:
                if tiled_block(
                    self.kind == 1, &left, &right, row, row_end, column, column_end, out, self.pitch, self.beta, &self.finish
                ) < 0:
                    return -1
                continue
            out += (row * self.pitch + column) * self.itemsize
            left.rows = row_end - row
            right.columns = column_end - column
            if self.algorithm == BY_LOOP:
                left.data += row * self.left_strides[0]
                right.data += column * self.right_strides[1]
                self.run_loop(&left, &right, out)
            else:
                left.data += row * (left.pitch if left.flag == AS_IT_IS else 1) * self.itemsize
                right.data += column * (1 if right.flag == AS_IT_IS else right.pitch) * self.itemsize
                gemm(self.kind, &left, &right, out, self.pitch, self.finish.alpha, self.beta)
                self.end_block(out, row, column, left.rows, right.columns)

    cdef void end_block(self, char *product, int64_t row, int64_t column, int64_t rows, int64_t columns) noexcept nogil:
        """Apply the epilogue to a block that was computed by BLAS or `skinny_gemm`."""
        if self.finish.epilogue != NULL:
            self.finish.epilogue(self.finish.context, self.kind == 1, product, self.pitch, row, column, rows, columns)

    cdef void run_loop(self, Matrix *left, Matrix *right, char *out) noexcept nogil:
        cdef npy_intp sizes[4]
        cdef npy_intp strides[9]
        cdef char *args[3]
        sizes[0], sizes[1], sizes[2], sizes[3] = 1, left.rows, left.columns, right.columns
        strides[0] = strides[1] = strides[2] = 0
        strides[3], strides[4] = self.left_strides[0], self.left_strides[1]
        strides[5], strides[6] = self.right_strides[0], self.right_strides[1]
        strides[7], strides[8] = self.pitch * self.itemsize, self.itemsize
        args[0], args[1], args[2] = left.data, right.data, out
        matmul_loop[self.kind](args, sizes, strides, NULL)


seal(Job)


cdef int run_tasks_of_job(void *job, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
    """Run tasks until none remain."""
    return (<Job>job).run_tasks()


def use_tiles(bint use):
    """Select this package's tiles (`use` True) or BLAS for matrix products. Return the previous setting."""
    global tiled
    if library_bits == UNKNOWN:
        find_library()
    before = tiled
    tiled = use
    return before


cdef bint can_use_tiles(int kind, Matrix *a, Matrix *b) noexcept nogil:
    """Return whether this package's tile kernels are enabled and are faster than BLAS for the product."""
    return (
        tiled and kind < 2 and a.rows > 4 and b.columns >= 16 and a.columns >= 16
        and <double>a.rows * a.columns * b.columns >= MIN_MULTIPLICATIONS_TILED
    )


cdef GemmAlgorithm choose_algorithm(int kind, Matrix *a, Matrix *b, double beta) noexcept nogil:
    """Return the fastest algorithm for a product of matrices with layouts that BLAS supports."""
    if kind < 2 and beta == 0 and can_use_skinny_gemm(kind == 1, a, b):
        return BY_ROWS
    return BY_TILES if can_use_tiles(kind, a, b) else BY_BLAS


cdef int64_t panel_width(GemmAlgorithm algorithm, bint double_) noexcept nogil:
    """Return the number of columns of a packed panel for the algorithm."""
    return panel_columns(double_) if algorithm == BY_TILES else narrow_columns(double_)


cdef bint panels_match(const Panels *panels, Matrix *b, int64_t wide) noexcept nogil:
    return panels.rows == b.rows and panels.columns == b.columns and panels.wide == wide


cdef bint packing_pays(GemmAlgorithm algorithm, bint double_, Matrix *a, Matrix *b) noexcept nogil:
    """Return whether packed columns of `b` make the product faster, apart from the time for packing."""
    return algorithm == BY_TILES or (algorithm == BY_ROWS and skinny_gemm_uses_panels(double_, a, b))


cdef void fill_rows(char *out, int64_t rows, int64_t columns, const char *row, int64_t itemsize) noexcept nogil:
    cdef int64_t r
    for r in range(rows):
        memcpy(out + r * columns * itemsize, row, columns * itemsize)


cdef bint is_row(object array, npy_intp columns, int type_number) noexcept:
    cdef PyArrayObject *a = <PyArrayObject *>array
    return (
        1 <= ndim_of(a) <= 2 and size_of(a) == columns == dims_of(a)[ndim_of(a) - 1] and cnp.PyArray_TYPE(<cnp.ndarray>array) == type_number
        and flags_of(a) & cnp.NPY_ARRAY_C_CONTIGUOUS and flags_of(a) & cnp.NPY_ARRAY_ALIGNED
    )


cdef int64_t *ITEM_SIZES = [4, 8, 8, 16]


cdef int dtype_index(a) except -2:
    """Return the code of an array's dtype that `gemm` expects, or -1 for an unsupported dtype."""
    cdef int type_number = cnp.PyArray_TYPE(<cnp.ndarray>a)
    if not cnp.PyArray_ISNOTSWAPPED(<cnp.ndarray>a):
        return -1
    if type_number == cnp.NPY_FLOAT:
        return 0
    if type_number == cnp.NPY_DOUBLE:
        return 1
    if type_number == cnp.NPY_CFLOAT:
        return 2
    return 3 if type_number == cnp.NPY_CDOUBLE else -1


def multiply(cnp.ndarray a not None, cnp.ndarray b not None, cnp.ndarray c not None, double alpha, double beta):
    """Compute c = alpha * a @ b + beta * c for matrices or stacks. Return False if they are unsupported.

    The arrays must be non-empty, with equal dtypes, and broadcast to the shape of the C-contiguous `c`. If
    `beta` is 0, c is not read.
    """
    return multiply_into(a, b, c, alpha, beta, None, None, NULL, NULL)


cdef Job make_job(object a, object b, object c):
    cdef Job job = Job.__new__(Job)
    job.kind = dtype_index(c)
    if library_bits <= 0 or not 0 <= job.kind < 2:
        return None
    a, b = ensure_blas_layout(a, job.kind), ensure_blas_layout(b, job.kind)
    read_matrix(&job.left, <PyArrayObject *>a, ITEM_SIZES[job.kind])
    read_matrix(&job.right, <PyArrayObject *>b, ITEM_SIZES[job.kind])
    if not fits_library(&job.left) or not fits_library(&job.right):
        return None
    job.left_array, job.right_array, job.out_array = a, b, c
    job.algorithm = choose_algorithm(job.kind, &job.left, &job.right, 0)
    job.itemsize, job.out, job.pitch = ITEM_SIZES[job.kind], data_of(<PyArrayObject *>c), job.right.columns
    job.finish.alpha, job.beta, job.count = 1, 0, 1
    job.left_batch_stride = job.right_batch_stride = job.out_batch_stride = 0
    job.divide()
    return job


cdef bint multiply_into(
    object a, object b, object c, double alpha, double beta, object bias, Packed packed, Epilogue epilogue, void *context
) except -1:
    cdef PyArrayObject *x = <PyArrayObject *>a
    cdef PyArrayObject *y = <PyArrayObject *>b
    cdef PyArrayObject *z = <PyArrayObject *>c
    cdef Stacks stacks
    cdef Matrix left, right
    cdef GemmEpilogue finish
    cdef int ndim = ndim_of(z), kind = dtype_index(c)
    cdef npy_intp pitch
    if library_bits == UNKNOWN:
        find_library()
    if library_bits == 0 or kind < 0 or ndim < 2 or size_of(x) == 0 or size_of(y) == 0:
        return False
    if not (2 <= ndim_of(x) <= ndim and 2 <= ndim_of(y) <= ndim and dtype_index(a) == dtype_index(b) == kind):
        return False
    if not flags_of(z) & cnp.NPY_ARRAY_C_CONTIGUOUS or not flags_of(z) & cnp.NPY_ARRAY_WRITEABLE:
        return False
    a, b = ensure_blas_layout(a, kind), ensure_blas_layout(b, kind)
    x, y = <PyArrayObject *>a, <PyArrayObject *>b
    pitch = dims_of(z)[ndim - 1]
    read_matrix(&left, x, ITEM_SIZES[kind])
    read_matrix(&right, y, ITEM_SIZES[kind])
    if left.columns != right.rows or left.rows != dims_of(z)[ndim - 2] or right.columns != pitch:
        return False
    if not fits_library(&left) or not fits_library(&right) or not read_stacks(&stacks, x, y, z):
        return False
    finish.alpha, finish.bias = alpha, NULL if bias is None else data_of(<PyArrayObject *>bias)
    finish.epilogue, finish.context = epilogue, context
    run_stacks(a, b, c, bias, packed, kind, &left, &right, &stacks, pitch, beta, &finish)
    return True


cdef bint read_matrix(Matrix *m, PyArrayObject *a, int64_t itemsize) noexcept:
    """Set `m` to describe the first matrix of the stack `a` for BLAS.

    Return False if `a` is not aligned, or if its matrices have neither contiguous rows nor contiguous
    columns.
    """
    cdef int last = ndim_of(a) - 2
    if not flags_of(a) & cnp.NPY_ARRAY_ALIGNED:
        return False
    return as_matrix(m, data_of(a), dims_of(a) + last, strides_of(a) + last, itemsize, False)


cdef object ensure_blas_layout(object a, int kind):
    """Return `a` if the rows or the columns of its matrices are contiguous, else a contiguous copy."""
    cdef Matrix m
    return a if read_matrix(&m, <PyArrayObject *>a, ITEM_SIZES[kind]) else contiguous_copy(<PyArrayObject *>a)


cdef int run_stacks(
    object a, object b, object c, object bias, Packed packed, int kind, Matrix *left, Matrix *right, Stacks *s, npy_intp pitch, double beta,
    GemmEpilogue *finish
) except -1:
    """Compute the products of all stacked matrices. Large products are divided among threads."""
    cdef double work = <double>left.rows * left.columns * pitch, total = work
    cdef int last = s.n - 1, d
    cdef GemmAlgorithm algorithm = choose_algorithm(kind, left, right, beta)
    cdef char *out = data_of(<PyArrayObject *>c)
    cdef Job job
    if packed is not None and (beta != 0 or s.strides[1][last] != 0 or not panels_match(&packed.panels, right, panel_width(algorithm, kind == 1))):
        packed = None
    for d in range(s.n):
        total *= s.dims[d]
    if algorithm == BY_BLAS and finish.bias != NULL:
        fill_rows(out, size_of(<PyArrayObject *>c) // pitch, pitch, finish.bias, ITEM_SIZES[kind])
        beta, finish.bias = 1, NULL
    if (algorithm == BY_ROWS and total < MIN_MULTIPLICATIONS_WITHOUT_GIL) or (kind < 2 and work < MIN_MULTIPLICATIONS_THREADED_BLAS):
        run_small(a, b, packed, algorithm, kind, left, right, s, out, pitch, total, beta, finish)
        return 0
    job = Job.__new__(Job)
    job.left_array, job.right_array, job.out_array, job.bias_array, job.algorithm = a, b, c, bias, algorithm
    job.kind, job.itemsize, job.left, job.right = kind, ITEM_SIZES[kind], left[0], right[0]
    job.out, job.pitch, job.finish, job.beta = out, pitch, finish[0], beta
    job.set_panels(packed)
    job.count, job.left_batch_stride, job.right_batch_stride, job.out_batch_stride = s.dims[last], s.strides[0][last], s.strides[1][last], s.strides[2][last]
    job.divide()
    if not job.limited:
        return run_job(job, s, total)
    blas_thread_limit.begin()
    try:
        return run_job(job, s, total)
    finally:
        blas_thread_limit.end()


cdef int run_job(Job job, Stacks *s, double total) except -1:
    """Run the job for each stack of matrices in `s`.

    A job with several partitions runs on several threads. Any other job releases the GIL if `total`, the
    number of multiplications, is large.
    """
    cdef npy_intp index[MAX_DIMS]
    cdef int d, done
    for d in range(s.n):
        index[d] = 0
    if job.partition_count > 1:
        job.run_partitions()
        while next_stack(s, index, &job.left.data, &job.right.data, &job.out):
            job.run_partitions()
        return 0
    if total < MIN_MULTIPLICATIONS_WITHOUT_GIL:
        done = run_each(job, s, index)
    else:
        with nogil:
            done = run_each(job, s, index)
    if done < 0:
        raise MemoryError()
    return 0


cdef int run_each(Job job, Stacks *s, npy_intp *index) noexcept nogil:
    while True:
        if job.run_again() < 0:
            return -1
        if not next_stack(s, index, &job.left.data, &job.right.data, &job.out):
            return 0


cdef void run_small(
    object a, object b, Packed packed, GemmAlgorithm algorithm, int kind, Matrix *left, Matrix *right, Stacks *s, char *out, npy_intp pitch, double total,
    double beta, GemmEpilogue *finish,
) noexcept:
    """Compute small products one after the other, without creating a job."""
    cdef npy_intp index[MAX_DIMS]
    cdef Matrix x = left[0], y = right[0]
    cdef int last = s.n - 1, d
    cdef npy_intp i
    cdef Panels *panels = NULL if packed is None else &packed.panels
    cdef ReleasedGil gil_state = release_gil_for_arrays(
        RELEASE_GIL_FROM if total >= MIN_MULTIPLICATIONS_WITHOUT_GIL else 0, <PyArrayObject *>a, <PyArrayObject *>b
    )
    for d in range(s.n):
        index[d] = 0
    while True:
        for i in range(s.dims[last]):
            if algorithm == BY_ROWS:
                skinny_gemm(kind == 1, &x, &y, 0, y.columns, out, pitch, finish.alpha, finish.bias, panels)
            else:
                gemm(kind, &x, &y, out, pitch, finish.alpha, beta)
            if finish.epilogue != NULL:
                finish.epilogue(finish.context, kind == 1, out, pitch, 0, 0, x.rows, pitch)
            x.data += s.strides[0][last]
            y.data += s.strides[1][last]
            out += s.strides[2][last]
        x.data -= s.strides[0][last] * s.dims[last]
        y.data -= s.strides[1][last] * s.dims[last]
        out -= s.strides[2][last] * s.dims[last]
        if not next_stack(s, index, &x.data, &y.data, &out):
            break
    take_gil(gil_state)


# ---------------------------------------------------------------- products of two matrices


cdef PyObject *matrix_product(Tensor x, Tensor y, bint transposed, object bias) except? NULL:
    """Return x @ y, or x @ y.T if `transposed`, plus the row `bias`.

    Return NULL if the operands are unsupported.
    """
    cdef PyArrayObject *a
    cdef PyArrayObject *b
    cdef npy_intp shape[2]
    cdef int kind = x.scalar_type, inner = 1 if transposed else 0
    cdef object result
    cdef Matrix left, right
    cdef bint plain
    cdef GemmAlgorithm algorithm = BY_LOOP
    cdef double work
    cdef char *out
    cdef char *row = NULL
    cdef Packed packed
    if x.backend != BACKEND_CPU or y.backend != BACKEND_CPU or kind != y.scalar_type:
        return NULL
    if kind != FLOAT and kind != DOUBLE:
        return NULL
    a = <PyArrayObject *>x.array
    b = <PyArrayObject *>y.array
    if ndim_of(a) != 2 or ndim_of(b) != 2 or not flags_of(a) & flags_of(b) & cnp.NPY_ARRAY_ALIGNED:
        return NULL
    if dims_of(a)[1] != dims_of(b)[inner]:
        return NULL
    shape[0] = dims_of(a)[0]
    shape[1] = dims_of(b)[1 - inner]
    if bias is not None:
        if not is_row(bias, shape[1], number_of_scalar_type(kind)):
            return NULL
        row = data_of(<PyArrayObject *>bias)
    if library_bits == UNKNOWN:
        find_library()
    plain = (
        library_bits > 0 and shape[0] > 0 and shape[1] > 0 and dims_of(a)[1] > 0
        and as_matrix(&left, data_of(a), dims_of(a), strides_of(a), 8 if kind == DOUBLE else 4, False)
        and as_matrix(&right, data_of(b), dims_of(b), strides_of(b), 8 if kind == DOUBLE else 4, transposed)
        and fits_library(&left) and fits_library(&right)
    )
    if plain:
        algorithm = choose_algorithm(kind - FLOAT, &left, &right, 0)
        if algorithm == BY_BLAS and (shape[0] == 1 or shape[1] == 1):
            algorithm = BY_LOOP
    if algorithm == BY_LOOP and bias is not None:
        return NULL
    packed = cached_panels(y, kind == DOUBLE, &right, panel_width(algorithm, kind == DOUBLE)) if packing_pays(
        algorithm, kind == DOUBLE, &left, &right
    ) else None
    result = new_array(2, shape, number_of_scalar_type(kind))
    out = data_of(<PyArrayObject *>result)
    work = <double>shape[0] * shape[1] * dims_of(a)[1]
    if algorithm == BY_BLAS and row != NULL:
        fill_rows(out, shape[0], shape[1], row, 8 if kind == DOUBLE else 4)
    if algorithm == BY_ROWS and work < MIN_MULTIPLICATIONS_WITHOUT_GIL:
        skinny_gemm(
            kind == DOUBLE, &left, &right, 0, shape[1], out, shape[1], 1, row, NULL if packed is None else &packed.panels
        )
    elif algorithm == BY_BLAS and work < MIN_MULTIPLICATIONS_THREADED_BLAS:
        gemm(kind - FLOAT, &left, &right, out, shape[1], 1, 0 if row == NULL else 1)
    else:
        run_matrix_product(x.array, y.array, result, bias, packed, algorithm, kind - FLOAT, inner, &left, &right)
    return wrap_result(result, kind)


cdef Packed cached_panels_for(Tensor x, Tensor y, bint transposed):
    cdef PyArrayObject *a
    if x.backend != BACKEND_CPU or x.scalar_type != y.scalar_type:
        return None
    a = <PyArrayObject *>x.array
    if ndim_of(a) < 2 or size_of(a) == 0:
        return None
    return cached_panels_for_rows(size_of(a) // dims_of(a)[ndim_of(a) - 1], y, transposed)


cdef Packed cached_panels_for_rows(int64_t rows, Tensor y, bint transposed):
    cdef PyArrayObject *b
    cdef Matrix left, right
    cdef GemmAlgorithm algorithm
    cdef bint double_ = y.scalar_type == DOUBLE
    if y.backend != BACKEND_CPU or library_bits <= 0 or (not double_ and y.scalar_type != FLOAT):
        return None
    b = <PyArrayObject *>y.array
    if ndim_of(b) != 2 or size_of(b) == 0 or not flags_of(b) & cnp.NPY_ARRAY_ALIGNED:
        return None
    if not as_matrix(
        &right, data_of(b), dims_of(b), strides_of(b), 8 if double_ else 4, transposed
    ):
        return None
    left.rows, left.columns, left.pitch, left.flag = rows, right.rows, right.rows, AS_IT_IS
    algorithm = choose_algorithm(1 if double_ else 0, &left, &right, 0)
    if not packing_pays(algorithm, double_, &left, &right):
        return None
    return cached_panels(y, double_, &right, panel_width(algorithm, double_))


cdef int run_matrix_product(
    object x, object y, object result, object bias, Packed packed, GemmAlgorithm algorithm, int kind, int inner, Matrix *left, Matrix *right
) except -1:
    """Compute a product by a `Job`.

    The callers use this function for large products and for strides that require np.matmul's loop.
    """
    cdef PyArrayObject *a = <PyArrayObject *>x
    cdef PyArrayObject *b = <PyArrayObject *>y
    cdef Job job = Job.__new__(Job)
    job.left_array, job.right_array, job.out_array, job.bias_array = x, y, result, bias
    job.algorithm, job.kind, job.itemsize, job.pitch = algorithm, kind, ITEM_SIZES[kind], dims_of(<PyArrayObject *>result)[1]
    job.out = data_of(<PyArrayObject *>result)
    job.finish.alpha, job.count = 1, 1
    if bias is not None and algorithm == BY_BLAS:
        job.beta = 1
    elif bias is not None:
        job.finish.bias = data_of(<PyArrayObject *>bias)
    job.set_panels(packed)
    if algorithm != BY_LOOP:
        job.left, job.right = left[0], right[0]
    else:
        job.left.data, job.left.rows, job.left.columns = data_of(a), dims_of(a)[0], dims_of(a)[1]
        job.right.data, job.right.rows, job.right.columns = data_of(b), dims_of(a)[1], job.pitch
        job.left_strides[0], job.left_strides[1] = strides_of(a)[0], strides_of(a)[1]
        job.right_strides[0], job.right_strides[1] = strides_of(b)[inner], strides_of(b)[1 - inner]
    return job.run()


cdef PyObject *wrap_result(object array, int kind) except NULL:
    cdef Tensor product = wrap_cpu(array, kind)
    Py_INCREF(product)
    return <PyObject *>product
