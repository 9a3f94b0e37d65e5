"""Autocast state of a thread, and its copy for worker threads."""

cdef extern from *:
    """
    typedef struct {
        unsigned int enabled;         /* bit mask of backends with autocast */
        int dtypes[16];               /* lower-precision dtype by backend, 0 for the default */
        int nesting;                  /* depth of nested autocast blocks */
        int uncached;                 /* the cast cache for leaves is disabled */
    } AutocastState;
    """
    ctypedef struct AutocastState:
        unsigned int enabled
        int dtypes[16]
        int nesting
        bint uncached

# Replace this thread's autocast state, and return the previous state. The caller must update the context flag
# AUTOCAST.
cdef AutocastState exchange_autocast_flags(AutocastState others) noexcept
# Return the autocast state for a thread that this thread starts. The new state has the settings of this
# thread, nesting depth 0, and no cached casts.
cdef AutocastState inherited_autocast_flags() noexcept
