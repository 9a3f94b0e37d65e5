"""Cache of packed operands that several matrix products use. `packed_operand_cache.pyx` describes its
invalidation.
"""

from libc.stdint cimport int64_t

from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.gemm_tiles cimport Packed
from ts.backends.cpu.kernels.blas_matrix cimport Matrix

# Return the packed panels, with `wide` columns each, of a tensor's floating matrix. These are cached panels,
# or new panels if the matrix was seen before and cannot have been written to. Otherwise, return None. Call
# this function before taking another reference to the tensor's array.
cdef Packed cached_panels(Tensor t, bint double_, Matrix *b, int64_t wide)
