"""Products of few rows by half-precision matrices with contiguous columns (`half_skinny_gemm.pyx`)."""

# Return alpha * a @ b + bias as a new float32 array, or None if the operands are unsupported: `a` must have at most
# MAX_ROWS rows, and the columns of the matrix `b` must be contiguous. `a` and `b` have the same half-precision dtype.
# `bias` is None or a float32 row.
cdef object multiply_half_rows(object a, object b, double alpha, object bias)
