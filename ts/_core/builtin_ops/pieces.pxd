"""Substrings, words, lower case and strip of strings, without calls of Python methods (`pieces.pyx`)."""

from cpython.object cimport PyObject

# Return text[start:end] for valid bounds; short ASCII strings come from a cache.
cdef str substring(str text, Py_ssize_t start, Py_ssize_t end)
# Find the next word at or after index `end`, and write its bounds.  Return a short word; return None for a
# longer word, which the caller creates from the bounds, and at the end of the text, where the bounds are
# empty.
cdef str word_behind(str text, Py_ssize_t *start, Py_ssize_t *end)
# Return text.lower().
cdef str lower(str text)
# Return text.strip(chars), or text stripped on one side only; checks for signals and limits.
cdef str stripped(PyObject *whole, PyObject *chars, bint left, bint right)
