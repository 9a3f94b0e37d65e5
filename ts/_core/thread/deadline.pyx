"""Deadline checks (timeout, time limit) of a thread by a monotonic clock, for `ts.limits(seconds=...)`.

The functions are:

    charge_time(n)              counts work of at least n nanoseconds. Raises TimeExceeded after the deadline.
    charge(n, bytes)            the same for Python code, and counts bytes, too
    count_items(n)              counts n items of a conversion or a string. Also checks for Ctrl-C.
    set_deadline(now + 2, 2)    sets the deadline, when limits begin and end

Running C and NumPy code cannot be interrupted. Therefore, the minimum duration of a long operation is counted
before the operation starts. TimeExceeded is raised if this duration would exceed the deadline. Operations
with several steps also check between the steps.
"""

from cpython.exc cimport PyErr_CheckSignals

from ts._core.thread.allowance cimport credit_bytes, has_allowance, limited, take_bytes, take_text
from ts._core.thread.monotonic_clock cimport monotonic_ns

from ts.errors import TimeExceeded

cdef extern from *:
    """
    static _Thread_local double deadline_here = 1e300;
    static _Thread_local double seconds_here = 0;     /* duration of the limit that ends at `deadline_here` */
    static _Thread_local double unseen = 0;      /* nanoseconds charged since the last clock read */
    """
    double deadline_here
    double seconds_here
    double unseen


cdef double monotonic_seconds() noexcept nogil:
    return 1e-9 * monotonic_ns()


timed = 0
NO_DEADLINE = 1e300

cdef enum:
    GLANCE = 100_000        # counted nanoseconds of work after which the clock is read
    CHUNK_ITEMS = 1 << 14         # number of counted items after which signals and the clock are checked

# number of items counted on all threads since signals and the clock were last checked
cdef Py_ssize_t unheeded = 0


cdef double now_seconds() noexcept nogil:
    return monotonic_seconds()


cdef double seconds_left() noexcept:
    return -1 if deadline_here == NO_DEADLINE else max(deadline_here - monotonic_seconds(), 0.0)


cdef void set_deadline(double deadline, double seconds) noexcept:
    global timed, deadline_here, seconds_here, unseen
    timed += (deadline != NO_DEADLINE) - (deadline_here != NO_DEADLINE)
    deadline_here = deadline
    seconds_here = seconds
    unseen = 0


cdef int charge_time(double nanoseconds) except -1:
    global unseen
    unseen += nanoseconds
    if unseen < GLANCE:
        return 0
    unseen = 0
    check_time()
    if monotonic_seconds() + 1e-9 * nanoseconds > deadline_here:
        raise TimeExceeded(
            f"the next operation takes at least {estimate_text(1e-9 * nanoseconds)}: "
            f"{limit_text()} leaves {seconds_text(seconds_left())} after {seconds_text(used_seconds())}"
        )
    return 0


cdef int check_time() except -1:
    PyErr_CheckSignals()
    if monotonic_seconds() > deadline_here:
        raise TimeExceeded(
            f"the program took more time than {limit_text()} allows: {seconds_text(used_seconds())} have passed"
        )
    return 0


cdef int count_items(Py_ssize_t items) except -1:
    global unheeded
    unheeded += items + 1
    if unheeded >= CHUNK_ITEMS:
        unheeded = 0
        check_time()
    return 0


cdef double used_seconds() noexcept:
    """Return the time in seconds since the start of the limit whose end is the deadline of this thread."""
    return monotonic_seconds() - (deadline_here - seconds_here)


cdef str limit_text():
    return f"ts.limits(seconds={seconds_here:.10g})"


cdef str seconds_text(double seconds):
    return f"{seconds:.6g} seconds"


cdef str estimate_text(double seconds):
    return f"{seconds:.1g} seconds" if seconds < 10 else f"{seconds:.0f} seconds"


def is_set():
    """Return whether this thread has a deadline."""
    return timed and deadline_here != NO_DEADLINE


def is_limited():
    """Return whether this thread has a deadline or a memory budget."""
    return is_set() or limited and has_allowance()


def reserve(Py_ssize_t size):
    """Raise the limit error if `size` more bytes would exceed the memory budget of this thread.

    Callers call this function before they allocate the bytes.
    """
    if limited:
        take_bytes(size)
        credit_bytes(size)


def charge(double nanoseconds, Py_ssize_t bytes=0):
    """Count work of Python code for the limits: a lower bound of its time in ns, and the bytes it allocates."""
    if timed:
        charge_time(nanoseconds)
    if bytes and limited:
        take_text(bytes)
