"""Execution of programs: blocking, or as coroutines that can be suspended (`execution.pyx`)."""

cimport cython

from ts._core.vm.code cimport Callee
from ts._core.vm.frame cimport State
from ts._core.vm.future cimport Future
from ts._core.vm.inherited cimport ThreadContextSnapshot

# Run the frames of `state` until they end, blocking on futures, and set state.result.
cdef int execute(State *state) except -1


cdef enum ExecutionState:
    """State of a ScriptCoroutine."""
    # waiting for a thread: one of the pool, or one that waits for the result and runs the program itself
    QUEUED = 0
    RUNNING = 1
    PARKED = 2                    # waiting for a future
    STOPPED = 3                   # suspended, or not started
    ENDED = 4


@cython.final
cdef class ScriptCoroutine:
    """Execution of a function that can be suspended and resumed on any thread."""
    cdef State *state             # NULL after the program has ended
    cdef Callee function
    # True if the program owns references to the code of its frames, because functions may be freed before it
    cdef bint holding
    cdef readonly Future future   # future of the result
    cdef readonly Future awaited  # the future that the program waits for while PARKED
    cdef ExecutionState condition
    cdef ThreadContextSnapshot inherited      # context of the thread that created the program
    cdef bint counted             # True if PROGRAM_BYTES are counted for its memory limit
    cdef object __weakref__

    cdef void end(self) noexcept
    cdef int resume(self) except -1


# Create a coroutine for a call. The caller writes the parameters to its first frame.
cdef ScriptCoroutine begin(Callee function)
