"""Cholesky and LU factorizations, solvers and inverses of small float32 and float64 matrices.

Input: interpreter registers with CPU tensors of matrices with at most MAX_ORDER rows, in any layout. Output: the
registers of the results, with matrices stored by columns as in PyTorch. The operators are:

    linalg_cholesky, linalg_cholesky_ex, cholesky        cholesky_solve, cholesky_inverse
    linalg_inv, linalg_inv_ex, inverse                   linalg_solve, linalg_solve_ex
    linalg_lu, linalg_lu_factor, linalg_lu_factor_ex     linalg_solve_triangular

For these sizes, the calls of LAPACK by NumPy take longer than the arithmetic. If a pivot is zero or not finite,
or the shapes are invalid, the operator's Python kernel computes the error codes or raises the error.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport FLOAT, INT32, PyArrayObject, data_of, dims_of, ndim_of, size_of, strides_of
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.channels_last cimport new_strided
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS, new_contiguous, new_zeros, scalar_type, set_result
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts.backends.cpu.kernels.small_matrix_loops cimport (
    MAX_ORDER, factor_cholesky, factor_lu, floating, read_matrix, set_identity, solve_lu,
    substitute_lower, substitute_upper, transpose_in_place
)
from ts.backends.cpu.kernels.strided_floats cimport aligned_float_array

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    int copy_array "PyArray_CopyInto"(PyArrayObject *to, PyArrayObject *source) except -1

# ---------------------------------------------------------------- arguments and results

cdef PyArrayObject *small_square_matrices(IValue *x) noexcept:
    cdef PyArrayObject *a = aligned_float_array(x)
    cdef int nd
    if a == NULL or ndim_of(a) < 2:
        return NULL
    nd = ndim_of(a)
    return a if dims_of(a)[nd - 1] == dims_of(a)[nd - 2] and dims_of(a)[nd - 1] <= MAX_ORDER else NULL


cdef bint read_batch(MatrixBatch *batch, int kind, PyArrayObject *a, PyArrayObject *b, int b_trailing) noexcept:
    cdef int n = ndim_of(a) - 2, other = 0 if b == NULL else ndim_of(b) - b_trailing, d
    cdef npy_intp first, second
    batch.kind, batch.n, batch.count = kind, max(n, other), 1
    for d in range(batch.n):
        first = dims_of(a)[d - batch.n + n] if d >= batch.n - n else 1
        second = dims_of(b)[d - batch.n + other] if d >= batch.n - other else 1
        if first != second and first != 1 and second != 1:
            return False
        batch.dims[d] = second if first == 1 else first
        batch.count *= batch.dims[d]
    return True


cdef char *matrix_address(MatrixBatch *batch, PyArrayObject *a, int trailing, npy_intp i) noexcept nogil:
    cdef char *address = data_of(a)
    cdef int d = batch.n - 1, own = ndim_of(a) - trailing - 1
    while own >= 0:
        if dims_of(a)[own] != 1:
            address += (i % batch.dims[d]) * strides_of(a)[own]
        i //= batch.dims[d]
        d -= 1
        own -= 1
    return address


cdef object new_matrices(MatrixBatch *batch, npy_intp rows, npy_intp columns):
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef npy_intp stride = 4 if batch.kind == FLOAT else 8
    cdef int d
    dims[batch.n], dims[batch.n + 1] = rows, columns
    strides[batch.n], strides[batch.n + 1] = stride, stride * rows
    stride *= rows * columns
    for d in range(batch.n - 1, -1, -1):
        dims[d], strides[d] = batch.dims[d], stride
        stride *= batch.dims[d]
    return new_strided(batch.n + 2, dims, strides, batch.kind)


cdef object new_vectors(MatrixBatch *batch, npy_intp n):
    """Allocate a contiguous array of shape (*batch, n)."""
    cdef npy_intp dims[MAX_DIMS]
    cdef int d
    for d in range(batch.n):
        dims[d] = batch.dims[d]
    dims[batch.n] = n
    return new_contiguous(batch.n + 1, dims, batch.kind)


cdef object copy_by_columns(MatrixBatch *batch, PyArrayObject *vectors):
    """Copy an array of shape (*batch, n) to an array whose last two dimensions are stored by columns, as in PyTorch."""
    cdef MatrixBatch outer = batch[0]
    cdef object result
    outer.n -= 1
    result = new_matrices(&outer, batch.dims[outer.n], dims_of(vectors)[batch.n])
    copy_array(<PyArrayObject *>result, vectors)
    return result


cdef object new_info(MatrixBatch *batch):
    return new_zeros(batch.n, batch.dims, INT32)


cdef inline npy_intp *matrix_strides(PyArrayObject *a) noexcept nogil:
    return strides_of(a) + ndim_of(a) - 2


cdef inline npy_intp last_dim(PyArrayObject *a, int from_end) noexcept nogil:
    """Return the number of columns (`from_end` 1) or rows (`from_end` 2) of the matrices."""
    return dims_of(a)[ndim_of(a) - from_end]


# ---------------------------------------------------------------- Cholesky factorization

cdef bint factor_matrices(MatrixBatch *batch, PyArrayObject *a, bint upper, floating *out) noexcept nogil:
    """Write the Cholesky factors to `out`. Return False if a matrix is not positive-definite."""
    cdef npy_intp n = last_dim(a, 1), i
    cdef npy_intp strides[2]
    # the upper triangle is read as the lower triangle of the transposed matrix
    strides[0], strides[1] = matrix_strides(a)[upper], matrix_strides(a)[not upper]
    for i in range(batch.count):
        read_matrix[floating](matrix_address(batch, a, 2, i), strides, n, n, out)
        if not factor_cholesky[floating](out, n):
            return False
        if upper:
            transpose_in_place[floating](out, n)
        out += n * n
    return True


cdef int cholesky(Operator op, IValue *r, const int32_t *at) except -1:
    """Run linalg_cholesky, cholesky or linalg_cholesky_ex. The latter has a second result, the error codes."""
    cdef PyArrayObject *a = small_square_matrices(&r[at[0]])
    cdef MatrixBatch batch
    cdef ReleasedGil gil_state
    cdef bint is_valid, upper = r[at[1]].v.i != 0
    cdef char *out
    cdef object result
    if a == NULL or not read_batch(&batch, scalar_type(&r[at[0]]), a, NULL, 0):
        return UNSUPPORTED
    result = new_matrices(&batch, last_dim(a, 1), last_dim(a, 1))
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(a) * last_dim(a, 1), r, at, op.nargs)
    if batch.kind == FLOAT:
        is_valid = factor_matrices[float](&batch, a, upper, <float *>out)
    else:
        is_valid = factor_matrices[double](&batch, a, upper, <double *>out)
    take_gil(gil_state)
    if not is_valid:
        return UNSUPPORTED
    if op.nargs == 3:
        set_result(&r[at[4]], new_info(&batch), INT32)
    return set_result(&r[at[op.nargs]], result, batch.kind)


# ---------------------------------------------------------------- substitution with triangular factors

cdef void solve_cholesky_factors(
    MatrixBatch *batch, PyArrayObject *a, PyArrayObject *b, bint upper, floating *out
) noexcept nogil:
    """Write the solutions of L L^T x = b to `out`, where L is the lower triangle of `a`, or its upper triangle
    transposed.

    If `b` is NULL, it is the identity matrix.
    """
    cdef floating factor[MAX_ORDER * MAX_ORDER]
    cdef floating transposed[MAX_ORDER * MAX_ORDER]
    cdef npy_intp n = last_dim(a, 1), columns = n if b == NULL else last_dim(b, 1), i
    cdef npy_intp strides[2]
    for i in range(batch.count):
        strides[0], strides[1] = matrix_strides(a)[upper], matrix_strides(a)[not upper]
        read_matrix[floating](matrix_address(batch, a, 2, i), strides, n, n, factor)
        strides[0], strides[1] = strides[1], strides[0]
        read_matrix[floating](matrix_address(batch, a, 2, i), strides, n, n, transposed)
        if b == NULL:
            set_identity[floating](out, n)
        else:
            read_matrix[floating](matrix_address(batch, b, 2, i), matrix_strides(b), n, columns, out)
        substitute_lower[floating](factor, n, out, columns, False)
        substitute_upper[floating](transposed, n, out, columns, False)
        out += n * columns


cdef int run_cholesky_solve(
    Operator op, IValue *r, const int32_t *at, PyArrayObject *a, PyArrayObject *b, int kind, bint upper
) except -1:
    cdef MatrixBatch batch
    cdef ReleasedGil gil_state
    cdef npy_intp n = last_dim(a, 1), columns = n
    cdef char *out
    cdef object result
    if not read_batch(&batch, kind, a, b, 2) or batch.n + 2 > MAX_DIMS:
        return UNSUPPORTED
    if b != NULL:
        columns = last_dim(b, 1)
    result = new_matrices(&batch, n, columns)
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(batch.count * n * n * columns, r, at, op.nargs)
    if kind == FLOAT:
        solve_cholesky_factors[float](&batch, a, b, upper, <float *>out)
    else:
        solve_cholesky_factors[double](&batch, a, b, upper, <double *>out)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int cholesky_solve(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *b = aligned_float_array(&r[at[0]])
    cdef PyArrayObject *a = small_square_matrices(&r[at[1]])
    if a == NULL or b == NULL or ndim_of(b) < 2 or last_dim(b, 2) != last_dim(a, 1):
        return UNSUPPORTED
    if scalar_type(&r[at[0]]) != scalar_type(&r[at[1]]):
        return UNSUPPORTED
    return run_cholesky_solve(op, r, at, a, b, scalar_type(&r[at[1]]), r[at[2]].v.i != 0)


cdef bint has_zero_on_diagonal(int kind, PyArrayObject *a) noexcept:
    cdef MatrixBatch batch
    cdef npy_intp i, j, step = matrix_strides(a)[0] + matrix_strides(a)[1]
    cdef char *x
    read_batch(&batch, kind, a, NULL, 0)
    for i in range(batch.count):
        x = matrix_address(&batch, a, 2, i)
        for j in range(last_dim(a, 1)):
            if (<float *>x)[0] == 0 if kind == FLOAT else (<double *>x)[0] == 0:
                return True
            x += step
    return False


cdef int cholesky_inverse(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = small_square_matrices(&r[at[0]])
    if a == NULL or has_zero_on_diagonal(scalar_type(&r[at[0]]), a):
        return UNSUPPORTED
    return run_cholesky_solve(op, r, at, a, NULL, scalar_type(&r[at[0]]), r[at[1]].v.i != 0)


cdef void solve_triangles(
    MatrixBatch *batch, PyArrayObject *a, PyArrayObject *b, bint upper, bint left, bint unit, floating *out
) noexcept nogil:
    """Write the solutions of T x = b, or of x T = b without `left`, to `out`. T is a triangle of `a`."""
    cdef floating triangle[MAX_ORDER * MAX_ORDER]
    cdef floating turned[MAX_ORDER * MAX_ORDER]
    cdef npy_intp n = last_dim(a, 1), columns = last_dim(b, 1) if left else last_dim(b, 2), i, j, k
    cdef npy_intp strides[2]
    cdef npy_intp b_strides[2]
    cdef floating *x
    # x T = b is solved as T^T x^T = b^T
    strides[0], strides[1] = matrix_strides(a)[not left], matrix_strides(a)[left]
    b_strides[0], b_strides[1] = matrix_strides(b)[not left], matrix_strides(b)[left]
    for i in range(batch.count):
        x = out if left else turned
        read_matrix[floating](matrix_address(batch, a, 2, i), strides, n, n, triangle)
        read_matrix[floating](matrix_address(batch, b, 2, i), b_strides, n, columns, x)
        if upper == left:
            substitute_upper[floating](triangle, n, x, columns, unit)
        else:
            substitute_lower[floating](triangle, n, x, columns, unit)
        if not left:
            for j in range(n):
                for k in range(columns):
                    out[j * columns + k] = turned[k * n + j]
        out += n * columns


cdef int solve_triangular(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = small_square_matrices(&r[at[0]])
    cdef PyArrayObject *b = aligned_float_array(&r[at[1]])
    cdef bint upper = r[at[2]].v.i != 0, left = r[at[3]].v.i != 0, unit = r[at[4]].v.i != 0
    cdef MatrixBatch batch
    cdef ReleasedGil gil_state
    cdef char *out
    cdef object result
    if a == NULL or b == NULL or ndim_of(b) < 2 or scalar_type(&r[at[0]]) != scalar_type(&r[at[1]]):
        return UNSUPPORTED
    if last_dim(b, 2 if left else 1) != last_dim(a, 1) or (not left and last_dim(b, 2) > MAX_ORDER):
        return UNSUPPORTED
    if not read_batch(&batch, scalar_type(&r[at[0]]), a, b, 2):
        return UNSUPPORTED
    result = new_matrices(&batch, last_dim(b, 2), last_dim(b, 1))
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(size_of(<PyArrayObject *>result) * last_dim(a, 1), r, at, op.nargs)
    if batch.kind == FLOAT:
        solve_triangles[float](&batch, a, b, upper, left, unit, <float *>out)
    else:
        solve_triangles[double](&batch, a, b, upper, left, unit, <double *>out)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, batch.kind)


# ---------------------------------------------------------------- LU factorization

cdef bint solve_matrices(
    MatrixBatch *batch, PyArrayObject *a, PyArrayObject *b, int b_trailing, floating *out
) noexcept nogil:
    """Write the solutions of A x = b to `out`. Return False if a matrix is singular.

    If `b` is NULL, it is the identity matrix. `b` has vectors if `b_trailing` is 1.
    """
    cdef floating lu[MAX_ORDER * MAX_ORDER]
    cdef int pivots[MAX_ORDER]
    cdef npy_intp n = last_dim(a, 1), columns = n, i
    cdef npy_intp strides[2]
    if b != NULL:
        columns = 1 if b_trailing == 1 else last_dim(b, 1)
        strides[0] = strides_of(b)[ndim_of(b) - b_trailing]
        strides[1] = 0 if b_trailing == 1 else strides_of(b)[ndim_of(b) - 1]
    for i in range(batch.count):
        read_matrix[floating](matrix_address(batch, a, 2, i), matrix_strides(a), n, n, lu)
        if not factor_lu[floating](lu, n, n, pivots):
            return False
        if b == NULL:
            set_identity[floating](out, n)
        else:
            read_matrix[floating](matrix_address(batch, b, b_trailing, i), strides, n, columns, out)
        solve_lu[floating](lu, n, pivots, out, columns)
        out += n * columns
    return True


cdef int run_solve(
    Operator op, IValue *r, const int32_t *at, PyArrayObject *a, PyArrayObject *b, int b_trailing, int kind, bint with_info
) except -1:
    cdef MatrixBatch batch
    cdef MatrixBatch matrices
    cdef ReleasedGil gil_state
    cdef npy_intp n = last_dim(a, 1), columns = n
    cdef bint is_valid
    cdef char *out
    cdef object result
    if not read_batch(&batch, kind, a, b, b_trailing) or batch.n + 2 > MAX_DIMS:
        return UNSUPPORTED
    if b_trailing == 1:
        columns = 1
        result = new_vectors(&batch, n)
    else:
        if b != NULL:
            columns = last_dim(b, 1)
        result = new_matrices(&batch, n, columns)
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(batch.count * n * n * max(n, columns), r, at, op.nargs)
    if kind == FLOAT:
        is_valid = solve_matrices[float](&batch, a, b, b_trailing, <float *>out)
    else:
        is_valid = solve_matrices[double](&batch, a, b, b_trailing, <double *>out)
    take_gil(gil_state)
    if not is_valid:
        return UNSUPPORTED
    if b_trailing == 1 and batch.n > 0:
        result = copy_by_columns(&batch, <PyArrayObject *>result)
    if with_info:
        read_batch(&matrices, kind, a, NULL, 0)
        set_result(&r[at[op.nargs + 1]], new_info(&matrices), INT32)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int inv(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = small_square_matrices(&r[at[0]])
    return UNSUPPORTED if a == NULL else run_solve(op, r, at, a, NULL, 2, scalar_type(&r[at[0]]), False)


cdef int inv_ex(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = small_square_matrices(&r[at[0]])
    return UNSUPPORTED if a == NULL else run_solve(op, r, at, a, NULL, 2, scalar_type(&r[at[0]]), True)


cdef bint is_vector(PyArrayObject *a, PyArrayObject *b) noexcept:
    """Return whether `b` has one vector for each matrix of `a`, as in `ts.ops.solvers.is_vector`."""
    cdef int d
    if ndim_of(b) == 1:
        return True
    if ndim_of(b) != ndim_of(a) - 1:
        return False
    for d in range(ndim_of(b)):
        if dims_of(a)[d] != dims_of(b)[d]:
            return False
    return True


cdef int solve(Operator op, IValue *r, const int32_t *at) except -1:
    """Run linalg_solve, or linalg_solve_ex, whose second result is the error codes."""
    cdef PyArrayObject *a = small_square_matrices(&r[at[0]])
    cdef PyArrayObject *b = aligned_float_array(&r[at[1]])
    cdef int trailing
    if a == NULL or b == NULL or not r[at[2]].v.i or scalar_type(&r[at[0]]) != scalar_type(&r[at[1]]):
        return UNSUPPORTED
    trailing = 1 if is_vector(a, b) else 2
    if ndim_of(b) < trailing or last_dim(b, trailing) != last_dim(a, 1):
        return UNSUPPORTED
    return run_solve(op, r, at, a, b, trailing, scalar_type(&r[at[0]]), op.nargs == 4)


cdef bint factor_matrices_lu(MatrixBatch *batch, PyArrayObject *a, floating *out, int32_t *pivots) noexcept nogil:
    cdef npy_intp rows = last_dim(a, 2), columns = last_dim(a, 1), i
    for i in range(batch.count):
        read_matrix[floating](matrix_address(batch, a, 2, i), matrix_strides(a), rows, columns, out)
        if not factor_lu[floating](out, rows, columns, <int *>pivots):
            return False
        out += rows * columns
        pivots += min(rows, columns)
    return True


cdef int lu_factor(Operator op, IValue *r, const int32_t *at) except -1:
    """Run linalg_lu_factor, or linalg_lu_factor_ex, whose third result is the error codes."""
    cdef PyArrayObject *a = aligned_float_array(&r[at[0]])
    cdef MatrixBatch batch
    cdef npy_intp dims[MAX_DIMS]
    cdef ReleasedGil gil_state
    cdef npy_intp rows, columns
    cdef int d
    cdef bint is_valid
    cdef char *out
    cdef int32_t *rows_out
    if a == NULL or ndim_of(a) < 2 or not r[at[1]].v.i:
        return UNSUPPORTED
    rows, columns = last_dim(a, 2), last_dim(a, 1)
    if rows > MAX_ORDER or columns > MAX_ORDER or not read_batch(&batch, scalar_type(&r[at[0]]), a, NULL, 0):
        return UNSUPPORTED
    for d in range(batch.n):
        dims[d] = batch.dims[d]
    dims[batch.n] = min(rows, columns)
    result = new_matrices(&batch, rows, columns)
    pivots = new_zeros(batch.n + 1, dims, INT32)
    out, rows_out = data_of(<PyArrayObject *>result), <int32_t *>data_of(<PyArrayObject *>pivots)
    gil_state = leave_gil(size_of(a) * columns, r, at, op.nargs)
    if batch.kind == FLOAT:
        is_valid = factor_matrices_lu[float](&batch, a, <float *>out, rows_out)
    else:
        is_valid = factor_matrices_lu[double](&batch, a, <double *>out, rows_out)
    take_gil(gil_state)
    if not is_valid:
        return UNSUPPORTED
    if op.nargs == 3:
        set_result(&r[at[5]], new_info(&batch), INT32)
    set_result(&r[at[op.nargs + 1]], pivots, INT32)
    return set_result(&r[at[op.nargs]], result, batch.kind)


cdef bint unpack_factors(
    MatrixBatch *batch, PyArrayObject *a, floating *permutation, floating *lower, floating *upper
) noexcept nogil:
    """Write P, L and U of each matrix P L U by rows. The outputs must be zero. Return False if a matrix is singular."""
    cdef floating lu[MAX_ORDER * MAX_ORDER]
    cdef int pivots[MAX_ORDER]
    cdef int order[MAX_ORDER]          # row number in the matrix for each row of L
    cdef npy_intp rows = last_dim(a, 2), columns = last_dim(a, 1), k = min(rows, columns), matrix, i, j
    for matrix in range(batch.count):
        read_matrix[floating](matrix_address(batch, a, 2, matrix), matrix_strides(a), rows, columns, lu)
        if not factor_lu[floating](lu, rows, columns, pivots):
            return False
        for i in range(rows):
            order[i] = <int>i
        for i in range(k):
            order[i], order[pivots[i] - 1] = order[pivots[i] - 1], order[i]
        for i in range(rows):
            permutation[order[i] * rows + i] = 1
            for j in range(min(i, k)):
                lower[i * k + j] = lu[j * rows + i]
            if i < k:
                lower[i * k + i] = 1
                for j in range(i, columns):
                    upper[i * columns + j] = lu[j * rows + i]
        permutation += rows * rows
        lower += rows * k
        upper += k * columns
    return True


cdef object new_zero_matrices(MatrixBatch *batch, npy_intp rows, npy_intp columns):
    """Allocate a contiguous array of zeros of shape (*batch, rows, columns)."""
    cdef npy_intp dims[MAX_DIMS]
    cdef int d
    for d in range(batch.n):
        dims[d] = batch.dims[d]
    dims[batch.n], dims[batch.n + 1] = rows, columns
    return new_zeros(batch.n + 2, dims, batch.kind)


cdef int lu(Operator op, IValue *r, const int32_t *at) except -1:
    """Run linalg_lu, whose results are the permutation matrix, L and U."""
    cdef PyArrayObject *a = aligned_float_array(&r[at[0]])
    cdef MatrixBatch batch
    cdef ReleasedGil gil_state
    cdef npy_intp rows, columns
    cdef bint is_valid
    cdef char *p
    cdef char *l
    cdef char *u
    if a == NULL or ndim_of(a) < 2 or not r[at[1]].v.i:
        return UNSUPPORTED
    rows, columns = last_dim(a, 2), last_dim(a, 1)
    if rows > MAX_ORDER or columns > MAX_ORDER or not read_batch(&batch, scalar_type(&r[at[0]]), a, NULL, 0):
        return UNSUPPORTED
    permutation = new_zero_matrices(&batch, rows, rows)
    lower = new_zero_matrices(&batch, rows, min(rows, columns))
    upper = new_zero_matrices(&batch, min(rows, columns), columns)
    p, l = data_of(<PyArrayObject *>permutation), data_of(<PyArrayObject *>lower)
    u = data_of(<PyArrayObject *>upper)
    gil_state = leave_gil(size_of(a) * columns, r, at, op.nargs)
    if batch.kind == FLOAT:
        is_valid = unpack_factors[float](&batch, a, <float *>p, <float *>l, <float *>u)
    else:
        is_valid = unpack_factors[double](&batch, a, <double *>p, <double *>l, <double *>u)
    take_gil(gil_state)
    if not is_valid:
        return UNSUPPORTED
    set_result(&r[at[op.nargs + 2]], upper, batch.kind)
    set_result(&r[at[op.nargs + 1]], lower, batch.kind)
    return set_result(&r[at[op.nargs]], permutation, batch.kind)


register_kernel("aten::linalg_cholesky", cholesky)
register_kernel("aten::cholesky", cholesky)
register_kernel("aten::linalg_cholesky_ex", cholesky)
register_kernel("aten::cholesky_solve", cholesky_solve)
register_kernel("aten::_cholesky_solve_helper", cholesky_solve)
register_kernel("aten::cholesky_inverse", cholesky_inverse)
register_kernel("aten::linalg_solve_triangular", solve_triangular)
register_kernel("aten::linalg_inv", inv)
register_kernel("aten::inverse", inv)
register_kernel("aten::linalg_inv_ex", inv_ex)
register_kernel("aten::linalg_solve", solve)
register_kernel("aten::linalg_solve_ex", solve)
register_kernel("aten::linalg_lu", lu)
register_kernel("aten::linalg_lu_factor", lu_factor)
register_kernel("aten::linalg_lu_factor_ex", lu_factor)
