"""Cache of packed operands that several matrix products use. `packed_operand_cache.pyx` describes its
invalidation.
"""

from libc.stdint cimport int64_t

from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.gemm_tiles cimport Packed
from ts.backends.cpu.kernels.blas_matrix cimport Matrix

# Return the panels (of `wide` columns) of a floating matrix in the memory of tensor `t`, or None if they are
# not cached. The matrix is packed when it is used repeatedly and has not been written to since the earlier
# use. Call this function before taking another reference to the tensor's array.
cdef Packed cached_panels(Tensor t, bint double_, Matrix *b, int64_t wide)
