"""Substrings, words, lower case and strip of strings, without calls of Python methods; see `pieces.pyx`."""

from cpython.object cimport PyObject

# Return text[start:end] for valid bounds; short ASCII strings come from a cache.
cdef str substring(str text, Py_ssize_t start, Py_ssize_t end)
# Find the next word from `end` on and write its bounds.  Return the word if it is short, else None: the caller creates the
# string, or the bounds are empty at the end of the text.
cdef str word_behind(str text, Py_ssize_t *start, Py_ssize_t *end)
# Return text.lower().
cdef str lower(str text)
# Return text.strip(chars), or strip one side only; checks signals and limits meanwhile.
cdef str stripped(PyObject *whole, PyObject *chars, bint left, bint right)
