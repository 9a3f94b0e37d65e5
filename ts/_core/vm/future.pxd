"""Futures: results of forked programs and of asynchronous calls."""

from ts._core.value.ivalue cimport IValue, TypeSpec


cdef class Future:
    cdef object result            # shallowly boxed: containers stay core containers
    cdef bint from_python         # `result` is any Python object, converted when a script takes it
    cdef object error             # the exception of a failed future, or None
    cdef bint finished
    cdef list callbacks           # called with the finished future, without locks held
    cdef object producer          # the ScriptCoroutine that will finish it, or None
    cdef object __weakref__

    cdef object outcome(self)
    # Write the result of a finished future to `out` if it conforms to the type; the old value is released.
    cdef int take(self, TypeSpec spec, IValue *out) except -1
    cdef int sleep(self) except -1
    cdef int finish(self, object result, object error, bint from_python) except -1
    # Block until the future is finished; meanwhile run queued programs that it depends on.
    cdef int block(self) except -1
