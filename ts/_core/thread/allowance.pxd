"""Memory accounting of `ts.limits(bytes=...)`: allocations and releases of the running program."""


cdef extern from *:
    """
    typedef struct MemoryBudget {
        struct MemoryBudget *outer;    /* a reference */
        int users;
        int refused;                /* an array allocation of NumPy was refused */
        int forked;                 /* forked programs charged to this budget that have not ended */
        int forks_end;              /* a fork was refused: no program starts until all have ended */
        long long size;
        long long used;
        long long most;             /* peak of `used` */
        long long resident;         /* resident memory of the process at creation */
        long long texts;            /* string bytes since the last read of resident memory */
    } MemoryBudget;
    """
    ctypedef struct MemoryBudget:
        MemoryBudget *outer
        int users
        int refused
        int forked
        int forks_end
        long long size
        long long used
        long long most
        long long resident
        long long texts

# The number of threads with a memory budget; allocations skip accounting if it is 0.
cdef int limited

# Return whether this thread has a memory budget.
cdef bint has_allowance() noexcept

# Charge memory before its allocation; raise MemoryExceeded if it exceeds this thread's budget.
cdef int take_bytes(Py_ssize_t size) except -1 nogil
# Credit released memory.
cdef void give_bytes(Py_ssize_t size) noexcept nogil
cdef enum:
    TEXT_BYTES = 56              # size of a string without its characters

# Charge a new string or other Python object of this size; its release is not reported.
cdef int take_text(Py_ssize_t size) except -1
# Convert NumPy's MemoryError for a refused array, or an error caused by it, to MemoryExceeded;
# once per refusal.
cdef object as_limit(error)

# Charge a forked program, and credit it at its end.  After a refusal, no program starts until all have ended;
# otherwise endless forks would reuse the memory of failed programs forever.
cdef int take_program(Py_ssize_t size) except -1
cdef void give_program(Py_ssize_t size) noexcept

# Create a budget nested in this thread's; return a new reference.
cdef MemoryBudget *new_allowance(long long size) except NULL
cdef void hold_allowance(MemoryBudget *allowance) noexcept
cdef void drop_allowance(MemoryBudget *allowance) noexcept
# Set this thread's budget; NULL for none.  Borrows the reference.
cdef int set_allowance(MemoryBudget *allowance) except -1
# Set a budget that only measures use: this thread's budget if it has none, else an outer one.
cdef int watch_allowance(MemoryBudget *allowance) except -1
