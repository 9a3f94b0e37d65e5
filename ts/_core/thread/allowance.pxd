"""Memory accounting of `ts.limits(bytes=...)`: allocations and releases of the running program."""


cdef extern from *:
    """
    typedef struct MemoryBudget {
        struct MemoryBudget *outer;    /* a reference */
        int users;
        int refused;                /* NumPy was refused an array */
        int forked;                 /* programs that count here and have not ended */
        int forks_end;              /* one of them was refused: until all have ended, no other begins */
        long long size;
        long long used;
        long long most;             /* that was ever used at once */
        long long resident;         /* of the process, when this was made */
        long long texts;            /* characters of strings since resident memory was last asked for */
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

# Whether this one has.
cdef bint has_allowance() noexcept

# Before memory is allocated; MemoryExceeded when this thread's allowance does not cover it.
cdef int take_bytes(Py_ssize_t size) except -1 nogil
# When it is free again.
cdef void give_bytes(Py_ssize_t size) noexcept nogil
cdef enum:
    TEXT_BYTES = 56              # of a string in addition to its characters

# Charge a new string or other Python object of this size; its release is not reported.
cdef int take_text(Py_ssize_t size) except -1
# What to raise instead of an error: MemoryExceeded where that is, or stands for, the MemoryError that NumPy raises when it is
# refused an array; once for each refusal.
cdef object as_limit(error)

# Before a program is forked, which takes so many bytes, and when it has ended.  Once one was refused, no other begins until
# all have ended: what a program gives back that fails, those that fork without end would take again, and again.
cdef int take_program(Py_ssize_t size) except -1
cdef void give_program(Py_ssize_t size) noexcept

# A new allowance inside of this thread's; a reference.
cdef MemoryBudget *new_allowance(long long size) except NULL
cdef void hold_allowance(MemoryBudget *allowance) noexcept
cdef void drop_allowance(MemoryBudget *allowance) noexcept
# Make it the one of this thread, until it is set again; NULL for none.  No reference is taken.
cdef int set_allowance(MemoryBudget *allowance) except -1
# Make it the one where this thread has no other, or an outer one of those that it will get: of who wants to know what is used.
cdef int watch_allowance(MemoryBudget *allowance) except -1
