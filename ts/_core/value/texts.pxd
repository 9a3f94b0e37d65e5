"""Operations on Python `str` objects that read the characters directly from memory, without Python calls."""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from ts._core.value.tagged cimport IValue

cdef extern from *:
    """
    /* memcmp of the characters of two strings.  They start at a multiple of 8, so the aligned word with the last bytes
       can be read as a whole, without a branch on the length of short strings.  The bytes after the string belong to
       its allocation, whose size is a multiple of 8, and are masked out.  Builds with AddressSanitizer, which checks
       single bytes, use memcmp. */
    static CYTHON_INLINE int ts_same_text(const char *a, const char *b, size_t n) {
    #if PY_LITTLE_ENDIAN && !defined(__SANITIZE_ADDRESS__)
        uint64_t p, q;
        for (; n >= 8; n -= 8, a += 8, b += 8) {
            memcpy(&p, a, 8); memcpy(&q, b, 8);
            if (p != q) return 0;
        }
        if (n == 0) return 1;
        memcpy(&p, a, 8); memcpy(&q, b, 8);
        return (p ^ q) << (64 - 8 * n) == 0;
    #else
        return memcmp(a, b, n) == 0;
    #endif
    }
    static CYTHON_INLINE int ts_text_equal(PyObject *a, PyObject *b) {
        Py_ssize_t n = PyUnicode_GET_LENGTH(a);
        int kind;
        if (a == b) return 1;
        if (n != PyUnicode_GET_LENGTH(b)) return 0;
        if (PyUnicode_IS_COMPACT_ASCII(a) & PyUnicode_IS_COMPACT_ASCII(b))   /* the characters follow the header */
            return ts_same_text((const char *)((PyASCIIObject *)a + 1), (const char *)((PyASCIIObject *)b + 1), (size_t)n);
        kind = PyUnicode_KIND(a);
        return kind == (int)PyUnicode_KIND(b)
            && ts_same_text((const char *)PyUnicode_DATA(a), (const char *)PyUnicode_DATA(b), (size_t)n * kind);
    }
    """
    # Return whether two strings are equal.
    bint text_equal "ts_text_equal"(PyObject *a, PyObject *b) noexcept nogil
    Py_ssize_t text_length "PyUnicode_GET_LENGTH"(PyObject *string) noexcept nogil

# Set `out` to string[i], where a negative `i` counts from the end. If `i` is out of range, return False and leave `out`
# unchanged.
cdef bint text_character(PyObject *string, int64_t i, IValue *out) except -1
