"""Fourier transforms of rows by the inner loops of numpy.fft."""

from numpy cimport npy_intp

cdef enum Transform:
    REAL_TO_COMPLEX                    # the result has only the non-negative frequencies
    COMPLEX_TO_REAL                    # the inverse of REAL_TO_COMPLEX, with real results
    FORWARDS
    BACKWARDS

cdef enum:
    # SciPy transforms tensors with more elements. It is faster for them because it transforms several rows at
    # once.
    MAX_TRANSFORM_ELEMENTS = 1 << 12

# Transform the rows of a contiguous array. Return a new array with rows of `m` elements. `kind` (FLOAT or
# DOUBLE) is the precision of the real numbers. `norm` is the normalization mode of PyTorch ("forward", "ortho"
# ...) or "".
cdef object transform_rows(Transform direction, int kind, object rows, npy_intp m, str norm)
