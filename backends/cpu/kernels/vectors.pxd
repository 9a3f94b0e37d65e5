"""Products of vectors with vectors and matrices, for floating CPU tensors."""

from cpython.object cimport PyObject

from ts._core.tensor.tensor cimport Tensor

# Return x @ y of a vector and a vector or matrix, in either order, as a new reference; NULL if unsupported or
# large.
cdef PyObject *vector_product(Tensor x, Tensor y) except? NULL
