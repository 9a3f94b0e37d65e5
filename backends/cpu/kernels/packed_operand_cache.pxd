"""Cache (hash table with Fibonacci hashing) of packed operands for several matrix products.

`packed_operand_cache.pyx` describes the invalidation.
"""

from libc.stdint cimport int64_t

from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.gemm_tiles cimport Packed
from ts.backends.cpu.kernels.blas_matrix cimport Matrix

# Return panels of `wide` columns for `b`, a floating matrix in the memory of tensor `t`, or None if `b` is
# not packed. Each call counts as a use of the matrix. The matrix is packed from its second use on. It is not
# packed if it was written to since the previous use, or if the caller holds another reference to the tensor's
# array.
cdef Packed cached_panels(Tensor t, bint double_, Matrix *b, int64_t wide)
