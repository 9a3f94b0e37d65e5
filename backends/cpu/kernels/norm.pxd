"""Normalisation of rows, for kernels that are made of several."""

# layer_norm of an array of floats that lies in order, over its last dimension, with weights of that length.
cdef object layer_norm_rows(object x, object weight, object bias, double eps)
