"""Where in the script a program failed, and the exception that leaves it."""

from ts._core.vm.frame cimport State

# (function, range) of the running frames and of the calls inlined in them, outermost first.
cdef list script_stack(State *state)
# The exception to leave with: the class that PyTorch raises, with the script's stack in its text.
cdef object located(object error, list stack)
# The exception without what happened inside of ts: its causes that are none of the user's, and the frames of these.
cdef object tidied(object error)
# Whether those who use ts read the message, not those who work on it.
cdef bint hides_internals() except -1
# Without the frames that it came through, if all are of ts.
cdef object shortened(object error)
