"""Texts that are made of others, without Python's methods in between; see `pieces.pyx`."""

from cpython.object cimport PyObject

# text[start:end], for bounds in it: one that is made again and again may be the one that was made before.
cdef str substring(str text, Py_ssize_t start, Py_ssize_t end)
# The next word, from `end` on: its bounds, and itself, if it is short; None for one to be made, or an empty one at the end.
cdef str word_behind(str text, Py_ssize_t *start, Py_ssize_t *end)
# text.lower()
cdef str lower(str text)
# text.strip(chars), or one side of it; limits are looked at on the way.
cdef str stripped(PyObject *whole, PyObject *chars, bint left, bint right)
