"""Around the loop: what its statuses ask for.

In: a State with a frame.  Out: the state with a result, or the exception that PyTorch raises, with the
stack of the script.

    loop -> METER_ZERO   -> look_up, on with the loop
            CALL_SLOWLY  -> compile the callee, more room for frames, on with the loop
            DONE         -> state.result
            others       -> an exception, located in the script
"""

from cpython.pystate cimport PyThreadState

from ts._core.code cimport Callee, Code, Instruction
from ts._core.container cimport Object, list_size, raise_key_error, raise_list_index, value_text
from ts._core.failure cimport located, script_stack
from ts._core.frame cimport Frame, State, enter_chunk, frame_registers, frame_size, release_frames
from ts._core.interp cimport (
    BAD_ATTRIBUTE,
    BAD_CAST,
    BAD_INDEX,
    BAD_KEY,
    BAD_LENGTH,
    CALL_SLOWLY,
    DONE,
    FAILED,
    METER_ZERO,
    NEEDS_GIL,
    RAISED,
    loop,
)
from ts._core.ivalue cimport IValue, box, box_shallow
from ts._core.meter cimport charge, look_up, start_meter
from ts._core.operand cimport O, R
from ts._core.scalar cimport raise_status

from ts.errors import InternalError, ScriptRuntimeError, StackExceeded

cdef extern from "Python.h":
    void PyEval_RestoreThread(PyThreadState *thread) noexcept nogil


cdef int execute(State *state) except -1:
    """Run to the end.  The GIL is held before and after; frames are gone after an error."""
    cdef int status
    state.thread = NULL
    start_meter(state)
    while True:
        status = loop(state)
        if status == METER_ZERO:
            if look_up(state, (<Code>state.frame.code).scalar) == 0:
                continue
            status = FAILED
        if state.thread != NULL:
            PyEval_RestoreThread(state.thread)
            state.thread = NULL
        if status == DONE:
            charge(state)
            return 0
        try:
            if status == CALL_SLOWLY:
                call_slowly(state)
            elif status != NEEDS_GIL:
                raise_failure(state, status)
        except BaseException as error:
            charge(state)
            error = located(error, script_stack(state))
            error = leave_contexts(state, error)
            release_frames(state)
            raise error


cdef object leave_contexts(State *state, object error):
    """Leave the objects that the failing frames have entered, innermost first; the exception to go on with.

    As in Python, an exception that leaving raises takes the place of the one before; as in PyTorch, what
    `__exit__` returns does not stop an exception, and its arguments are None.
    """
    cdef Frame *frame = state.frame
    cdef Code code
    cdef Py_ssize_t at
    while frame != NULL:
        code = <Code>frame.code
        at = frame.pc - code.instructions - 1
        for start, end, register, function in code.handlers:
            if start <= at < end:
                context = box_shallow(<IValue *>frame_registers(frame) + <int>register)
                try:
                    function(context, None, None, None)
                except Exception as failure:
                    failure.__context__ = error
                    error = failure
        frame = frame.caller
    return error


cdef int call_slowly(State *state) except -1:
    """What keeps the CALL at the frame's pc from a plain push is put right; the loop runs it again."""
    cdef Code code = <Code>state.frame.code
    cdef Callee callee = <Callee>code.function_at[state.frame.pc.b]
    if state.depth >= state.depth_limit:
        raise StackExceeded(f"more than {state.depth_limit} nested calls: endless recursion? (calls of {callee.name})")
    if callee.ready == NULL:
        callee.prepare()
        if code.pool[state.frame.pc.c] != callee.code.parameter_count:
            raise InternalError(f"{callee.name} is called with {code.pool[state.frame.pc.c]} arguments")
    if state.budget <= 0:
        if look_up(state, False) < 0:
            raise_set_error()
    elif frame_size(callee.code) > <size_t>(state.end - state.top):
        enter_chunk(state, frame_size(callee.code))
    return 0


cdef extern from *:
    """
    /* An exception is set already: tell Cython so. */
    static int raise_set_error(void) { return -1; }
    """
    int raise_set_error() except -1


cdef int raise_failure(State *state, int status) except -1:
    """Raise what the status of the loop stands for; the instruction is the one before the frame's pc."""
    cdef const Instruction *at = state.frame.pc - 1
    cdef char *r = frame_registers(state.frame)
    if status == FAILED:
        return raise_set_error()
    if status == BAD_INDEX:
        return raise_list_index()
    if status == BAD_KEY:
        return raise_key_error(R(r, at.c))
    if status == BAD_CAST:
        raise RuntimeError(f"Unexpected value {value_text(R(r, at.b))}: another type was expected here")
    if status == BAD_ATTRIBUTE:
        cls = (<Object>O(r, at.b)).cls
        raise RuntimeError(f"'{cls.name}' object has no value for attribute '{cls.names[at.c]}' yet")
    if status == BAD_LENGTH:
        raise RuntimeError(f"Expected {at.b} elements in a list but found {list_size(O(r, at.a))}")
    if status == RAISED:
        message = box(R(r, at.a))
        raise ScriptRuntimeError("" if message is None else str(message), class_name=box(R(r, at.b)) or "RuntimeError")
    return raise_status(status)
