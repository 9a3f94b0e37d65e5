"""Softmax of rows, for kernels that are made of several."""

from numpy cimport npy_intp

# Of rows of `n` floats or doubles (the ScalarType `kind`); x and out do not overlap.
cdef void softmax_rows(int kind, void *x, npy_intp rows, npy_intp n, void *out) noexcept nogil
