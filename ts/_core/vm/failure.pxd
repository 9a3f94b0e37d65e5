"""Exception handling: script locations of errors, and cleanup of exceptions that are raised to the caller."""

from ts._core.vm.frame cimport State

# Return (function, range) of the active frames and of calls inlined in them, outermost first.
cdef list script_stack(State *state)
# Return the exception to raise, of PyTorch's class, with the stack of the script in its message.
cdef object add_location(object error, list stack)
# Remove internal causes and the traceback frames of ts from an exception, and return the exception.
cdef object remove_internal_context(object error)
# Return whether internal frames are hidden, which is False when ts itself is debugged.
cdef bint hides_internals() except -1
# Remove the traceback of an exception if all its frames belong to ts, and return the exception.
cdef object remove_traceback(object error)
