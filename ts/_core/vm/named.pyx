"""What instructions name by the number of a function; `named.pxd` says what is known of it."""


cdef class Called:
    pass


cdef class CalledByName(Called):
    pass


cdef class Stops:
    pass
