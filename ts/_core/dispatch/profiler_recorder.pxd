"""Event recorder of the profiler (`profiler_recorder.pyx`)."""

from libc.stdint cimport int64_t


cdef class Event:
    """A recorded time interval of one thread: an operator, function call, label, remote call or compiler
    stage.
    """
    # "operator", "function", "label", "call" (to another process) or "stage"
    cdef readonly str kind
    cdef readonly object what         # an Operator, a Function, or a string
    # argument of a label or remote call, or the function or code that a compiler stage processes
    cdef readonly object detail
    # times in ns of `time.perf_counter_ns`, with `end` 0 while the event runs
    cdef readonly int64_t start, end
    cdef readonly unsigned long thread
    cdef readonly object code         # code with the calling instruction, or None
    cdef readonly size_t instruction  # address of the calling instruction
    cdef readonly object inputs       # (sizes, dtype) of each argument, if the recorder records shapes
    cdef readonly object stack        # Python stack, innermost frame first, if the recorder records stacks
    # bytes of the thread's arrays and containers before and after, or -1 if not recorded
    cdef readonly int64_t bytes_before, bytes_after
    cdef readonly object answer       # for a fusion group: whether it ran as one kernel
    cdef readonly int backend         # backend if the record's Python kernel ran, or -1 if a C kernel ran
    cdef readonly size_t kernel       # address of the C kernel, or 0 if none


# Begin an event of this thread and return it, or return None if the thread is not recorded.
cdef Event begin_event(str kind, what)
cdef int end_event(Event event) except -1
