"""Pointwise operators whose kernel is a ufunc."""

from ts._core.dispatch.operator cimport Operator

# Let the operator run its ufunc's loops, where its record names one that has some.
cdef int bind_loops(Operator op) except -1
