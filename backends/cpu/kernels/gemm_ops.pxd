"""Matrix products of arrays, for kernels that consist of several operations."""

from ts.backends.cpu.kernels.blas_matrix cimport Epilogue
from ts.backends.cpu.kernels.gemm_tiles cimport Packed

# Return alpha * a @ b + beta * summand as a new C-contiguous array, or None if unsupported; stacks broadcast.
cdef object product(object a, object b, object summand, double alpha, double beta)
# Return x @ weight.T + bias, or None if unsupported; `bias` is None or a row of the result's length.
cdef object linear_product(object x, object weight, object bias)
# Like `linear_product`, with the packed transpose of the weight (or None) and an epilogue (or NULL) that is
# applied to blocks of the result while they are in the cache (`Epilogue`); None for half precision with an
# epilogue.
cdef object linear_with_epilogue(object x, object weight, object bias, Packed packed, Epilogue epilogue, void *context)
