"""Softmax of rows, for kernels that are made of several."""

from numpy cimport npy_intp

# Of rows of `n` floats or doubles (the ScalarType `kind`); x and out do not overlap.
cdef void softmax_rows(int kind, void *x, npy_intp rows, npy_intp n, void *out) noexcept nogil
# Its logarithm along the middle dimension of (outer, n, inner); false where there is no memory for it.
cdef bint log_softmax_of(int kind, void *x, npy_intp outer, npy_intp n, npy_intp inner, void *out) noexcept nogil
