"""Eigenvalues and eigenvectors of small symmetric matrices, by the LAPACK loops of NumPy's generalized ufuncs.

Input: interpreter registers with a CPU tensor of float32 or float64 matrices, and the triangle ("L" or "U").
Output: the registers of eigenvalues and eigenvectors. The operators are:

    linalg_eigvalsh(x)      linalg_eigh(x)      _linalg_eigh(x, "L", False)

The direct calls of the loops have no overhead for arguments. If a matrix has not finite eigenvalues, or NumPy has no
such loops, the operator's Python kernel runs.
"""

from importlib import import_module

cimport numpy as cnp
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport FLOAT, PyArrayObject, data_of, dims_of, ndim_of, size_of, strides_of
from ts._core.value.ivalue cimport IValue, TAG_OBJECT
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS, new_contiguous, scalar_type, set_result
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts.backends.cpu.kernels.small_linalg cimport MatrixBatch, matrix_address, new_matrices, read_batch, small_square_matrices
from ts.backends.cpu.kernels.ufunc_loops cimport UfuncLoop, find_ufunc_loop

cnp.import_array()
cnp.import_ufunc()

cdef enum:
    VALUES = 0                         # index of the ufuncs `eigvalsh_lo` and `eigvalsh_up`
    VALUES_AND_VECTORS = 1             # index of the ufuncs `eigh_lo` and `eigh_up`

cdef UfuncLoop lapack_loops[2][2][2]  # [VALUES or VALUES_AND_VECTORS][upper triangle][float64]
cdef bint are_loaded = False


cdef int load_loops() except -1:
    """Look up the loops of the generalized ufuncs of `numpy.linalg`. Missing loops stay NULL."""
    global are_loaded
    cdef int index, upper, double_
    are_loaded = True
    try:
        module = import_module("numpy.linalg._umath_linalg")
    except ImportError:
        return 0
    for index, prefix, results in ((VALUES, "eigvalsh", ""), (VALUES_AND_VECTORS, "eigh", "{0}")):
        for upper, suffix in enumerate(("lo", "up")):
            for double_, letter in enumerate("fd"):
                types = f"{letter}->{letter}" + results.format(letter)
                find_ufunc_loop(module, f"{prefix}_{suffix}", types, &lapack_loops[index][upper][double_])
    return 0


cdef int read_triangle(IValue *x):
    """Return 0 for "L", 1 for "U", and -1 for other values."""
    if x.tag != TAG_OBJECT or type(<object>x.v.o) is not str:
        return -1
    return ("L", "U").index(<str>x.v.o) if <str>x.v.o in ("L", "U") else -1


cdef bint are_finite(int kind, const char *x, npy_intp n) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        if kind == FLOAT:
            if (<const float *>x)[i] - (<const float *>x)[i] != 0:
                return False
        elif (<const double *>x)[i] - (<const double *>x)[i] != 0:
            return False
    return True


cdef bint decompose(UfuncLoop *loop, MatrixBatch *batch, PyArrayObject *a, char *values, char *vectors) noexcept nogil:
    """Write the eigenvalues of each matrix, and unless `vectors` is NULL also the eigenvectors, by columns.

    Return False if an eigenvalue is not finite.
    """
    cdef npy_intp item = 4 if batch.kind == FLOAT else 8, n = dims_of(a)[ndim_of(a) - 1], i
    cdef npy_intp[2] dims = [1, n]
    cdef npy_intp[8] strides
    cdef char *args[3]
    cdef int at = 2 if vectors == NULL else 3
    strides[0] = strides[1] = strides[2] = 0      # the loop runs once for each matrix
    strides[at] = strides_of(a)[ndim_of(a) - 2]
    strides[at + 1] = strides_of(a)[ndim_of(a) - 1]
    strides[at + 2] = item
    if vectors != NULL:
        strides[at + 3], strides[at + 4] = item, n * item
    for i in range(batch.count):
        args[0], args[1], args[2] = matrix_address(batch, a, 2, i), values, vectors
        loop.function(args, dims, strides, loop.data)
        if not are_finite(batch.kind, values, n):
            return False
        values += n * item
        if vectors != NULL:
            vectors += n * n * item
    return True


cdef int run_decomposition(Operator op, IValue *r, const int32_t *at, bint with_vectors) except -1:
    cdef PyArrayObject *a = small_square_matrices(&r[at[0]])
    cdef MatrixBatch batch
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp n
    cdef UfuncLoop *loop
    cdef ReleasedGil gil_state
    cdef int upper = read_triangle(&r[at[1]]), d
    cdef bint is_valid
    cdef object vectors = None
    if a == NULL or upper < 0 or not read_batch(&batch, scalar_type(&r[at[0]]), a, NULL, 0):
        return UNSUPPORTED
    if not are_loaded:
        load_loops()
    loop = &lapack_loops[<int>VALUES_AND_VECTORS if with_vectors else <int>VALUES][upper][batch.kind != FLOAT]
    if loop.function == NULL:
        return UNSUPPORTED
    n = dims_of(a)[ndim_of(a) - 1]
    for d in range(batch.n):
        dims[d] = batch.dims[d]
    dims[batch.n] = n
    values = new_contiguous(batch.n + 1, dims, batch.kind)
    if with_vectors:
        vectors = new_matrices(&batch, n, n)
    gil_state = leave_gil(size_of(a) * n, r, at, op.nargs)
    is_valid = decompose(
        loop, &batch, a, data_of(<PyArrayObject *>values), data_of(<PyArrayObject *>vectors) if with_vectors else NULL
    )
    take_gil(gil_state)
    if not is_valid:
        return UNSUPPORTED
    if op.nrets == 2:
        if not with_vectors:
            dims[0] = 0
            vectors = new_contiguous(1, dims, batch.kind)
        set_result(&r[at[op.nargs + 1]], vectors, batch.kind)
    return set_result(&r[at[op.nargs]], values, batch.kind)


cdef int eigvalsh(Operator op, IValue *r, const int32_t *at) except -1:
    return run_decomposition(op, r, at, False)


cdef int eigh(Operator op, IValue *r, const int32_t *at) except -1:
    return run_decomposition(op, r, at, True)


cdef int eigh_with_flag(Operator op, IValue *r, const int32_t *at) except -1:
    return run_decomposition(op, r, at, r[at[2]].v.i != 0)


register_kernel("aten::linalg_eigvalsh", eigvalsh)
register_kernel("aten::linalg_eigh", eigh)
register_kernel("aten::_linalg_eigh", eigh_with_flag)
