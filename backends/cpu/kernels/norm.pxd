"""Layer normalization of arrays, for kernels that consist of several operations."""

# Return layer_norm of a contiguous float32 array over its last dimension, with weights of that length.
cdef object layer_norm_rows(object x, object weight, object bias, double eps)
