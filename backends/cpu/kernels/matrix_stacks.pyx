"""Iteration over stacks of matrices (batched GEMM), the leading (batch) dimensions of matrix products.

Input: the arrays of both operands and of the product. Output: the addresses of the matrices of each product.

Adjacent dimensions are merged if the strides allow this. Examples of products and their iterations:

    (2, 3, 4, 5) @ (5, 6)      one dimension of 6 products
    (2, 3, 4, 5) @ (3, 5, 6)   two dimensions of 2 and 3 products
"""

from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject, dims_of, ndim_of, strides_of


cdef bint read_stacks(Stacks *s, PyArrayObject *x, PyArrayObject *y, PyArrayObject *z) noexcept:
    """Read the batch dimensions (all but the last two) of the operands and of the product into `s`.

    Return False if an operand does not broadcast to the product.
    """
    cdef PyArrayObject **arrays = [x, y, z]
    cdef npy_intp stride[3]
    cdef npy_intp length
    cdef int d, k, own
    cdef bint even
    s.n = 1
    s.dims[0] = 1
    for d in range(ndim_of(z) - 2):
        length = dims_of(z)[d]
        for k in range(3):
            own = d - ndim_of(z) + ndim_of(arrays[k])
            stride[k] = 0
            if own >= 0 and dims_of(arrays[k])[own] != 1:
                if dims_of(arrays[k])[own] != length:
                    return False
                stride[k] = strides_of(arrays[k])[own]
        if length == 1:
            continue
        even = s.dims[s.n - 1] == 1
        if not even:
            even = True
            for k in range(3):
                even = even and s.strides[k][s.n - 1] == stride[k] * length
            if not even:
                s.n += 1
                s.dims[s.n - 1] = 1
        s.dims[s.n - 1] *= length
        for k in range(3):
            s.strides[k][s.n - 1] = stride[k]
    if s.dims[0] == 1:
        s.strides[0][0] = s.strides[1][0] = s.strides[2][0] = 0
    return True


cdef bint next_stack(Stacks *s, npy_intp *index, char **left, char **right, char **out) noexcept nogil:
    """Advance `index` and the three pointers to the next index of the batch dimensions, except for the last one.

    The caller iterates along the last batch dimension. Return False after the last index.
    """
    cdef int d = s.n - 2
    while d >= 0:
        index[d] += 1
        left[0] += s.strides[0][d]
        right[0] += s.strides[1][d]
        out[0] += s.strides[2][d]
        if index[d] < s.dims[d]:
            return True
        left[0] -= s.strides[0][d] * s.dims[d]
        right[0] -= s.strides[1][d] * s.dims[d]
        out[0] -= s.strides[2][d] * s.dims[d]
        index[d] = 0
        d -= 1
    return False
