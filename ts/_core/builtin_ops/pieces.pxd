"""Substrings, word search, `lower` and `strip` of strings, mostly without calls of Python methods
(`pieces.pyx`).
"""

from cpython.object cimport PyObject

# Return string[start:end] for valid bounds. Short ASCII strings come from a cache.
cdef str substring(str string, Py_ssize_t start, Py_ssize_t end)
# Find the next word at or after index end[0], and write its bounds to start[0] and end[0]. Return the word if
# it is short. Otherwise return None, and the caller creates the word from its bounds. Empty bounds mean that
# there is no further word.
cdef str find_word(str string, Py_ssize_t *start, Py_ssize_t *end)
# Return string.lower().
cdef str lower(str string)
# Return the string with the characters in `chars` stripped from the left end, the right end or both.
# Periodically checks for pending signals and exceeded limits.
cdef str strip_string(PyObject *string_object, PyObject *chars, bint left, bint right)
