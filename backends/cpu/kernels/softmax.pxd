"""Softmax of rows, as a building block of larger kernels."""

from numpy cimport npy_intp

# Compute the softmax of rows of `n` elements with ScalarType `kind` (FLOAT or DOUBLE). x and out must not
# overlap.
cdef void softmax_rows(int kind, void *x, npy_intp rows, npy_intp n, void *out) noexcept nogil
# Compute log_softmax along the middle dimension of (outer, n, inner). Return False if memory is exhausted.
cdef bint compute_log_softmax(int kind, void *x, npy_intp outer, npy_intp n, npy_intp inner, void *out) noexcept nogil
