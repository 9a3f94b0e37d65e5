"""Iteration over stacks of matrices, the leading (batch) dimensions of matrix products (`matrix_stacks.pyx`)."""

from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS

ctypedef struct Stacks:                # the leading (batch) dimensions of both operands and the product
    int n                              # number of dimensions after adjacent ones have been merged, at least one
    npy_intp dims[MAX_DIMS]
    npy_intp strides[3][MAX_DIMS]        # byte strides of the left operand, the right operand and the product

cdef bint read_stacks(Stacks *s, PyArrayObject *x, PyArrayObject *y, PyArrayObject *z) noexcept
cdef bint next_stack(Stacks *s, npy_intp *index, char **left, char **right, char **out) noexcept nogil
