"""Deadline of this thread, set by `ts.limits(seconds=...)`."""

# number of threads with a deadline. If it is 0, long operations do not count time.
cdef int timed

cdef double NO_DEADLINE

# Count work that takes at least `nanoseconds`, before or while it is done. The clock is read only after the counted
# times add up to a minimum. Raise TimeExceeded if the deadline has passed, or would pass during the work.
cdef int charge_time(double nanoseconds) except -1
# Count the items that a long operation has converted or visited. After every CHUNK_ITEMS items, check for signals
# and the deadline.
cdef int count_items(Py_ssize_t items) except -1
# Run the pending signal handlers, which may raise an exception such as KeyboardInterrupt. Raise TimeExceeded if the
# deadline has passed.
cdef int check_time() except -1
# Return the number of seconds until the deadline of this thread, or -1 if it has no deadline.
cdef double seconds_left() noexcept
# Set the deadline of this thread, or remove the deadline if the argument is NO_DEADLINE. `seconds` is the
# time limit of the `ts.limits` block that ends at the deadline.
cdef void set_deadline(double deadline, double seconds) noexcept

cdef double now_seconds() noexcept nogil
