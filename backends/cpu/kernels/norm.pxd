"""Layer normalization of arrays, as a building block of larger kernels."""

# Return layer_norm of a contiguous float32 array over its last dimension. Weight and bias have the length of
# that dimension.
cdef object layer_norm_rows(object x, object weight, object bias, double eps)
