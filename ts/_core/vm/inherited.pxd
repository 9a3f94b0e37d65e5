"""Snapshot of a thread's context (limits, grad mode, autocast state), for work on other threads."""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from ts._core.dispatch.autocast cimport AutocastState


cdef class ThreadContextSnapshot:
    """Snapshot of a thread's context flags and limits, without the tracer, for work on other threads."""
    cdef unsigned int flags
    cdef int64_t transform, min_writable_transform
    cdef AutocastState autocast
    cdef void *limits             # limits of the thread (owned reference), or NULL
    cdef PyObject *carried        # object that the thread set by `carry` (owned reference), or NULL

    # Exchange the context flags, autocast state and carried object of the snapshot with those of the current
    # thread. A second call restores the state of the thread. The snapshot then contains the changes that the
    # work made between the calls.
    cdef void trade_flags(self) noexcept
