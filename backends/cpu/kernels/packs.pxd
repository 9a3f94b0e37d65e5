"""Cache of packed operands that repeat in matrix products; see the `.pyx` for its invalidation."""

from libc.stdint cimport int64_t

from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.gemm_tiles cimport Packed
from ts.backends.cpu.kernels.blas_matrix cimport Matrix

# Return the packed panels, `wide` columns each, of a tensor's floating matrix: cached ones, or new ones if
# the matrix was seen before and cannot have been written to; else None. Call it before taking another
# reference to the tensor's array.
cdef Packed cached_panels(Tensor t, bint double_, Matrix *b, int64_t wide)
