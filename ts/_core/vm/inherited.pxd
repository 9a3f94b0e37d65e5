"""Thread context inherited by work on other threads."""

from cpython.ref cimport PyObject

from ts._core.dispatch.autocast cimport AutocastState


cdef class ThreadContextSnapshot:
    """Snapshot of a thread's context flags and limits, for work on other threads; excludes the tracer."""
    cdef unsigned int flags
    cdef AutocastState autocast
    cdef void *limits             # a reference, or NULL
    cdef PyObject *carried        # `carried()` of that thread: a reference, or NULL

    # Swap context flags and autocast state with this thread's.  A second call swaps back, keeping changes
    # made by the work.
    cdef void trade_flags(self) noexcept
