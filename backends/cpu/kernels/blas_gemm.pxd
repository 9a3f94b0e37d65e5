"""Calls of the BLAS functions for matrix products (`blas_gemm.pyx`)."""

from libc.stdint cimport int64_t

from ts.backends.cpu.kernels.blas_matrix cimport Matrix

# Find the BLAS library. Return the width of its integers in bits, or 0 if there is no library.
cdef int load_library() except -1

# Compute c = alpha * a @ b + beta * c with the BLAS library found by `load_library`. `kind` is 0 for float32,
# 1 for float64, 2 for complex64, 3 for complex128. `pitch` is the distance between rows of c in elements.
cdef void gemm(int kind, Matrix *a, Matrix *b, void *c, int64_t pitch, double alpha, double beta) noexcept nogil
