"""Execution of programs: blocking, or as suspendable coroutines; see `execution.pyx`."""

cimport cython

from ts._core.vm.code cimport Callee
from ts._core.vm.frame cimport State
from ts._core.vm.future cimport Future
from ts._core.vm.inherited cimport ThreadContextSnapshot

# Run the frames of `state` to their end, blocking on futures; writes state.result.
cdef int execute(State *state) except -1


cdef enum ExecutionState:
    """State of a ScriptCoroutine."""
    QUEUED = 0                    # waiting for a pool thread, or for a waiter that runs it
    RUNNING = 1
    PARKED = 2                    # waits for a future
    STOPPED = 3                   # suspended, or not begun
    ENDED = 4


@cython.final
cdef class ScriptCoroutine:
    """Suspendable execution of a function, resumable on any thread."""
    cdef State *state             # NULL when it has ended
    cdef Callee function
    cdef bint holding             # owns references to its frames' code: the collector may free the functions first
    cdef readonly Future future   # future of the result
    cdef readonly Future awaited  # the future that it waits for while parked
    cdef ExecutionState condition
    cdef ThreadContextSnapshot inherited      # context of the thread that created it
    cdef bint counted             # its memory is charged to its limits
    cdef object __weakref__

    cdef void end(self) noexcept
    cdef int turn(self) except -1


# Create a program; the caller writes the parameters of its first frame.
cdef ScriptCoroutine begin(Callee function)
