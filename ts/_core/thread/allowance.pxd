"""Memory limits by `ts.limits(bytes=...)`: counting allocations and releases of the running program."""


cdef extern from *:
    """
    typedef struct MemoryBudget {
        struct MemoryBudget *outer;    /* a reference */
        int users;
        int exceeded;                /* an array allocation of NumPy was refused */
        int forked;                 /* forked programs charged to this budget that have not ended */
        int forks_end;              /* a fork was refused: no program starts until all have ended */
        long long size;
        long long used;
        long long peak;             /* peak of `used` */
        long long resident;         /* resident memory of the process at creation */
        long long texts;            /* string bytes since the last read of resident memory */
    } MemoryBudget;
    """
    ctypedef struct MemoryBudget:
        MemoryBudget *outer
        int users
        int exceeded
        int forked
        int forks_end
        long long size
        long long used
        long long peak
        long long resident
        long long texts

# number of threads with a memory budget. If it is 0, allocations are not counted.
cdef int limited

# Return whether this thread has a memory budget.
cdef bint has_allowance() noexcept

# Add `size` bytes to the memory in use, before they are allocated. Raise MemoryExceeded if the sum exceeds the budget
# of this thread.
cdef int take_bytes(Py_ssize_t size) except -1 nogil
# Subtract `size` bytes, which were released, from the memory in use.
cdef void credit_bytes(Py_ssize_t size) noexcept nogil
cdef enum:
    TEXT_BYTES = 56              # bytes of a string without its characters

# Count a new string or other Python object of `size` bytes. Nothing subtracts these bytes, because the release of the
# object is not observed.
cdef int take_text(Py_ssize_t size) except -1
# If `error` is NumPy's MemoryError for an array that exceeds the budget, or was caused by this error, return
# MemoryExceeded. Otherwise, return `error`. Each refused allocation is reported only once.
cdef object as_limit(error)

# `take_program` counts the memory of a new forked task, and `credit_program` subtracts it when the task ends.
# If a fork exceeds the budget, all further forks fail until every running task has ended. Otherwise, a script
# that forks without end would never stop, because each failed task frees memory for the next.
cdef int take_program(Py_ssize_t size) except -1
cdef void credit_program(Py_ssize_t size) noexcept

# Create a budget nested in the budget of this thread, and return a new reference.
cdef MemoryBudget *new_allowance(long long size) except NULL
cdef void retain_allowance(MemoryBudget *allowance) noexcept
cdef void release_allowance(MemoryBudget *allowance) noexcept
# Set the budget of this thread, or remove it if `allowance` is NULL. The reference is borrowed.
cdef int set_allowance(MemoryBudget *allowance) except -1
# Set a budget that measures memory but has no limit. It is the budget of this thread only while the thread
# has no other budget.
cdef int watch_allowance(MemoryBudget *allowance) except -1
