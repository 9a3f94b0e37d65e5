"""Futures: values that a program will have."""

from ts._core.value.ivalue cimport IValue, TypeSpec


cdef class Future:
    cdef object result            # what boxing shallowly gives: containers are the core's own
    cdef bint from_python         # `result` is any Python object, converted when a script takes it
    cdef object error             # the exception, where there is no result
    cdef bint finished
    cdef list callbacks           # called with the future when it is finished; locks are released
    cdef object producer          # the Execution that will finish it, while there is one
    cdef object __weakref__

    cdef object outcome(self)
    # The result of a finished future in a script, where it is of the type; what `out` held is released.
    cdef int take(self, TypeSpec spec, IValue *out) except -1
    cdef int sleep(self) except -1
    cdef int finish(self, object result, object error, bint from_python) except -1
    # Wait; meanwhile run the programs that it depends on, those that no other thread has begun.
    cdef int block(self) except -1
