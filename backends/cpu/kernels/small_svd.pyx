"""Singular value decompositions of small matrices, by the LAPACK loops of NumPy's generalized ufuncs.

Input: interpreter registers with a CPU tensor of float32 or float64 matrices with at most MAX_ORDER rows and columns,
in any layout. Output: the registers of U, S and Vh, with U and Vh stored by columns. The operators are:

    linalg_svd(x)      linalg_svdvals(x)      _linalg_svd(x, False, True)

The direct calls of the loops have no overhead for arguments. If an element is infinite or NaN, or NumPy has no such
loops, the operator's Python kernel runs.
"""

from importlib import import_module

cimport numpy as cnp
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport FLOAT, PyArrayObject, data_of, dims_of, ndim_of, size_of, strides_of
from ts._core.value.ivalue cimport IValue, TAG_NONE
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS, new_contiguous, scalar_type, set_result
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts.backends.cpu.kernels.small_linalg cimport MatrixBatch, matrix_address, new_matrices, read_batch
from ts.backends.cpu.kernels.small_matrix_loops cimport MAX_ORDER
from ts.backends.cpu.kernels.strided_floats cimport aligned_float_array
from ts.backends.cpu.kernels.ufunc_loops cimport UfuncLoop, find_ufunc_loop

cnp.import_array()
cnp.import_ufunc()

cdef enum Parts:
    VALUES                             # only S
    REDUCED                            # U, S and Vh, with min(rows, columns) vectors
    FULL                               # square U and Vh

cdef UfuncLoop lapack_loops[3][2]     # [Parts][float64]
cdef bint are_loaded = False


cdef int load_loops() except -1:
    """Look up the loops of the generalized ufuncs of `numpy.linalg`. Missing loops stay NULL."""
    global are_loaded
    cdef int parts, double_
    are_loaded = True
    try:
        module = import_module("numpy.linalg._umath_linalg")
    except ImportError:
        return 0
    for parts, name in enumerate(("svd", "svd_s", "svd_f")):
        for double_, letter in enumerate("fd"):
            types = f"{letter}->{letter * (1 if parts == <int>VALUES else 3)}"
            find_ufunc_loop(module, name, types, &lapack_loops[parts][double_])
    return 0


cdef inline bint is_finite_element(int kind, const char *x) noexcept nogil:
    if kind == FLOAT:
        return (<const float *>x)[0] - (<const float *>x)[0] == 0
    return (<const double *>x)[0] - (<const double *>x)[0] == 0


cdef bint is_finite_matrix(int kind, const char *x, npy_intp *dims, npy_intp *strides) noexcept nogil:
    cdef npy_intp i, j
    for i in range(dims[0]):
        for j in range(dims[1]):
            if not is_finite_element(kind, x + i * strides[0] + j * strides[1]):
                return False
    return True


cdef bint decompose(
    UfuncLoop *loop, MatrixBatch *batch, PyArrayObject *a, npy_intp left, npy_intp right, char *u, char *s, char *vh
) noexcept nogil:
    """Write the decomposition of each matrix: U with `left` columns, S and Vh with `right` rows. `u` and `vh` may be NULL.

    Return False if an element of a matrix is not finite, or if LAPACK fails.
    """
    cdef npy_intp item = 4 if batch.kind == FLOAT else 8, i
    cdef npy_intp *shape = dims_of(a) + ndim_of(a) - 2
    cdef npy_intp *steps = strides_of(a) + ndim_of(a) - 2
    cdef npy_intp rows = shape[0], columns = shape[1], count = min(rows, columns)
    cdef npy_intp[4] dims = [1, rows, columns, count]
    cdef npy_intp[11] with_vectors = [0, 0, 0, 0, steps[0], steps[1], item, rows * item, item, item, right * item]
    cdef npy_intp[5] values_only = [0, 0, steps[0], steps[1], item]
    cdef char *args[4]
    for i in range(batch.count):
        args[0] = matrix_address(batch, a, 2, i)
        if not is_finite_matrix(batch.kind, args[0], shape, steps):
            return False
        if u == NULL:
            args[1] = s
            loop.function(args, dims, values_only, loop.data)
        else:
            args[1], args[2], args[3] = u, s, vh
            loop.function(args, dims, with_vectors, loop.data)
            u += rows * left * item
            vh += right * columns * item
        if not is_finite_element(batch.kind, s):
            return False
        s += count * item
    return True


cdef int run_svd(Operator op, IValue *r, const int32_t *at, Parts parts) except -1:
    cdef PyArrayObject *a = aligned_float_array(&r[at[0]])
    cdef MatrixBatch batch
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp rows, columns, left, right, none = 0
    cdef UfuncLoop *loop
    cdef ReleasedGil gil_state
    cdef bint is_valid
    cdef int d, values_at = 0 if op.nrets == 1 else 1
    cdef char *u = NULL
    cdef char *vh = NULL
    cdef object left_vectors = None, right_vectors = None
    if a == NULL or ndim_of(a) < 2 or r[at[op.nargs - 1]].tag != TAG_NONE:
        return UNSUPPORTED
    rows, columns = dims_of(a)[ndim_of(a) - 2], dims_of(a)[ndim_of(a) - 1]
    if rows > MAX_ORDER or columns > MAX_ORDER or not read_batch(&batch, scalar_type(&r[at[0]]), a, NULL, 0):
        return UNSUPPORTED
    if not are_loaded:
        load_loops()
    loop = &lapack_loops[<int>parts][batch.kind != FLOAT]
    if loop.function == NULL:
        return UNSUPPORTED
    for d in range(batch.n):
        dims[d] = batch.dims[d]
    dims[batch.n] = min(rows, columns)
    values = new_contiguous(batch.n + 1, dims, batch.kind)
    left, right = (rows, columns) if parts == FULL else (dims[batch.n], dims[batch.n])
    if parts != VALUES:
        left_vectors, right_vectors = new_matrices(&batch, rows, left), new_matrices(&batch, right, columns)
        u, vh = data_of(<PyArrayObject *>left_vectors), data_of(<PyArrayObject *>right_vectors)
    elif op.nrets == 3:
        left_vectors, right_vectors = new_contiguous(1, &none, batch.kind), new_contiguous(1, &none, batch.kind)
    gil_state = leave_gil(size_of(a) * rows, r, at, op.nargs)
    is_valid = decompose(loop, &batch, a, left, right, u, data_of(<PyArrayObject *>values), vh)
    take_gil(gil_state)
    if not is_valid:
        return UNSUPPORTED
    if op.nrets == 3:
        set_result(&r[at[op.nargs]], left_vectors, batch.kind)
        set_result(&r[at[op.nargs + 2]], right_vectors, batch.kind)
    return set_result(&r[at[op.nargs + values_at]], values, batch.kind)


cdef int svd(Operator op, IValue *r, const int32_t *at) except -1:
    return run_svd(op, r, at, FULL if r[at[1]].v.i else REDUCED)


cdef int svd_with_flag(Operator op, IValue *r, const int32_t *at) except -1:
    return run_svd(op, r, at, VALUES if not r[at[2]].v.i else FULL if r[at[1]].v.i else REDUCED)


cdef int svdvals(Operator op, IValue *r, const int32_t *at) except -1:
    return run_svd(op, r, at, VALUES)


register_kernel("aten::linalg_svd", svd)
register_kernel("aten::_linalg_svd", svd_with_flag)
register_kernel("aten::linalg_svdvals", svdvals)
