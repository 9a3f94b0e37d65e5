"""Autocast state of a thread, and its transfer to worker threads."""

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

# Replace this thread's autocast state and return the previous one; the context flag is not updated.
cdef AutocastState exchange_switches(AutocastState others) noexcept
# Autocast state for a worker thread of this thread: outside all blocks, without a cast cache.
cdef AutocastState inherited_switches() noexcept
