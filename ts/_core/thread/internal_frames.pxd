"""Removal of frames of `ts` from the tracebacks of errors that leave an operator call."""

from cpython.object cimport PyObject

# Remove the frames of the dispatcher and of kernels from the traceback of the pending exception.
cdef void remove_internal_frames() noexcept


cdef inline PyObject *without_internal_frames(PyObject *result) noexcept:
    """Return `result`, a new reference or NULL. If it is NULL, call `remove_internal_frames`.

    Functions that Python calls through a C pointer return `without_internal_frames(...)`, so that calls without errors
    only compare a pointer.
    """
    if result == NULL:
        remove_internal_frames()
    return result
