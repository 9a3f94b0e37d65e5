"""Script locations of failures, and cleanup of exceptions raised to the caller."""

from ts._core.vm.frame cimport State

# (function, range) of the running frames and of the calls inlined in them, outermost first.
cdef list script_stack(State *state)
# The exception to raise: PyTorch's class, with the script's stack in its message.
cdef object located(object error, list stack)
# The exception without internal causes, and without traceback frames of ts.
cdef object tidied(object error)
# Whether internal frames are hidden (off when debugging ts itself).
cdef bint hides_internals() except -1
# Without its traceback, if all frames are of ts.
cdef object shortened(object error)
