"""Pointwise operators whose kernel is a ufunc."""

from ts._core.dispatch.operator cimport Operator
from ts.backends.cpu.kernels.elementwise cimport Loops

# Let the operator run its ufunc's loops, where its record names one that has some.
cdef int bind_loops(Operator op) except -1
# The loops of an operator whose record names a ufunc; None where there are none.
cdef Loops loops_behind(Operator op)
