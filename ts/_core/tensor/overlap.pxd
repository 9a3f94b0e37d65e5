"""Memory overlap checks of arrays to be written.

    has_internal_overlap(a)       several elements of a share an address (an expanded tensor)
    has_partial_overlap(a, b)     a and b are dense blocks that overlap without being identical
    share_memory(a, b)            the address ranges of a and b intersect
"""

from ts._core.tensor.ndarray cimport PyArrayObject

cdef bint has_internal_overlap(PyArrayObject *a) noexcept nogil
cdef bint has_partial_overlap(PyArrayObject *a, PyArrayObject *b) noexcept nogil
cdef bint share_memory(PyArrayObject *a, PyArrayObject *b) noexcept nogil
# Raise RuntimeError if the memory of `target` overlaps the arrays in `read` so that it is unsafe to read them
# while `target` is written. `rule` is one of the constants below. With WARN, return 1 if elements of `target`
# overlap each other.
cdef int check_write(object target, list read, int rule) except -1

cpdef enum:
    RAISE_ON_OVERLAP = 0                         # raise the error also if elements of the target overlap each other
    WARN = 1
    ALLOW = 2
    STRICT = 3  # like RAISE_ON_OVERLAP, but raise the error also if the target is one of the arrays in `read`
