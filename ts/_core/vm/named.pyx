"""What instructions name by the number of a function; `named.pxd` says what is known of it."""

from ts._core.value.spec cimport ANY_SPEC


cdef class Called:
    def __cinit__(self, *_, **__):
        self.specs, self.result = (), ANY_SPEC


cdef class CalledByName(Called):
    pass


cdef class Stops:
    def __cinit__(self, *_, **__):
        self.flags = bytearray()
