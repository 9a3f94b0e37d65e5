"""Slice index normalization (negative indices, clamping of bounds) of `x[start:end:step]`."""

from libc.stdint cimport int64_t

from ts._core.value.scalar cimport INT64_MIN
from ts._core.value.tagged cimport IValue, TAG_NONE


cdef inline int64_t clamp(int64_t i, int64_t size, int64_t low, int64_t high) noexcept nogil:
    if i < 0:
        i += size
    return low if i < low else (high if i > high else i)


cdef inline Py_ssize_t slice_bounds(
    Py_ssize_t size, IValue *start, IValue *end, int64_t step, int64_t *first
) except -1:
    """Return the number of items in a slice, and store the index of the slice's first item in `first`.

    `start` and `end` may be None.
    """
    if step == 0:
        raise RuntimeError("List slice should have non-zero step")
    if step == INT64_MIN:  # `-step` below would overflow
        raise RuntimeError("List slice step is out of bounds")
    cdef int64_t low = 0 if step > 0 else -1, high = size if step > 0 else size - 1
    cdef int64_t i = (low if step > 0 else high) if start.tag == TAG_NONE else clamp(start.v.i, size, low, high)
    cdef int64_t j = (high if step > 0 else low) if end.tag == TAG_NONE else clamp(end.v.i, size, low, high)
    first[0] = i
    if step > 0:
        return (j - i - 1) // step + 1 if i < j else 0
    return (i - j - 1) // -step + 1 if j < i else 0
