"""Event recorder of the profiler (`profiler_recorder.pyx`)."""

from libc.stdint cimport int64_t


cdef class Event:
    """A recorded time interval of one thread: an operator, function call, label, remote call or compiler
    stage.
    """
    # kind of the event: "operator", "function", "label", "call" (to another process) or "stage" (of the
    # compiler)
    cdef readonly str kind
    cdef readonly object what         # an Operator, a Function, or a string
    # For a label or a call to another process, its argument. For a compiler stage, the function or code that
    # it compiles.
    cdef readonly object detail
    # times of `time.perf_counter_ns`. `end` is 0 until the event ends.
    cdef readonly int64_t start, end
    cdef readonly unsigned long thread
    cdef readonly object code         # code that contains the calling instruction of a script, or None
    cdef readonly size_t instruction  # address of the calling instruction
    cdef readonly object inputs       # (sizes, dtype) of each argument, if the recorder records shapes
    cdef readonly object stack        # Python stack, innermost frame first, if the recorder records stacks
    # bytes of the thread's arrays and containers before and after the event, or -1 if memory is not recorded
    cdef readonly int64_t bytes_before, bytes_after
    cdef readonly object answer       # for a fusion group: True if the group ran, False if its operators ran one by one
    cdef readonly int backend         # number of the backend of the Python kernel that ran, or -1 if a C kernel ran
    cdef readonly size_t kernel       # address of the C kernel, or 0 if none


# Begin an event of this thread and return it. Return None if the profiler does not record this thread.
cdef Event begin_event(str kind, what)
cdef int end_event(Event event) except -1
