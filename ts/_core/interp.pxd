"""The interpreter's loop and the functions that start it."""

cimport cython
from cpython.ref cimport PyObject

from ts._core.code cimport Code
from ts._core.frame cimport State


cdef class Function:
    """A compiled function that Python can call.  Subclasses give it its `_prepare`, which makes the Code."""
    cdef readonly str name
    cdef readonly str declaration     # PyTorch's schema text, for messages
    cdef readonly tuple arguments     # (name, TypeSpec) or (name, TypeSpec, default) each
    cdef int argument_count
    cdef tuple names
    cdef tuple specs
    cdef dict defaults
    cdef Code code                    # None until the first call
    cdef PyObject *ready              # the code, borrowed, or NULL: what the loop looks at
    cdef object __weakref__
    cdef dict __dict__

    cdef int prepare(self) except -1
    cdef object call(self, tuple args, dict kwargs)


# Run the innermost frame of `state` and those below it to their end; state.result holds the result.
cdef int execute(State *state) except -1
