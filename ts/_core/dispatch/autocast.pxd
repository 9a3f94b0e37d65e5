"""Autocast, as the rest of the core needs it: what holds in a thread goes along to those that work for it."""

cdef extern from *:
    """
    typedef struct {
        unsigned int enabled;         /* a bit for each backend */
        int dtypes[16];               /* the dtype that each computes in; 0: its own choice */
        int nesting;                  /* how many blocks the thread is in */
        int uncached;                 /* leaves are converted each time */
    } AutocastState;
    """
    ctypedef struct AutocastState:
        unsigned int enabled
        int dtypes[16]
        int nesting
        bint uncached

# Give this thread other switches, without the flag of its context, which follows `enabled`; those that it had come back.
cdef AutocastState exchange_switches(AutocastState others) noexcept
# What a thread has that works for this one: it is in no block, and keeps nothing.
cdef AutocastState inherited_switches() noexcept
