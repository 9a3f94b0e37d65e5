"""Deadline of this thread, set by `ts.limits(seconds=...)`."""

# The number of threads with a deadline; long operations skip time accounting if it is 0.
cdef int timed

cdef double NO_DEADLINE

# Before work that takes at least so many nanoseconds, or after a part of it: TimeExceeded when the deadline is past,
# or would be.  Small amounts are added up, and the clock is read when they are worth it.
cdef int charge_time(double nanoseconds) except -1
# After so many items of something long: heeds signals and the deadline once in many thousands of them.
cdef int worked(Py_ssize_t items) except -1
# Raise the exception of a signal handler (Ctrl-C), or TimeExceeded if the deadline has passed.
cdef int check_time() except -1
# Seconds until the deadline; -1 when there is none.
cdef double seconds_left() noexcept
# Make `deadline` the one of this thread until it is set again; NO_DEADLINE for none. `seconds` is the limit that it is the end of.
cdef void set_deadline(double deadline, double seconds) noexcept

cdef double now_seconds() noexcept nogil
