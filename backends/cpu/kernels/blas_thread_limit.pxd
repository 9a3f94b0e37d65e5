"""Single-threaded BLAS in NumPy and SciPy while an operator runs."""

# Between `begin` and `end`, BLAS runs on one thread. `end` restores the previous number of threads. Pairs of
# `begin` and `end` may be nested. Both functions need the GIL.
cdef int begin() except -1
cdef void end() noexcept
