"""Arrays that are to be written: whether a place would be written twice, or written while it is still to be read.

    repeats(a)       one place of memory is several elements of a (an expanded tensor)
    clashes(a, b)    a and b are blocks of one memory that meet without being the same
    meet(a, b)       the memory from the first to the last element of each has a part in common
"""

from ts._core.tensor.ndarray cimport PyArrayObject

cdef bint has_internal_overlap(PyArrayObject *a) noexcept nogil
cdef bint has_partial_overlap(PyArrayObject *a, PyArrayObject *b) noexcept nogil
cdef bint share_memory(PyArrayObject *a, PyArrayObject *b) noexcept nogil
# Raise where one of the two tests says that writing `target` while reading the others would go wrong.
cdef int check_write(object target, list read, int rule) except -1

cpdef enum:
    REFUSE = 0                         # what to do with a target that repeats
    WARN = 1
    ALLOW = 2
    STRICT = 3                         # refuse, and one that is all of what is read, too
