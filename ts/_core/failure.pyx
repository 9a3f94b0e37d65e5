"""The bodies of `failure.pxd`.

In: the frames of a program that failed, and the exception.  Out: the exception with the script's stack.
"""

from ts._core.code cimport Code
from ts._core.frame cimport Frame, State
from ts.errors import DebuggerQuit, LimitExceeded, ScriptRuntimeError


cdef list script_stack(State *state):
    """(function, range) of the running frames and of the calls inlined in them, outermost first."""
    cdef Frame *frame = state.frame
    cdef Code code
    cdef Py_ssize_t at
    stack = []
    while frame != NULL:
        code = <Code>frame.code
        at = frame.pc - code.instructions
        # A frame that waits for a call, or failed, stands behind its instruction; one at its start does not.
        if code.lines:
            stack.extend(reversed(code.lines[max(at - 1, 0)] or ()))
        frame = frame.caller
    stack.reverse()
    return stack


cdef object located(object error, list stack):
    """The exception to leave with: the class that PyTorch raises, with the script's stack in its text."""
    if isinstance(error, ScriptRuntimeError):
        error.stack = stack + error.stack
        return error
    if isinstance(error, (DebuggerQuit, LimitExceeded, MemoryError, Warning)) or not isinstance(error, Exception):
        return error
    text = str(ScriptRuntimeError(str(error), stack, "RuntimeError"))  # the class's name there, as in PyTorch
    result = NotImplementedError(text) if isinstance(error, NotImplementedError) else RuntimeError(text)
    result.__cause__ = error
    return result
