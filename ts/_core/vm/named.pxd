"""What instructions name by the number of a function, as far as the verifier looks at it."""

from ts._core.value.spec cimport TypeSpec


cdef class CalleeBase:
    """What a CALL or a FORK names: `code.Callee`."""
    cdef readonly tuple specs         # TypeSpec of each parameter
    cdef readonly TypeSpec result


cdef class MethodBase(CalleeBase):
    """What a CALL_METHOD names: `code.Method`."""


cdef class BreakpointsBase:
    """What a BREAK names: `breaks.Breaks`."""
    cdef bytearray flags              # by place
