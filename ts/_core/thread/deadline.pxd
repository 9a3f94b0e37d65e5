"""Deadline of this thread, set by `ts.limits(seconds=...)`."""

# The number of threads with a deadline; long operations skip time accounting if it is 0.
cdef int timed

cdef double NO_DEADLINE

# Charge work of at least `nanoseconds`, before it or after a part of it; raise TimeExceeded if the deadline has passed,
# or would pass during the work.  Small amounts are added up before the clock is read.
cdef int charge_time(double nanoseconds) except -1
# Count processed items of a long operation; check signals and the deadline every few thousand items.
cdef int worked(Py_ssize_t items) except -1
# Raise the exception of a signal handler (Ctrl-C), or TimeExceeded if the deadline has passed.
cdef int check_time() except -1
# Return the seconds until the deadline; -1 without a deadline.
cdef double seconds_left() noexcept
# Set this thread's deadline (NO_DEADLINE: none); `seconds` is the duration of the limit that ends then.
cdef void set_deadline(double deadline, double seconds) noexcept

cdef double now_seconds() noexcept nogil
