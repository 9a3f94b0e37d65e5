"""Similarities and distances of vectors in floating CPU tensors, with any strides and broadcasting.

Input: interpreter registers with two tensors, and parameters such as the order of the norm. Output: the
register of the result. For other arguments, the operator's Python kernel runs. The operators are:

    cosine_similarity(x, y, 1)    pairwise_distance(x, y)    cdist(x, y), cdist(x, y, 1.0)
"""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport FLOAT, PyArrayObject, data_of, dims_of, ndim_of, strides_of
from ts._core.value.ivalue cimport IValue, TAG_INT
from ts.backends.cpu.kernels.gil cimport ReleasedGil, leave_gil, take_gil
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS, new_contiguous, set_result, read_number, scalar_type
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts.backends.cpu.kernels.strided_floats cimport aligned_float_array
from ts.backends.cpu.kernels.view cimport wrap_dim
from ts.backends.cpu.kernels.tensor_iterator cimport Operand, broadcast_into, set_operand_strides

cnp.import_array()

# For vectors with more elements, the operator's Python kernel runs, because it checks the time limit of
# `ts.limits`.
cdef int64_t MAX_ELEMENTS = 1 << 24

ctypedef fused floating:
    float
    double

cdef enum DistanceKind:
    COSINE
    SUM
    EUCLIDEAN
    LARGEST


ctypedef struct Pairs:
    DistanceKind measure
    # Argument `eps`. `pairwise_distance` adds it to the differences. In `cosine_similarity`, it is the lower
    # bound of the norms.
    double eps
    int nd                             # number of dimensions of the result
    npy_intp shape[MAX_DIMS]
    npy_intp first[MAX_DIMS]           # byte strides of the first operand along the result's dimensions
    npy_intp second[MAX_DIMS]          # byte strides of the second operand along the result's dimensions
    npy_intp n                         # length of the vectors
    npy_intp first_stride              # byte stride between the elements of a vector of the first operand
    npy_intp second_stride             # byte stride between the elements of a vector of the second operand


cdef double compute_distance(const char *x, const char *y, Pairs *p, floating kind) noexcept nogil:
    cdef npy_intp i
    cdef double a, b, total = 0, norm_x = 0, norm_y = 0
    cdef floating eps = <floating>p.eps
    if p.measure == COSINE:
        for i in range(p.n):
            a, b = (<floating *>(x + i * p.first_stride))[0], (<floating *>(y + i * p.second_stride))[0]
            total += a * b
            norm_x += a * a
            norm_y += b * b
        norm_x, norm_y = sqrt(norm_x), sqrt(norm_y)
        return total / ((p.eps if norm_x < p.eps else norm_x) * (p.eps if norm_y < p.eps else norm_y))
    for i in range(p.n):
        a = <floating>((<floating *>(x + i * p.first_stride))[0] - (<floating *>(y + i * p.second_stride))[0]) + eps
        if p.measure == EUCLIDEAN:
            total += a * a
        elif p.measure == SUM:
            total += fabs(a)
        elif fabs(a) > total or a != a:
            total = fabs(a)
            if a != a:
                return a
    return sqrt(total) if p.measure == EUCLIDEAN else total


cdef void compute_distances(const char *x, const char *y, Pairs *p, floating *out) noexcept nogil:
    """Compute the distance of each pair of vectors, in row-major order of the result's elements."""
    cdef npy_intp index[MAX_DIMS]
    cdef npy_intp o = 0
    cdef int d
    for d in range(p.nd):
        index[d] = 0
    while True:
        out[o] = <floating>compute_distance[floating](x, y, p, 0)
        o += 1
        d = p.nd - 1
        while d >= 0:
            index[d] += 1
            x += p.first[d]
            y += p.second[d]
            if index[d] < p.shape[d]:
                break
            x -= p.first[d] * p.shape[d]
            y -= p.second[d] * p.shape[d]
            index[d] = 0
            d -= 1
        if d < 0:
            return


cdef bint read_floats(IValue *r, const int32_t *at, PyArrayObject **a, PyArrayObject **b) noexcept:
    """Read the arrays of the first two arguments. Return False unless both are floating tensors with equal
    dtypes.
    """
    a[0], b[0] = aligned_float_array(&r[at[0]]), aligned_float_array(&r[at[1]])
    return a[0] != NULL and b[0] != NULL and scalar_type(&r[at[0]]) == scalar_type(&r[at[1]])


cdef bint read_norm(IValue *x, Pairs *p) noexcept:
    """Read the order of a norm (1, 2 or infinity). Return False for other orders."""
    if x.v.f == 2:
        p.measure = EUCLIDEAN
    elif x.v.f == 1:
        p.measure = SUM
    elif x.v.f == INFINITY:
        p.measure = LARGEST
    else:
        return False
    return True


cdef int store_distances(Operator op, IValue *r, const int32_t *at, PyArrayObject *a, PyArrayObject *b, Pairs *p) except -1:
    cdef int64_t work = p.n
    cdef int kind = scalar_type(&r[at[0]]), d
    cdef void *out
    cdef ReleasedGil gil_state
    for d in range(p.nd):
        if work > MAX_ELEMENTS // p.shape[d]:
            return UNSUPPORTED
        work *= p.shape[d]
    result = new_contiguous(p.nd, p.shape, kind)
    out = data_of(<PyArrayObject *>result)
    gil_state = leave_gil(work, r, at, op.nargs)
    if kind == FLOAT:
        compute_distances[float](data_of(a), data_of(b), p, <float *>out)
    else:
        compute_distances[double](data_of(a), data_of(b), p, <double *>out)
    take_gil(gil_state)
    return set_result(&r[at[op.nargs]], result, kind)


cdef bint set_up_vectors(PyArrayObject *a, PyArrayObject *b, int64_t dim, bint keepdim, Pairs *p) noexcept:
    """Set the shape and strides in `p` for the vectors along dimension `dim` of `a` and `b`.

    Return False if the shapes do not broadcast, or `dim` is out of range.
    """
    cdef npy_intp shape[MAX_DIMS]
    cdef Operand first, second
    cdef int d, axis, ndim = max(ndim_of(a), ndim_of(b))
    axis = wrap_dim(dim, ndim)
    if axis < 0:
        return False
    for d in range(ndim):
        shape[d] = 1
    if not broadcast_into(shape, ndim, a) or not broadcast_into(shape, ndim, b):
        return False
    set_operand_strides(&first, a, ndim, shape)
    set_operand_strides(&second, b, ndim, shape)
    p.n, p.first_stride, p.second_stride = shape[axis], first.strides[axis], second.strides[axis]
    p.nd = 0
    for d in range(ndim):
        if d != axis or keepdim:
            p.shape[p.nd] = 1 if d == axis else shape[d]
            p.first[p.nd], p.second[p.nd] = first.strides[d], second.strides[d]
            p.nd += 1
    return True


cdef int cosine_similarity(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a
    cdef PyArrayObject *b
    cdef Pairs p
    if not read_floats(r, at, &a, &b):
        return UNSUPPORTED
    p.measure = COSINE
    if not read_number(&r[at[3]], scalar_type(&r[at[0]]), &p.eps) or not set_up_vectors(a, b, r[at[2]].v.i, False, &p):
        return UNSUPPORTED
    return store_distances(op, r, at, a, b, &p)


cdef int pairwise_distance(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a
    cdef PyArrayObject *b
    cdef Pairs p
    if not read_floats(r, at, &a, &b) or not read_norm(&r[at[2]], &p):
        return UNSUPPORTED
    if not read_number(&r[at[3]], scalar_type(&r[at[0]]), &p.eps) or not set_up_vectors(a, b, -1, r[at[4]].v.i != 0, &p):
        return UNSUPPORTED
    return store_distances(op, r, at, a, b, &p)


cdef int cdist(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute the distances between all rows of `x1` and all rows of `x2`. Leading dimensions broadcast."""
    cdef PyArrayObject *a
    cdef PyArrayObject *b
    cdef Pairs p
    cdef int d, lead, na, nb
    cdef npy_intp m, k
    if not read_floats(r, at, &a, &b) or not read_norm(&r[at[2]], &p):
        return UNSUPPORTED
    na, nb = ndim_of(a), ndim_of(b)
    # For an invalid compute mode of `_cdist_forward`, the operator's Python kernel raises the error.
    if r[at[3]].tag == TAG_INT and not 0 <= r[at[3]].v.i <= 2:
        return UNSUPPORTED
    if na < 2 or nb < 2 or dims_of(a)[na - 1] != dims_of(b)[nb - 1]:
        return UNSUPPORTED
    p.eps, p.nd, lead = 0, max(na, nb), max(na, nb) - 2
    for d in range(lead):  # the leading (batch) dimensions broadcast
        m = dims_of(a)[d - lead + na - 2] if d - lead + na - 2 >= 0 else 1
        k = dims_of(b)[d - lead + nb - 2] if d - lead + nb - 2 >= 0 else 1
        if m != k and m != 1 and k != 1:
            return UNSUPPORTED
        p.shape[d] = max(m, k)
        p.first[d] = strides_of(a)[d - lead + na - 2] if m > 1 else 0
        p.second[d] = strides_of(b)[d - lead + nb - 2] if k > 1 else 0
    p.shape[lead], p.shape[lead + 1] = dims_of(a)[na - 2], dims_of(b)[nb - 2]
    p.first[lead], p.first[lead + 1] = strides_of(a)[na - 2], 0
    p.second[lead], p.second[lead + 1] = 0, strides_of(b)[nb - 2]
    p.n, p.first_stride, p.second_stride = dims_of(a)[na - 1], strides_of(a)[na - 1], strides_of(b)[nb - 1]
    return store_distances(op, r, at, a, b, &p)


register_kernel("aten::cosine_similarity", cosine_similarity)
register_kernel("aten::pairwise_distance", pairwise_distance)
register_kernel("aten::cdist", cdist)
register_kernel("aten::_cdist_forward", cdist)
