"""Execution of programs: blocking, or as coroutines that can be suspended (`execution.pyx`)."""

cimport cython

from ts._core.vm.code cimport Callee
from ts._core.vm.frame cimport State
from ts._core.vm.future cimport Future
from ts._core.vm.inherited cimport ThreadContextSnapshot

# Run the program of `state` until it ends, and store its result in `state.result`. At a WAIT for an unfinished future,
# block the thread.
cdef int execute(State *state) except -1


cdef enum ExecutionState:
    """State of a ScriptCoroutine."""
    # ready to run, on a thread of the pool or on a thread that waits for its result
    QUEUED = 0
    RUNNING = 1
    PARKED = 2                    # suspended at a WAIT until a future is finished
    STOPPED = 3                   # suspended, or not started
    ENDED = 4


@cython.final
cdef class ScriptCoroutine:
    """Execution of a function that can be suspended and resumed on any thread."""
    cdef State *state             # NULL after the program has ended
    cdef Callee function
    # True while the program owns references to the code of its frames. Without these references, the
    # functions could be freed before the program.
    cdef bint holding
    cdef readonly Future future   # future of the result
    cdef readonly Future awaited  # the future that the program waits for while PARKED
    cdef ExecutionState condition
    cdef ThreadContextSnapshot inherited      # flags, autocast state and limits of the thread that created the program
    cdef bint counted             # True if PROGRAM_BYTES are counted for its memory limit
    cdef object __weakref__

    cdef void end(self) noexcept
    cdef int resume(self) except -1


# Create a coroutine for a call. The caller writes the parameters to its first frame.
cdef ScriptCoroutine begin(Callee function)
