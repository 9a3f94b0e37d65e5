"""Fourier transforms of rows by the inner loops of numpy.fft."""

from numpy cimport npy_intp

cdef enum Transform:
    REAL_TO_COMPLEX                    # yields the non-negative frequencies only
    COMPLEX_TO_REAL                    # inverse of it; the output has `m` samples
    FORWARDS
    BACKWARDS

cdef enum:
    MAX_TRANSFORM_ELEMENTS = 1 << 12   # for more, SciPy is faster: it transforms several rows at once

# Transform the rows of a contiguous array to rows of `m` elements of a new array. `kind` is FLOAT or DOUBLE,
# the precision of the real numbers; `norm` is a name or "".
cdef object transform_rows(Transform direction, int kind, object rows, npy_intp m, str norm)
