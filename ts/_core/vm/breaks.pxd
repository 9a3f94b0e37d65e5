"""Stop points of the debugger, and access to stopped programs."""

cimport cython

from ts._core.vm.frame cimport State
from ts._core.vm.named cimport BreakpointsBase


@cython.final
cdef class Breakpoints(BreakpointsBase):
    # The only task that may stop at a point without a breakpoint, because the debugger steps through this
    # task. If it is NULL, all tasks may stop there.
    cdef void *stepping
    cdef int depth  # maximal call depth at which a program stops at a line without a breakpoint
    cdef int return_depth  # maximal call depth at which a program stops at a return without a breakpoint
    cdef object on_stop
    cdef object on_failure

    cdef char *flag(self, int stop_point) except NULL
    cdef int reach(self, State *state, int stop_point) except -1
    cdef int fail(self, State *state, object error) except -1


@cython.final
cdef class PausedProgram:
    """A task that is stopped at a stop point, valid until the debugger resumes the task."""
    cdef State *state
