"""Futures: values that a program will have."""

from ts._core.value.ivalue cimport IValue, TypeSpec


cdef class Future:
    cdef object result            # shallowly boxed: containers stay core containers
    cdef bint from_python         # `result` is any Python object, converted when a script takes it
    cdef object error             # the exception, where there is no result
    cdef bint finished
    cdef list callbacks           # called with the future when it is finished; locks are released
    cdef object producer          # the Execution that will finish it, while there is one
    cdef object __weakref__

    cdef object outcome(self)
    # Write the result of a finished future to `out` if it conforms to the type; the old value is released.
    cdef int take(self, TypeSpec spec, IValue *out) except -1
    cdef int sleep(self) except -1
    cdef int finish(self, object result, object error, bint from_python) except -1
    # Block; meanwhile run queued programs that the future depends on.
    cdef int block(self) except -1
