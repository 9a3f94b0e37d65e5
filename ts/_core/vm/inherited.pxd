"""What work on one thread takes from the thread that asked for it."""

from cpython.ref cimport PyObject

from ts._core.dispatch.autocast cimport AutocastState


cdef class ThreadContextSnapshot:
    """The switches and limits of the thread that makes it, for work that others will do; the tracer stays behind."""
    cdef unsigned int flags
    cdef AutocastState autocast
    cdef void *limits             # a reference, or NULL
    cdef PyObject *carried        # another, or NULL

    # Between `trade_flags` twice, this thread has these flags and switches of autocast; what the work switches stays with it.
    cdef void trade_flags(self) noexcept
