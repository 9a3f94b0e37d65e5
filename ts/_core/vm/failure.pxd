"""Exception handling that adds script locations to errors and removes internal details from exceptions."""

from ts._core.vm.frame cimport State

# Return (function, range) for each active frame and each call inlined in it, outermost first.
cdef list script_stack(State *state)
# Return the exception that the caller of a failed program raises. The exception has the class that PyTorch
# raises, and its message contains the stack of the script.
cdef object add_location(object error, list stack)
# Remove the causes of an exception that are internal to `ts`, and the frames of `ts` in its traceback. Return the
# exception.
cdef object remove_internal_context(object error)
# Return whether tracebacks omit the frames of `ts`: True unless TS_SHOW_INTERNAL=1 is set to debug `ts` itself.
cdef bint hides_internals() except -1
# If all frames in the traceback of an exception belong to `ts`, remove the traceback. Return the exception.
cdef object remove_traceback(object error)
