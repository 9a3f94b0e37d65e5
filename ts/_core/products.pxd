"""Products of two matrices on the CPU, straight through the inner loop of np.matmul."""

from cpython.ref cimport PyObject

from ts._core.tensor cimport Tensor

# x @ y, or x @ y.T, of matrices of one floating dtype: a new reference to a Tensor, or NULL without an
# exception where they are not of that kind.
cdef PyObject *matrix_product(Tensor x, Tensor y, bint transposed) except? NULL
