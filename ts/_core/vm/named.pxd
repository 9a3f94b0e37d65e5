"""Base classes of the objects in the function table of a code.

The base classes have the fields that the verifier reads.
"""

from ts._core.value.spec cimport TypeSpec


cdef class CalleeBase:
    """Base class of `code.Callee`, the operand of CALL and FORK."""
    cdef readonly tuple specs         # TypeSpec of each parameter
    cdef readonly TypeSpec result


cdef class MethodBase(CalleeBase):
    """Base class of `code.Method`, the operand of CALL_METHOD."""


cdef class BreakpointsBase:
    """Base class of `breaks.Breakpoints`, the operand of BREAK."""
    cdef bytearray flags              # one byte of flags for each point at which a program may stop
