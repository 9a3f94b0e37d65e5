"""Matrix products of arrays, as building blocks of larger kernels."""

from ts.backends.cpu.kernels.blas_matrix cimport Epilogue
from ts.backends.cpu.kernels.gemm_tiles cimport Packed

# Return alpha * a @ b + beta * summand as a new C-contiguous array, or None if the operands are unsupported.
# `a` and `b` are matrices or batches of matrices, which broadcast.
cdef object product(object a, object b, object summand, double alpha, double beta)
# Return x @ weight.T + bias, or None if the operands are unsupported. `bias` is None or a vector of the
# result's last dimension.
cdef object linear_product(object x, object weight, object bias)
# Return `linear_product` with an epilogue. `epilogue` is NULL, or is called with `context` for each tile
# while the tile is in the cache. `packed` is the packed transpose of the weight, or None. Return None for
# unsupported operands, and for half precision with an epilogue.
cdef object linear_with_epilogue(object x, object weight, object bias, Packed packed, Epilogue epilogue, void *context)
