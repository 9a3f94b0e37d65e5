"""Futures: results of forked programs and of asynchronous calls."""

from ts._core.value.ivalue cimport IValue, TypeSpec


cdef class Future:
    # result in the form of `box_shallow`: lists, dicts and tuples of scripts are not converted to Python containers
    cdef object result
    cdef bint from_python         # True if `result` is a Python object, which is converted when a script reads it
    cdef object error             # the exception of a failed future, or None for other futures
    cdef bint finished
    # Functions that are called with the future as argument when it finishes. No lock is held during these
    # calls.
    cdef list callbacks
    cdef object producer          # the ScriptCoroutine that will finish the future, or None
    cdef object __weakref__

    cdef object outcome(self)
    # Write the result of a finished future to `out`, and release the old value of `out`. Raise the future's error, or
    # TypeError if the result does not conform to `spec`.
    cdef int take(self, TypeSpec spec, IValue *out) except -1
    cdef int sleep(self) except -1
    cdef int finish(self, object result, object error, bint from_python) except -1
    # Block until the future is finished. Before blocking, run the queued programs on which the future depends.
    cdef int block(self) except -1
