"""Stop points of the debugger, and inspection of stopped programs."""

cimport cython

from ts._core.vm.frame cimport State
from ts._core.vm.named cimport BreakpointsBase


@cython.final
cdef class Breakpoints(BreakpointsBase):
    cdef void *stepping               # the State to single-step; NULL: any program
    cdef int depth                    # maximum call depth for a stop at a line
    cdef int return_depth             # maximum call depth for a stop at a return
    cdef object on_stop
    cdef object on_failure

    cdef char *flag(self, int place) except NULL
    cdef int reach(self, State *state, int place) except -1
    cdef int fail(self, State *state, object error) except -1


@cython.final
cdef class PausedProgram:
    """Program paused at a stop point, valid until the debugger resumes it."""
    cdef State *state
