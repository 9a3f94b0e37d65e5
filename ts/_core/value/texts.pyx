"""Indexing of strings: `text_character` of `texts.pxd`."""

from ts._core.thread.allowance cimport TEXT_BYTES, limited, take_text
from ts._core.value.tagged cimport set_object_steal

cdef extern from "Python.h":
    Py_UCS4 PyUnicode_READ_CHAR(PyObject *string, Py_ssize_t i)
    PyObject *PyUnicode_FromOrdinal(int c) except NULL
    int PyUnicode_KIND(PyObject *string)


cdef bint text_character(PyObject *string, int64_t i, IValue *out) except -1:
    cdef int64_t n = text_length(string)
    if i < 0:
        i += n
    if not 0 <= i < n:
        return False
    if limited:
        take_text(TEXT_BYTES + PyUnicode_KIND(string))
    set_object_steal(out, PyUnicode_FromOrdinal(PyUnicode_READ_CHAR(string, i)))
    return True
