"""NumPy's and SciPy's linear algebra on one thread while an operator runs."""

# Between these two, which nest, it runs on one thread; `end` restores what was.  With the GIL.
cdef int begin() except -1
cdef void end() noexcept
