"""Products of arrays, for kernels that are made of several."""

from ts.backends.cpu.kernels.matrix cimport Epilogue
from ts.backends.cpu.kernels.gemm_tiles cimport Packed

# alpha * a @ b + beta * summand as a new array in order, or None where BLAS does not compute that; stacks broadcast.
cdef object product(object a, object b, object summand, double alpha, double beta)
# x @ weight.T + bias, or None; the bias, which may be None, is a row of the result's length.
cdef object linear_product(object x, object weight, object bias)
# The same with panels of the weight's transpose, or None, and an epilogue, which has the blocks of the result while they are in
# the cache (`matrix.pxd`), or NULL; None for 16-bit floats with an epilogue.
cdef object linear_with(object x, object weight, object bias, Packed packed, Epilogue epilogue, void *context)
