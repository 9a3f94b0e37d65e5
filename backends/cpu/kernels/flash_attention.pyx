"""Tiled attention of stacked heads (flash attention), with dynamic scheduling of blocks of query rows.

Input: queries, keys and values. Output: for each query, the mean of the values. The softmax of the scores
weights this mean.

Only the scores of one block of rows are in memory at a time. The algorithm is:

    for each head:      pack its keys and values as panels of columns
        for 64 rows:    scores = rows @ keys.T * scale      in tiles that fit in the L2 cache
                        apply mask and softmax over all keys
                        out = scores @ values

On processors with AVX512_BF16, both products of bfloat16 operands use the tiles of
`bfloat16_microkernels.pyx`. The scores and the softmax are float32, and the weights are rounded to bfloat16
before the second product.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memset
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, ndim_of, new_array, size_of, strides_of
from ts._core.value.no_python_construction cimport seal
from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.bfloat16_microkernels cimport (
    PANEL_COLUMNS, LeftOperand, PairStore, can_multiply_unpacked, moved_store, multiply_pairs, multiply_unpacked,
    pack_pairs, packed_pairs_bytes, prepare_left_operand, round_to_bfloat16,
)
from ts.backends.cpu.kernels.skinny_gemm cimport can_use_skinny_gemm, skinny_gemm
from ts.backends.cpu.kernels.gemm_tiles cimport Panels, pack_panels, packed_block, panel_bytes, panel_columns
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS, item_size
from ts.backends.cpu.kernels.matmul cimport MIN_MULTIPLICATIONS_WITHOUT_GIL
from ts.backends.cpu.kernels.parallel_for cimport parallel_for, partition_count
from ts.backends.cpu.kernels.blas_matrix cimport AS_IT_IS, GemmEpilogue, Matrix, as_matrix
from ts.backends.cpu.kernels.reduce cimport floating
from ts.backends.cpu.kernels.softmax cimport softmax_rows
from ts.backends.cpu.kernels.tensor_iterator cimport contiguous_copy


cdef extern from *:
    int64_t fetch_and_add "__sync_fetch_and_add"(int64_t *, int64_t) noexcept nogil

cnp.import_array()

cdef enum:
    MAX_BLOCK_SCORES = 1 << 16         # maximal number of scores of a block
    BFLOAT16_BLOCK_ROWS = 64           # maximal number of query rows of a block of bfloat16 operands
    MIN_BLOCK_ROWS = 8  # minimal number of query rows of a block, even if the block then has more than MAX_BLOCK_SCORES scores


# ---------------------------------------------------------------- scores

cdef void apply_mask(
    Masking masking, floating *scores, npy_intp rows, npy_intp n, const char *mask, npy_intp down, npy_intp right
) noexcept nogil:
    """Apply the mask to `rows` rows of `n` scores each.

    `mask` points to the mask of the first row. `down` and `right` are the mask's byte strides between rows
    and between elements of a row.
    """
    cdef npy_intp i, j
    cdef const char *x
    cdef uint8_t hidden = masking == BOOL_HIDE_MASK
    for i in range(rows):
        x = mask + i * down
        if masking == ADDITIVE_MASK and right == sizeof(floating):
            for j in range(n):
                scores[j] += (<const floating *>x)[j]
        elif masking == ADDITIVE_MASK:
            for j in range(n):
                scores[j] += (<const floating *>(x + j * right))[0]
        else:
            for j in range(n):
                if ((<const uint8_t *>(x + j * right))[0] != 0) == hidden:
                    scores[j] = -INFINITY
        scores += n


cdef void apply_causal_mask(floating *scores, npy_intp first, npy_intp rows, npy_intp n) noexcept nogil:
    """Apply the causal mask: set the scores of keys after the query's position to -inf.

    Row i of `scores` has the scores of query `first` + i, which keeps only the keys 0 to `first` + i.
    """
    cdef npy_intp i, j
    for i in range(rows):
        for j in range(first + i + 1, n):
            scores[j] = -INFINITY
        scores += n


cdef bint is_fully_masked(const floating *row, npy_intp n) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        if row[i] != -INFINITY:
            return False
    return True


cdef void softmax_masked_rows(int kind, floating *scores, npy_intp rows, npy_intp n, bint has_masked_rows, floating *out) noexcept nogil:
    """Compute the softmax of each row of scores.

    If `has_masked_rows`, a row in which all scores are -inf becomes zeros.
    """
    cdef npy_intp first = 0, i
    if has_masked_rows:
        for i in range(rows):
            if not is_fully_masked(scores + i * n, n):
                continue
            softmax_rows(kind, scores + first * n, i - first, n, out + first * n)
            memset(out + i * n, 0, n * sizeof(floating))
            first = i + 1
    softmax_rows(kind, scores + first * n, rows - first, n, out + first * n)


# ---------------------------------------------------------------- attention of all heads

@cython.final
cdef class Heads:
    """The operands of all heads. A task consists of some query rows of one head."""

    cdef int kind                      # FLOAT or DOUBLE: dtype of the scores
    cdef bint brain                    # whether the operands and the result are bfloat16
    cdef int64_t size                  # size of an element of the operands in bytes
    cdef int64_t score_size            # size of a score in bytes
    cdef Matrix query                  # queries of the first head
    cdef Matrix keys                   # transposed keys of the first head
    cdef Matrix values                 # values of the first head
    cdef char *mask
    cdef npy_intp down                 # stride of the mask's rows in bytes
    cdef npy_intp right                # stride of the mask's columns in bytes
    cdef char *out
    cdef int nd                        # number of leading (batch) dimensions
    cdef npy_intp dims[MAX_DIMS]       # sizes of the leading dimensions
    cdef npy_intp strides[4][MAX_DIMS] # strides of query, keys, values and mask along the leading dimensions
    cdef int64_t count                 # number of heads
    cdef Masking masking
    cdef bint causal
    cdef double scale
    cdef int64_t rows                  # number of query rows per task
    cdef int64_t block_rows            # number of query rows whose scores are in the buffer at a time
    cdef int64_t row_tasks
    cdef int64_t next                  # index of the next task that a thread takes
    cdef bint few_scores               # True if the product of query and keys uses `skinny_gemm`
    cdef bint few_sums                 # True if the product of weights and values uses `skinny_gemm`

    cdef double work(self) noexcept nogil:
        """Return the number of scalar multiplications of all heads."""
        return <double>self.count * self.query.rows * self.keys.columns * (self.keys.rows + self.values.columns)

    cdef int divide(self, Py_ssize_t partition_count) except -1:
        cdef bint double_ = self.kind == DOUBLE
        cdef int64_t rows = self.query.rows
        self.block_rows = min(rows, max(MAX_BLOCK_SCORES // self.keys.columns // 8 * 8, <int64_t>MIN_BLOCK_ROWS))
        self.rows = rows
        if self.count < 2 * partition_count and partition_count > 1:
            self.rows = max((rows + 2 * partition_count - 1) // (2 * partition_count) // 8 * 8, <int64_t>MIN_BLOCK_ROWS)
        self.row_tasks = (rows + self.rows - 1) // self.rows
        if self.brain:
            self.block_rows = min(self.block_rows, <int64_t>BFLOAT16_BLOCK_ROWS)
            self.few_scores = self.few_sums = can_multiply_unpacked(&self.query)
            return 0
        self.few_scores = can_use_skinny_gemm(double_, &self.query, &self.keys)
        cdef Matrix weights = self.query
        weights.columns = weights.pitch = self.keys.columns
        weights.flag = AS_IT_IS
        self.few_sums = can_use_skinny_gemm(double_, &weights, &self.values)
        return 0

    cdef int run_tasks(self) noexcept nogil:
        """Run tasks until none remain. Return -1 if memory is exhausted."""
        cdef bint double_ = self.kind == DOUBLE
        cdef int64_t n = self.keys.columns, block_rows = min(self.block_rows, self.rows)
        cdef int64_t key_bytes = 0 if self.few_scores else self.packed_bytes(&self.keys)
        cdef int64_t value_bytes = 0 if self.few_sums else self.packed_bytes(&self.values)
        cdef int64_t score_bytes = (block_rows * n * self.score_size + 63) // 64 * 64, task
        cdef int64_t query_bytes = packed_pairs_bytes(self.query.columns, block_rows) if self.brain else 0
        cdef char *buffer = <char *>malloc_aligned(<size_t>(key_bytes + value_bytes + 2 * score_bytes + query_bytes))
        if buffer == NULL:
            return -1
        while True:
            task = fetch_and_add(&self.next, 1)
            if task >= self.count * self.row_tasks:
                break
            self.run_head(task // self.row_tasks, task % self.row_tasks * self.rows, buffer, buffer + key_bytes,
                          buffer + key_bytes + value_bytes, buffer + key_bytes + value_bytes + score_bytes)
        free(buffer)
        return 0

    cdef int64_t packed_bytes(self, Matrix *b) noexcept nogil:
        return packed_pairs_bytes(b.rows, b.columns) if self.brain else panel_bytes(self.kind == DOUBLE, b)

    cdef void run_head(self, int64_t head, int64_t row, char *keys, char *values, char *scores, char *weights) noexcept nogil:
        """Compute the attention of `self.rows` query rows of `head`, from `row` on. The other arguments are buffers:
        for the packed keys and values, and for the scores and weights of one block of rows.
        """
        cdef bint double_ = self.kind == DOUBLE
        cdef Matrix query = self.query, k = self.keys, v = self.values, weights_matrix
        cdef char *mask = self.mask
        cdef char *out = self.out + head * query.rows * v.columns * self.size
        cdef int64_t n = k.columns, row_end = min(row + self.rows, query.rows), count, left = head
        cdef Panels packed_keys, packed_values
        cdef int d = self.nd - 1
        while d >= 0:
            query.data += left % self.dims[d] * self.strides[0][d]
            k.data += left % self.dims[d] * self.strides[1][d]
            v.data += left % self.dims[d] * self.strides[2][d]
            mask += left % self.dims[d] * self.strides[3][d]
            left //= self.dims[d]
            d -= 1
        if self.brain:
            self.run_bfloat16_rows(&query, &k, &v, row, row_end, mask, keys, values, scores, weights, out)
            return
        if not self.few_scores:
            pack_panels(double_, &k, panel_columns(double_), keys, &packed_keys)
        if not self.few_sums:
            pack_panels(double_, &v, panel_columns(double_), values, &packed_values)
        query.data += row * (query.pitch if query.flag == AS_IT_IS else 1) * self.size
        weights_matrix.data, weights_matrix.flag, weights_matrix.columns, weights_matrix.pitch = weights, AS_IT_IS, n, n
        while row < row_end:
            count = min(self.block_rows, row_end - row)
            query.rows = weights_matrix.rows = count
            self.multiply(&query, &k, &packed_keys, self.few_scores, scores, self.scale)
            if self.kind == DOUBLE:
                self.compute_weights(<double *>scores, row, count, n, mask, <double *>weights)
            else:
                self.compute_weights(<float *>scores, row, count, n, mask, <float *>weights)
            self.multiply(&weights_matrix, &v, &packed_values, self.few_sums, out + row * v.columns * self.size, 1)
            query.data += count * (query.pitch if query.flag == AS_IT_IS else 1) * self.size
            row += count

    cdef void run_bfloat16_rows(
        self, Matrix *query, Matrix *k, Matrix *v, int64_t row, int64_t row_end, char *mask, char *keys, char *values, char *scores,
        char *weights, char *out
    ) noexcept nogil:
        """Compute the attention of the query rows [row, row_end) of a head with bfloat16 operands.

        With a causal mask, the number of keys depends only on the position of the query row, so that the bits do not
        depend on the blocks. A packed block of queries is stored after `weights`.
        """
        cdef int64_t n = k.columns, count, column, key_count
        cdef int64_t score_bytes = weights - scores
        cdef Matrix block = query[0], weights_matrix, first_values = v[0]
        cdef LeftOperand left
        cdef PairStore store
        store.beta, store.summand, store.summand_pitch, store.row_bias = 0, NULL, 0, NULL
        if not self.few_scores:
            pack_pairs(k, 0, n, keys)
            pack_pairs(v, 0, v.columns, values)
        while row < row_end:
            count, key_count = min(self.block_rows, row_end - row), n
            if self.causal:
                count = min(count, BFLOAT16_BLOCK_ROWS - row % BFLOAT16_BLOCK_ROWS)
                key_count = min(n, (row // BFLOAT16_BLOCK_ROWS + 1) * BFLOAT16_BLOCK_ROWS)
            store.alpha, store.out, store.pitch, store.wide = <float>self.scale, scores, key_count, True
            if self.few_scores:
                block.data, block.rows = query.data + 2 * row * query.pitch, count
                multiply_unpacked(&block, k, 0, key_count, store)
            else:
                left = prepare_left_operand(query, row, row + count, weights + score_bytes)
                multiply_pairs(&left, keys, key_count, store)
            self.compute_weights(<float *>scores, row, count, key_count, mask, <float *>weights)
            round_to_bfloat16(<float *>weights, count * key_count, scores)
            weights_matrix.data, weights_matrix.flag, weights_matrix.rows = scores, AS_IT_IS, count
            weights_matrix.columns = weights_matrix.pitch = first_values.rows = key_count
            store.alpha, store.out, store.pitch, store.wide = 1, out + 2 * row * v.columns, v.columns, False
            if self.few_sums:
                multiply_unpacked(&weights_matrix, &first_values, 0, v.columns, store)
            else:
                left = prepare_left_operand(&weights_matrix, 0, count, NULL)
                column = 0
                while column < v.columns:
                    multiply_pairs(
                        &left, values + packed_pairs_bytes(n, column), min(v.columns - column, <int64_t>PANEL_COLUMNS),
                        moved_store(&store, 0, column),
                    )
                    column += PANEL_COLUMNS
            row += count

    cdef void multiply(self, Matrix *a, Matrix *b, Panels *packed, bint few, char *out, double by) noexcept nogil:
        cdef GemmEpilogue finish
        if few:
            skinny_gemm(self.kind == DOUBLE, a, b, 0, b.columns, out, b.columns, by, NULL, NULL)
            return
        finish.alpha, finish.bias, finish.epilogue = by, NULL, NULL
        packed_block(packed, a, 0, a.rows, 0, b.columns, out, b.columns, &finish)

    cdef void compute_weights(
        self, floating *scores, int64_t row, int64_t rows, int64_t n, const char *mask, floating *weights
    ) noexcept nogil:
        """Compute the attention weights of some rows of `n` scores: apply the masks, then the softmax."""
        if self.masking != NO_MASK:
            apply_mask(self.masking, scores, rows, n, mask + row * self.down, self.down, self.right)
        if self.causal:
            apply_causal_mask(scores, row, rows, n)
        softmax_masked_rows(self.kind, scores, rows, n, self.masking == BOOL_KEEP_MASK or self.masking == ADDITIVE_MASK, weights)


seal(Heads)


cdef int run_tasks_of_heads(void *heads, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
    """Run tasks until none remain."""
    return (<Heads>heads).run_tasks()


cdef bint set_stack_strides(Heads h, int which, PyArrayObject *a, int own) except -1:
    """Store the byte strides of `a` along its batch dimensions as the strides of operand `which`.

    The batch dimensions are all dimensions except the last `own` dimensions. Return False if they do not
    broadcast to the shape `h.dims`.
    """
    cdef int d, at
    if ndim_of(a) - own > h.nd:
        return False
    for d in range(h.nd):
        at = d - h.nd + ndim_of(a) - own
        h.strides[which][d] = 0
        if at >= 0 and dims_of(a)[at] != 1:
            if dims_of(a)[at] != h.dims[d]:
                return False
            h.strides[which][d] = strides_of(a)[at]
    return True


cdef bint set_mask(Heads h, PyArrayObject *mask) except -1:
    """Store the mask and its strides. Return False if it does not broadcast to the scores."""
    cdef npy_intp lengths[2]
    cdef npy_intp strides[2]
    cdef int nd = ndim_of(mask), i, at
    lengths[0], lengths[1] = h.query.rows, h.keys.columns
    for i in range(2):
        at = nd - 2 + i
        strides[i] = 0
        if at >= 0 and dims_of(mask)[at] != 1:
            if dims_of(mask)[at] != lengths[i]:
                return False
            strides[i] = strides_of(mask)[at]
    h.mask, h.down, h.right = data_of(mask), strides[0], strides[1]
    return set_stack_strides(h, 3, mask, min(nd, 2))


cdef object as_blas_operand(Matrix *m, object a, bint transpose):
    """Set `m` to describe the first matrix of the stack `a`, or its transpose if `transpose`, for BLAS.

    If BLAS cannot read the layout of `a`, `m` describes a contiguous copy. Return the array that `m`
    describes.
    """
    cdef PyArrayObject *x = <PyArrayObject *>a
    cdef int last = ndim_of(x) - 2
    if as_matrix(m, data_of(x), dims_of(x) + last, strides_of(x) + last, item_size(x), transpose):
        return a
    a = contiguous_copy(x)
    x = <PyArrayObject *>a
    as_matrix(m, data_of(x), dims_of(x) + last, strides_of(x) + last, item_size(x), transpose)
    return a


cdef object compute_attention(object q, object k, object v, object mask, Masking masking, bint causal, double scale):
    cdef Heads h = Heads.__new__(Heads)
    cdef npy_intp shape[MAX_DIMS]
    cdef int d, own, nd
    cdef npy_intp length
    cdef Py_ssize_t partitions
    cdef void *heads
    cdef int done
    if min(size_of(<PyArrayObject *>q), size_of(<PyArrayObject *>k), size_of(<PyArrayObject *>v)) == 0:
        return None
    q, k, v = as_blas_operand(&h.query, q, False), as_blas_operand(&h.keys, k, True), as_blas_operand(&h.values, v, False)
    if h.query.columns != h.keys.rows or h.keys.columns != h.values.rows:
        return None
    h.nd = max(ndim_of(<PyArrayObject *>q), ndim_of(<PyArrayObject *>k), ndim_of(<PyArrayObject *>v)) - 2
    h.count = 1
    for d in range(h.nd):
        h.dims[d] = 1
        for each in (q, k, v):
            own = d - h.nd + ndim_of(<PyArrayObject *>each) - 2
            length = dims_of(<PyArrayObject *>each)[own] if own >= 0 else 1
            if h.dims[d] == 1:
                h.dims[d] = length
        h.count *= h.dims[d]
        shape[d] = h.dims[d]
    if not (
        set_stack_strides(h, 0, <PyArrayObject *>q, 2)
        and set_stack_strides(h, 1, <PyArrayObject *>k, 2)
        and set_stack_strides(h, 2, <PyArrayObject *>v, 2)
    ):
        return None
    if masking != NO_MASK and not set_mask(h, <PyArrayObject *>mask):
        return None
    h.size = item_size(<PyArrayObject *>q)
    h.kind = DOUBLE if h.size == 8 else FLOAT
    h.score_size = 8 if h.kind == DOUBLE else 4
    h.brain = h.size == 2
    h.masking, h.causal, h.scale = masking, causal, scale
    nd = h.nd + 2
    shape[nd - 2], shape[nd - 1] = h.query.rows, h.values.columns
    result = new_array(nd, shape, cnp.PyArray_TYPE(<cnp.ndarray>q))
    h.out = data_of(<PyArrayObject *>result)
    partitions = partition_count(h.work() / (128 if h.brain else 64))
    h.divide(partitions)
    partitions = min(partitions, h.count * h.row_tasks)
    if partitions <= 1 and h.work() < MIN_MULTIPLICATIONS_WITHOUT_GIL:
        done = h.run_tasks()
    else:
        heads = <void *>h
        with nogil:
            done = parallel_for(run_tasks_of_heads, heads, partitions)
    if done < 0:
        raise MemoryError()
    return result
