"""Layer normalization of arrays, and arguments of normalizations, for other kernels."""

from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue

# Read an optional contiguous vector of `n` elements with dtype `kind`. Return False for other arguments.
# `data[0]` is set to the address of its elements, or to NULL for None. If `writable`, the array must be
# writable.
cdef bint read_vector(IValue *x, int kind, npy_intp n, bint writable, void **data) noexcept
# Return layer_norm of a contiguous float32 array over its last dimension. Weight and bias have the length of
# that dimension.
cdef object layer_norm_rows(object x, object weight, object bias, double eps)
