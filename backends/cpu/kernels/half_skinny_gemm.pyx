"""Products of few rows by a half-precision matrix, such as the weight of a linear layer, in float32.

Input: float16 or bfloat16 operands. Output: the float32 product, with the same bits as the product of the converted
operands. A float32 copy of the whole matrix would need three times the memory traffic. Instead, each block of
columns is converted in the cache:

    for each 16 columns of b:     convert them to float32
                                  out[:, columns] = a @ columns       (`skinny_gemm.pyx`)
"""

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, ndim_of, new_array, size_of, strides_of
from ts._core.tensor.scalar_types cimport scalar_type_of_number
from ts.backends.cpu.kernels.aligned_memory cimport malloc_aligned
from ts.backends.cpu.kernels.blas_matrix cimport AS_IT_IS, Matrix, as_matrix
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS
from ts.backends.cpu.kernels.parallel_for cimport parallel_ranges
from ts.backends.cpu.kernels.short_floats cimport BFLOAT16, to_float32, widen
from ts.backends.cpu.kernels.skinny_gemm cimport can_use_skinny_gemm, skinny_gemm
from ts.backends.cpu.kernels.tensor_iterator cimport contiguous_copy

cnp.import_array()

cdef enum:
    MAX_ROWS = 4
    BLOCK_COLUMNS = 16


cdef struct HalfRows:
    Matrix left                        # float32
    Matrix right                       # half precision
    bint brain
    float *out
    double alpha
    const float *bias


cdef int multiply_blocks(void *context, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Compute the blocks [start, end) of BLOCK_COLUMNS columns. The last block also contains the remaining columns."""
    cdef HalfRows *task = <HalfRows *>context
    cdef Matrix block
    cdef int64_t depth = task.right.rows, columns = task.right.columns, column, count, c
    cdef const char *bias = NULL
    cdef float *wide = <float *>malloc_aligned(<size_t>(2 * BLOCK_COLUMNS * depth) * sizeof(float))
    if wide == NULL:
        return -1
    block.data, block.rows, block.pitch, block.flag = <char *>wide, depth, depth, task.right.flag
    column = start * BLOCK_COLUMNS
    while column < end * BLOCK_COLUMNS:
        count = columns - column if columns - column < 2 * BLOCK_COLUMNS else BLOCK_COLUMNS
        for c in range(count):
            widen(task.right.data + 2 * (column + c) * task.right.pitch, 2, depth, task.brain, wide + c * depth)
        block.columns = count
        if task.bias != NULL:
            bias = <const char *>(task.bias + column)
        skinny_gemm(False, &task.left, &block, 0, count, <char *>(task.out + column), columns, task.alpha, bias, NULL)
        column += BLOCK_COLUMNS
    free(wide)
    return 0


cdef object multiply_half_rows(object a, object b, double alpha, object bias):
    cdef PyArrayObject *x = <PyArrayObject *>a
    cdef PyArrayObject *y = <PyArrayObject *>b
    cdef HalfRows task
    cdef npy_intp shape[MAX_DIMS]
    cdef int64_t depth = dims_of(x)[ndim_of(x) - 1]
    cdef int d, code
    if ndim_of(y) != 2 or size_of(x) > MAX_ROWS * depth or dims_of(y)[0] != depth:
        return None
    if not as_matrix(&task.right, data_of(y), dims_of(y), strides_of(y), 2, False) or task.right.flag == AS_IT_IS:
        return None
    task.left.rows, task.left.columns, task.left.pitch, task.left.flag = size_of(x) // depth, depth, depth, AS_IT_IS
    if task.right.columns < BLOCK_COLUMNS or not can_use_skinny_gemm(False, &task.left, &task.right):
        return None
    rows = contiguous_float32(x)
    for d in range(ndim_of(x)):
        shape[d] = dims_of(x)[d]
    shape[ndim_of(x) - 1] = task.right.columns
    result = new_array(ndim_of(x), shape, cnp.NPY_FLOAT)
    task.left.data, task.out = data_of(<PyArrayObject *>rows), <float *>data_of(<PyArrayObject *>result)
    task.brain = scalar_type_of_number(cnp.PyArray_TYPE(<cnp.ndarray>b)) == BFLOAT16
    task.alpha, task.bias = alpha, NULL
    if bias is not None:
        task.bias = <const float *>data_of(<PyArrayObject *>bias)
    with nogil:
        code = parallel_ranges(
            multiply_blocks, &task, task.right.columns // BLOCK_COLUMNS, <double>depth * BLOCK_COLUMNS * task.left.rows / 16
        )
    if code:
        raise MemoryError()
    return result


cdef object contiguous_float32(PyArrayObject *x):
    """Return a C-contiguous float32 copy of a half-precision array."""
    wide = to_float32(x)
    return wide if cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>wide) else contiguous_copy(<PyArrayObject *>wide)
