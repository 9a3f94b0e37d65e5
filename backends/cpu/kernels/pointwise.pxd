"""Kernels of pointwise operators that are computed by ufunc loops."""

from ts._core.dispatch.operator cimport Operator
from ts.backends.cpu.kernels.elementwise cimport Loops

# If the operator's record names a ufunc with supported loops, set the operator's kernel to run these loops.
cdef int bind_loops(Operator op) except -1
# Return the loops of the ufunc that the operator's record names. Return None if it names no ufunc or its
# loops are unsupported.
cdef Loops loops_of_record(Operator op)
