"""Event recorder of the profiler; see `recorder.pyx`."""

from libc.stdint cimport int64_t


cdef class Event:
    """Recorded interval of one thread: an operator, function, label or compiler stage."""
    cdef readonly str kind            # operator, function, label, stage
    cdef readonly object what         # an Operator, a Function, or a string
    cdef readonly object detail       # argument of a label; subject of a compiler stage
    cdef readonly int64_t start, end  # nanoseconds of `time.perf_counter_ns`; end 0: still running
    cdef readonly unsigned long thread
    cdef readonly object code         # code of the calling instruction, or None
    cdef readonly size_t instruction  # address of that instruction
    cdef readonly object inputs       # (sizes, dtype) of each argument, if shapes are recorded
    cdef readonly object stack        # Python stack, innermost frame first, if stacks are recorded
    cdef readonly int64_t bytes_before, bytes_after  # bytes of the thread's arrays and containers; -1: not recorded
    cdef readonly object answer       # fusion group: it ran as one kernel (bool)
    cdef readonly int backend         # backend of the record's Python kernel; -1: a C kernel ran
    cdef readonly size_t kernel       # address of the C kernel, or 0


# Begin an event of this thread; None if the thread is not recorded.
cdef Event begin_event(str kind, what)
cdef int end_event(Event event) except -1
