"""Removal of frames of `ts` from the tracebacks of errors that leave an operator call.

Input: the pending exception of a failed operator call. The traceback of the exception has one entry for each function
between the operator call and the error. Output: the same exception, with a traceback without the entries of functions
in `INTERNAL_PACKAGES`. The entries of other functions that the operator called remain, for example:

    the `backward` of an `autograd.Function`, a hook, a `__torch_function__` method, a kernel registered in Python

With TS_SHOW_INTERNAL=1, the traceback is unchanged.
"""

from cpython.object cimport PyObject

from os import environ
from types import TracebackType

from ts.module_names import own_name

cdef extern from "Python.h":
    void PyErr_Fetch(PyObject **cls, PyObject **error, PyObject **traceback) noexcept
    void PyErr_Restore(PyObject *cls, PyObject *error, PyObject *traceback) noexcept
    void Py_XDECREF(PyObject *x) noexcept
    void Py_XINCREF(PyObject *x) noexcept

cdef tuple INTERNAL_PACKAGES = ("ts._core.", "ts.backends.", "ts.ops.")


cdef void remove_internal_frames() noexcept:
    cdef PyObject *cls = NULL
    cdef PyObject *error = NULL
    cdef PyObject *traceback = NULL
    cdef PyObject *replacement
    PyErr_Fetch(&cls, &error, &traceback)
    replacement = traceback
    if traceback != NULL:
        try:
            if environ.get("TS_SHOW_INTERNAL", "0") == "0":
                kept = with_user_frames(<object>traceback)
                replacement = NULL if kept is None else <PyObject *>kept
            Py_XINCREF(replacement)
        except BaseException:  # for example, a RecursionError, because the stack is almost full
            Py_XINCREF(replacement)
        Py_XDECREF(traceback)
    PyErr_Restore(cls, error, replacement)


cdef object with_user_frames(object traceback):
    """Return a copy of a traceback without entries of `INTERNAL_PACKAGES`, or None if no entry remains."""
    cdef list kept = []
    while traceback is not None:
        if not is_internal(traceback.tb_frame.f_globals.get("__name__")):
            kept.append(traceback)
        traceback = traceback.tb_next
    result = None
    for entry in reversed(kept):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


cdef bint is_internal(object module) except -1:
    return own_name(module).startswith(INTERNAL_PACKAGES)
