"""Products of vectors with vectors or matrices, for floating CPU tensors."""

from cpython.object cimport PyObject

from ts._core.tensor.tensor cimport Tensor

# Return x @ y as a new reference. One operand is a vector, and the other one is a vector or a matrix. Return
# NULL if the operands are unsupported or too large for this function.
cdef PyObject *vector_product(Tensor x, Tensor y) except? NULL
