"""Memory overlap checks of arrays to be written.

The functions and the conditions for their result True are:

    has_internal_overlap(a)       several elements of a share an address (an expanded tensor)
    has_partial_overlap(a, b)     a and b are dense blocks that overlap without being identical
    share_memory(a, b)            the address ranges of a and b intersect
"""

from ts._core.tensor.ndarray cimport PyArrayObject

cdef bint has_internal_overlap(PyArrayObject *a) noexcept nogil
cdef bint has_partial_overlap(PyArrayObject *a, PyArrayObject *b) noexcept nogil
cdef bint share_memory(PyArrayObject *a, PyArrayObject *b) noexcept nogil
# Raise RuntimeError if a write to `target` could change elements of an array in `read` before they are read.
# If elements of `target` overlap each other, `rule` selects the reaction: raise RuntimeError, return 1
# (WARN), or do nothing (ALLOW).
cdef int check_write(object target, list read, int rule) except -1

cpdef enum:
    RAISE_ON_OVERLAP = 0                         # raise an error if elements of the target overlap each other
    WARN = 1
    ALLOW = 2
    STRICT = 3  # RAISE_ON_OVERLAP, and raise an error if the target is one of the arrays in `read`
