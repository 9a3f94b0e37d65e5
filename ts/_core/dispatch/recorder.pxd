"""Event recorder of the profiler; see `recorder.pyx`."""

from libc.stdint cimport int64_t


cdef class Event:
    """Something that took its time on one thread."""
    cdef readonly str kind            # operator, function, label, stage
    cdef readonly object what         # an Operator, a Function, or a text
    cdef readonly object detail       # argument of a label; subject of a compiler stage
    cdef readonly int64_t start, end  # nanoseconds, as `time.perf_counter_ns`; end 0: it has not ended
    cdef readonly unsigned long thread
    cdef readonly object code         # whose instruction called for it, or None
    cdef readonly size_t instruction  # where that lies
    cdef readonly object inputs       # (sizes, dtype) of each argument, if they were asked for
    cdef readonly object stack        # of Python, innermost first, if it was asked for
    cdef readonly int64_t bytes_before, bytes_after  # that the thread's arrays and containers took; -1: not asked for
    cdef readonly object answer       # of a group of operators: whether it ran as one
    cdef readonly int backend         # on whose arrays the operator's record ran, or -1: it ran a kernel in C
    cdef readonly size_t kernel       # the address of that, or 0


# Begin an event of this thread; None if the thread is not recorded.
cdef Event begin_event(str kind, what)
cdef int end_event(Event event) except -1
