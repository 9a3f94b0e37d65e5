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

# Count memory before it is allocated. Raise MemoryExceeded if it exceeds the budget of this thread.
cdef int take_bytes(Py_ssize_t size) except -1 nogil
# Subtract released memory from the counted memory.
cdef void credit_bytes(Py_ssize_t size) noexcept nogil
cdef enum:
    TEXT_BYTES = 56              # bytes of a string without its characters

# Count a new string or other Python object of this size. Its release cannot be observed.
cdef int take_text(Py_ssize_t size) except -1
# Return MemoryExceeded if `error` or its cause is NumPy's MemoryError for an array that exceeded the budget.
# Otherwise return `error`. Each such allocation is reported once.
cdef object as_limit(error)

# Count the memory of a forked task, and subtract it when the task ends.  If a fork exceeds the budget, all
# further forks fail until every running task has ended.  Otherwise, a script that forks without end would never
# stop, because each failed task would free the memory for the next one.
cdef int take_program(Py_ssize_t size) except -1
cdef void credit_program(Py_ssize_t size) noexcept

# Create a budget nested in the budget of this thread, and return a new reference.
cdef MemoryBudget *new_allowance(long long size) except NULL
cdef void retain_allowance(MemoryBudget *allowance) noexcept
cdef void release_allowance(MemoryBudget *allowance) noexcept
# Set the budget of this thread, or remove it if `allowance` is NULL. The reference is borrowed.
cdef int set_allowance(MemoryBudget *allowance) except -1
# Set a budget that only measures memory: as the budget of this thread if it has none, else as an outer
# budget.
cdef int watch_allowance(MemoryBudget *allowance) except -1
