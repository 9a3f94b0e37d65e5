"""Script locations of failures, and cleanup of exceptions raised to the caller."""

from ts._core.vm.frame cimport State

# Return (function, range) of the active frames and of the calls inlined in them, outermost first.
cdef list script_stack(State *state)
# Return the exception to raise: PyTorch's class, with the script's stack in its message.
cdef object located(object error, list stack)
# Remove internal causes and traceback frames of ts from an exception, and return it.
cdef object tidied(object error)
# Return whether internal frames are hidden (off when debugging ts itself).
cdef bint hides_internals() except -1
# Remove the traceback of an exception if all its frames are of ts, and return the exception.
cdef object shortened(object error)
