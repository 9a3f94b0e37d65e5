"""QR factorization of small float32 and float64 matrices by Householder reflections.

Input: interpreter registers with a CPU tensor of matrices with at most MAX_ORDER rows and columns, in any layout, and
the mode. Output: the registers of Q and R, with matrices stored by columns as in PyTorch. For other arguments, and
for elements whose squares overflow, the operator's Python kernel runs. The operators are:

    linalg_qr(x)      linalg_qr(x, "complete")      qr(x, False)
"""

cimport numpy as cnp
from libc.stdint cimport int32_t
from libc.string cimport memset
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport FLOAT, PyArrayObject, data_of, dims_of, ndim_of, size_of, strides_of
from ts._core.value.ivalue cimport IValue, TAG_OBJECT
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport new_contiguous, scalar_type, set_result
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts.backends.cpu.kernels.small_linalg cimport MatrixBatch, matrix_address, new_matrices, read_batch
from ts.backends.cpu.kernels.small_matrix_loops cimport MAX_ORDER, factor_qr, floating, form_q, read_matrix
from ts.backends.cpu.kernels.strided_floats cimport aligned_float_array

cnp.import_array()


cdef bint factor_matrices(
    MatrixBatch *batch, PyArrayObject *a, npy_intp rank, floating *q, floating *r
) noexcept nogil:
    """Write Q with `rank` columns and R with `rank` rows of each matrix. Return False if `factor_qr` fails."""
    cdef floating matrix[MAX_ORDER * MAX_ORDER]
    cdef floating factors[MAX_ORDER]
    cdef npy_intp rows = dims_of(a)[ndim_of(a) - 2], columns = dims_of(a)[ndim_of(a) - 1], index, i, j
    for index in range(batch.count):
        read_matrix[floating](matrix_address(batch, a, 2, index), strides_of(a) + ndim_of(a) - 2, rows, columns, matrix)
        if not factor_qr[floating](matrix, rows, columns, factors):
            return False
        form_q[floating](matrix, rows, min(rows, columns), factors, q, rank)
        memset(r, 0, rank * columns * sizeof(floating))
        for j in range(columns):
            for i in range(min(j + 1, rank)):
                r[j * rank + i] = matrix[j * rows + i]
        q += rows * rank
        r += rank * columns
    return True


cdef int run_qr(Operator op, IValue *r, const int32_t *at, bint complete) except -1:
    cdef PyArrayObject *a = aligned_float_array(&r[at[0]])
    cdef MatrixBatch batch
    cdef ReleasedGil gil_state
    cdef npy_intp rows, columns, rank
    cdef bint is_valid
    cdef char *q
    cdef char *upper
    if a == NULL or ndim_of(a) < 2:
        return UNSUPPORTED
    rows, columns = dims_of(a)[ndim_of(a) - 2], dims_of(a)[ndim_of(a) - 1]
    if rows > MAX_ORDER or columns > MAX_ORDER or not read_batch(&batch, scalar_type(&r[at[0]]), a, NULL, 0):
        return UNSUPPORTED
    rank = rows if complete else min(rows, columns)
    orthogonal, triangular = new_matrices(&batch, rows, rank), new_matrices(&batch, rank, columns)
    q, upper = data_of(<PyArrayObject *>orthogonal), data_of(<PyArrayObject *>triangular)
    gil_state = leave_gil(size_of(a) * rows, r, at, op.nargs)
    if batch.kind == FLOAT:
        is_valid = factor_matrices[float](&batch, a, rank, <float *>q, <float *>upper)
    else:
        is_valid = factor_matrices[double](&batch, a, rank, <double *>q, <double *>upper)
    take_gil(gil_state)
    if not is_valid:
        return UNSUPPORTED
    set_result(&r[at[op.nargs + 1]], triangular, batch.kind)
    return set_result(&r[at[op.nargs]], orthogonal, batch.kind)


cdef int linalg_qr(Operator op, IValue *r, const int32_t *at) except -1:
    cdef npy_intp none = 0
    cdef int kind
    if r[at[1]].tag != TAG_OBJECT or <object>r[at[1]].v.o not in ("reduced", "complete", "r"):
        return UNSUPPORTED
    mode = <object>r[at[1]].v.o
    if run_qr(op, r, at, mode == "complete") == UNSUPPORTED:
        return UNSUPPORTED
    if mode == "r":                    # without Q
        kind = scalar_type(&r[at[op.nargs + 1]])
        set_result(&r[at[op.nargs]], new_contiguous(1, &none, kind), kind)
    return 0


cdef int qr(Operator op, IValue *r, const int32_t *at) except -1:
    return run_qr(op, r, at, r[at[1]].v.i == 0)


register_kernel("aten::linalg_qr", linalg_qr)
register_kernel("aten::qr", qr)
