"""Products in which one factor is a vector, on CPU tensors of floats."""

from cpython.object cimport PyObject

from ts._core.tensor.tensor cimport Tensor

# x @ y of a vector and a vector or a matrix: a new reference; NULL where they are not of that kind, or much work.
cdef PyObject *vector_product(Tensor x, Tensor y) except? NULL
