"""Fourier transforms of rows, through the inner loops of NumPy's."""

from numpy cimport npy_intp

cdef enum Transform:
    REAL_TO_COMPLEX                    # the first half of the frequencies
    COMPLEX_TO_REAL                    # of these the signal, of as many samples as there is room for
    FORWARDS
    BACKWARDS

cdef enum:
    MOST_TRANSFORMED = 1 << 12         # elements; SciPy is faster with more, because it takes several rows at once

# Rows of real numbers of the ScalarType FLOAT or DOUBLE, or of the frequencies of these, to rows of `m` elements: an array in
# order to a new one.  The norm is a name or "".
cdef object transformed(Transform what, int kind, object rows, npy_intp m, str norm)
