"""Substrings, words, lower case and strip of strings, without calls of Python methods (`pieces.pyx`)."""

from cpython.object cimport PyObject

# Return string[start:end] for valid bounds; short ASCII strings come from a cache.
cdef str substring(str string, Py_ssize_t start, Py_ssize_t end)
# Find the next word at or after index `end`, and write its bounds.  Return a short word; return None for a
# longer word, which the caller creates from the bounds, and at the end of the string, where the bounds are
# empty.
cdef str find_word(str string, Py_ssize_t *start, Py_ssize_t *end)
# Return string.lower().
cdef str lower(str string)
# Return string.strip(chars), or the string stripped on one side only; checks for signals and limits.
cdef str strip_string(PyObject *string_object, PyObject *chars, bint left, bint right)
