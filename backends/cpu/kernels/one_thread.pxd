"""Single-threaded BLAS in NumPy and SciPy while an operator runs."""

# Limit BLAS to one thread between `begin` and `end`, which nest; `end` restores the previous number. Both
# need the GIL.
cdef int begin() except -1
cdef void end() noexcept
