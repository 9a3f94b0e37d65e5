"""Products of vectors with vectors or matrices, for floating CPU tensors."""

from cpython.object cimport PyObject

from ts._core.tensor.tensor cimport Tensor

# Return x @ y, where one operand is a vector and the other a vector or matrix, as a new reference. Return
# NULL if the operands are unsupported or large.
cdef PyObject *vector_product(Tensor x, Tensor y) except? NULL
