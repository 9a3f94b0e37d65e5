"""Exception handling (exception propagation, stack traces) that adds script locations to errors.

Input: the frames of a failed program, and its exception. Output: an exception with the stack of the script,
without internal details.
"""

from os import environ

from ts._core.vm.code cimport Code
from ts._core.vm.frame cimport Frame, State
from ts.errors import DebuggerQuit, LimitExceeded, ScriptRuntimeError
from ts.module_names import is_own


cdef list script_stack(State *state):
    """Return the backtrace: (function, range) of active frames and calls inlined in them, outermost first."""
    cdef Frame *frame = state.frame
    cdef Code code
    cdef Py_ssize_t at
    stack = []
    while frame != NULL:
        code = <Code>frame.code
        at = frame.pc - code.instructions
        # If a frame has called a function or has failed, its `pc` is one past this instruction. If it has
        # executed nothing yet, its `pc` is the first instruction.
        if code.lines:
            stack.extend(reversed(code.lines[max(at - 1, 0)] or ()))
        frame = frame.caller
    stack.reverse()
    return stack


cdef object add_location(object error, list stack):
    """Return the exception to raise in place of `error`, with the stack of the script in its message.

    The class of the exception is the class that PyTorch raises, such as RuntimeError.
    """
    if isinstance(error, (ScriptRuntimeError, LimitExceeded)):
        error.stack = stack + error.stack
        return error
    if isinstance(error, (DebuggerQuit, Warning)) or not isinstance(error, Exception):
        return error
    if isinstance(error, MemoryError):
        result = MemoryError(str(ScriptRuntimeError(str(error) or "not enough memory", stack, "MemoryError")))
    else:
        # As in PyTorch, the message contains the name RuntimeError, even if the exception is a
        # NotImplementedError
        message = str(ScriptRuntimeError(str(error), stack, "RuntimeError"))
        result = NotImplementedError(message) if isinstance(error, NotImplementedError) else RuntimeError(message)
    result.__cause__ = error
    return result


cdef object remove_internal_context(object error):
    if not hides_internals() or not is_of_ts(error):
        return error
    cause = error.__cause__
    while cause is not None and is_of_ts(cause):
        cause = cause.__cause__
    if cause is not None:
        traceback = cause.__traceback__
        while is_frame_of_ts(traceback):
            traceback = traceback.tb_next
        cause.__traceback__ = traceback
    error.__cause__ = cause
    return error


cdef object remove_traceback(object error):
    return error.with_traceback(None) if hides_internals() and is_of_ts(error) else error


cdef bint hides_internals() except -1:
    return environ.get("TS_SHOW_INTERNAL", "0") == "0"


cdef bint is_of_ts(object error) except -1:
    """Return whether all traceback frames of the exception belong to ts."""
    traceback = error.__traceback__
    while traceback is not None:
        if not is_frame_of_ts(traceback):
            return False
        traceback = traceback.tb_next
    return True


cdef bint is_frame_of_ts(object traceback) except -1:
    return is_own(traceback.tb_frame.f_globals.get("__name__"))
