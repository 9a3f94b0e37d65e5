"""Implementation of string operators: substrings, word search, `lower` and `strip`.

The operators mostly avoid calls of Python methods.
"""

from cpython.object cimport PyObject

# Return string[start:end]. The bounds must be valid. Short ASCII substrings are taken from a cache.
cdef str substring(str string, Py_ssize_t start, Py_ssize_t end)
# Find the next word that starts at or after index end[0]. Write its bounds to start[0] and end[0], with equal
# bounds if there is no word. Return the word if it is short, else None. For a long word, the caller creates
# the string.
cdef str find_word(str string, Py_ssize_t *start, Py_ssize_t *end)
# Return string.lower().
cdef str lower(str string)
# Return the string without the characters in `chars` at its left end (if `left`) and at its right end (if `right`).
# Long strings are stripped with periodic checks for signals and exceeded limits.
cdef str strip_string(PyObject *string_object, PyObject *chars, bint left, bint right)
