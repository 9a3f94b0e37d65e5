"""Kernels of pointwise operators that are computed by ufunc loops."""

from ts._core.dispatch.operator cimport Operator
from ts.backends.cpu.kernels.elementwise cimport Loops

# Set the operator's kernel to its ufunc's loops, if its record names a ufunc that has some.
cdef int bind_loops(Operator op) except -1
# Return the loops of the ufunc that the operator's record names; None if there are none.
cdef Loops loops_of_record(Operator op)
