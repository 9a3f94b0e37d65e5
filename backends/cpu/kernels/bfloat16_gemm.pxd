"""Products of bfloat16 matrices and stacks of matrices by AVX512_BF16 (`bfloat16_gemm.pyx`)."""

from ts._core.tensor.tensor cimport Tensor
from ts.backends.cpu.kernels.gemm_tiles cimport Packed

# Compute c = alpha * a @ b + beta * c + bias for bfloat16 matrices, or for batches that broadcast to the shape of the
# C-contiguous array c, with float32 sums. Return False if the shapes or the processor are unsupported. If `beta` is 0,
# c is not read. `bias` is None or a contiguous row, and requires beta = 0. `packed` is None or the result of
# `cached_pairs_for`.
cdef bint multiply_bfloat16_into(object a, object b, object c, double alpha, double beta, object bias, Packed packed) except -1

# Return the cached packed columns of the bfloat16 tensor `y` (of y.T if `transposed`) for a product with the left
# operand `x`, or None. Precondition: the caller holds no references to the arrays of the tensors.
cdef Packed cached_pairs_for(Tensor x, Tensor y, bint transposed)
