"""Base classes for the entries of a code's function table (`named.pxd`)."""

from ts._core.value.spec cimport ANY_SPEC


cdef class CalleeBase:
    def __cinit__(self, *_, **__):
        self.specs, self.result = (), ANY_SPEC


cdef class MethodBase(CalleeBase):
    pass


cdef class BreakpointsBase:
    def __cinit__(self, *_, **__):
        self.flags = bytearray()
