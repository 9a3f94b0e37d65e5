"""Driver (trampoline) of the interpreter loop, with stack unwinding after errors and suspended coroutines.

The interpreter loop returns an exit status to the driver. For each status, the driver performs one action:

    METER_ZERO       check signals and limits, continue the loop
    CALL_SLOW_PATH   compile the callee or allocate a chunk for frames, continue
    DONE             return; the result is in the State
    FORKING          queue a new program for the thread pool, continue
    HOT              request machine code, continue
    WAITING          continue with the result of the future, or block or park the program until it is finished
    BREAKING         call the debugger if it must stop here, continue
    others           raise PyTorch's exception with the location in the script

A program called from Python blocks its thread while it waits. A `ScriptCoroutine` returns to its caller
instead, and any thread may resume it. Example:

    coroutine = f.start(10)
    coroutine.run(steps=1000)      False if the program was suspended after about 1000 steps
    coroutine.run()                True when the program has finished
    coroutine.future.wait()        the result of the program
"""

cimport cython
from cpython.pystate cimport PyThreadState
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stdint cimport INT64_MAX, int32_t, int64_t

from ts._core.thread.allowance cimport as_limit, credit_program, limited, take_program
from ts._core.vm.breaks cimport Breakpoints
from ts._core.vm.code cimport Callee, Code, Instruction, Method
from ts._core.value.container cimport Object, list_size, raise_key_error, raise_list_index, type_text, value_text
from ts._core.thread.deadline cimport check_time, timed
from ts._core.vm.failure cimport add_location, script_stack, remove_internal_context
from ts._core.vm.frame cimport (
    Frame,
    State,
    enter_chunk,
    exchange_code,
    first_frame,
    frame_registers,
    frame_size,
    release_state,
    move_frame,
    pop_frame,
    release_frames,
    release_registers,
    allocate_state,
)
from ts._core.vm.future cimport Future
from ts._core.vm.interp cimport loop
from ts._core.vm.exit_status cimport (
    BAD_ATTRIBUTE,
    BAD_CAST,
    BAD_ELEMENT,
    BAD_INDEX,
    BAD_KEY,
    BAD_LENGTH,
    BREAKING,
    CALL_SLOW_PATH,
    DONE,
    FAILED,
    FORKING,
    HOT,
    METER_ZERO,
    NEEDS_GIL,
    RAISED,
    SUSPENDED,
    WAITING,
)
from ts._core.value.ivalue cimport IValue, TAG_OBJECT, box, box_shallow, release, retain, set_object
from ts._core.vm.inherited cimport ThreadContextSnapshot
from ts._core.vm.meter cimport charge, check_limits, exchange_limits, check_signals_and_limits, stack_message, start_meter
from ts._core.vm.native cimport MIN_COUNTED_JUMPS, request_compilation, count_backward_jumps
from ts._core.vm.opcodes cimport CAST_TO, ENTER_SPECIALIZATION, STORE_FLOAT, STORE_INT, STR_GET
from ts._core.vm.operand_macros cimport O, R
from ts._core.vm.specializations cimport Specializations, code_of
from ts._core.value.scalar cimport raise_status
from ts._core.value.no_python_construction cimport seal
from ts._core.value.spec cimport TypeSpec
from ts._core.tensor.python_operators cimport operator_function

from ts.errors import ScriptRuntimeError, StackExceeded

cdef extern from "Python.h":
    void PyEval_RestoreThread(PyThreadState *thread) noexcept nogil
    int PyGC_Disable() noexcept
    int PyGC_Enable() noexcept


cdef int execute(State *state) except -1:
    """Run the program of `state` until it ends, blocking on futures.

    The caller must hold the GIL. If the program fails, its frames are released.
    """
    while advance(state) != DONE:
        try:
            awaited_future(state).block()
        except BaseException as error:
            # `fail` expects that the pc is one past the failed instruction. The pc of a waiting frame is at
            # the instruction itself.
            state.frame.pc += 1
            fail(state, error)
    return 0


cdef int advance(State *state) except -1:
    """Run the program and return DONE, WAITING (for an unfinished future) or SUSPENDED.

    After WAITING and SUSPENDED, another call resumes the program.
    """
    cdef int status
    cdef bint hot
    cdef int64_t jumped
    cdef PyObject *first = state.frame.code
    state.thread = NULL
    start_meter(state)
    while True:
        status = loop(state)
        if status == METER_ZERO:
            hot = count_backward_jumps(state.frame.code, state.quantum - state.budget)
            status = check_signals_and_limits(state, (<Code>state.frame.code).scalar)
            if status == 0 and not hot:
                continue
            status = HOT if status == 0 else FAILED if status < 0 else SUSPENDED
        if state.thread != NULL:
            PyEval_RestoreThread(state.thread)
            state.thread = NULL
        if status == WAITING and not step_back(state).finished:
            charge(state)
            return WAITING
        jumped = state.quantum - state.budget
        if status == DONE and jumped >= MIN_COUNTED_JUMPS:
            first = last_entered_code(first)
            if count_backward_jumps(first, jumped):
                request_compilation_of_finished(state, first)
        if status == SUSPENDED or status == DONE and not timed:
            charge(state)
            return status
        try:
            if status == DONE:
                return finish_within_deadline(state)
            if status == HOT:
                request_compilation(<Code>state.frame.code)
            elif status == CALL_SLOW_PATH:
                if call_slow_path(state) == SUSPENDED:
                    return SUSPENDED
            elif status == FORKING:
                fork(state)
            elif status == WAITING:
                read_future(state)
            elif status == BREAKING:
                stop_at_breakpoint(state)
            elif status != NEEDS_GIL:
                raise_failure(state, status)
        except BaseException as error:
            fail(state, error)


cdef inline PyObject *last_entered_code(PyObject *code) noexcept:
    """Return the code that a call of `code` entered last: a specialization, or `code` itself if it has none."""
    cdef Specializations plans
    if (<Code>code).instructions[0].op != ENTER_SPECIALIZATION:
        return code
    plans = <Specializations>(<Code>code).function_at[0]
    return code if plans.chosen == NULL else plans.chosen


cdef int request_compilation_of_finished(State *state, PyObject *code) except -1:
    """Request machine code for `code`, the first function of a program that has finished.

    If the request raises an error, release the result of the program.
    """
    try:
        request_compilation(<Code>code)
    except BaseException:
        release(&state.result)
        raise
    return 0


cdef int finish_within_deadline(State *state) except -1:
    """Return DONE, or raise TimeExceeded if the deadline passed during the last operator."""
    try:
        check_time()
    except BaseException:
        release(&state.result)
        raise
    charge(state)
    return DONE


cdef int fail(State *state, object error) except -1:
    """Unwind the stack of a failed program (stack unwinding) and raise `error`.

    Inform the debugger, leave the contexts of the program, and release its frames. The message of the raised
    error contains the stack of the script.
    """
    charge(state)
    error = add_location(as_limit(error), script_stack(state))
    error = show_to_debugger(state, error)
    error = leave_contexts(state, error)
    release_frames(state)
    raise remove_internal_context(error)


cdef int stop_at_breakpoint(State *state) except -1:
    """Execute the BREAK instruction before the pc of the frame."""
    cdef const Instruction *at = state.frame.pc - 1
    return (<Breakpoints?>(<Code>state.frame.code).function_at[at.a]).reach(state, at.b)


cdef object show_to_debugger(State *state, object error):
    """Report a failure to an attached debugger before frames are released.

    Return the exception to raise.
    """
    cdef Frame *frame = state.frame
    while frame != NULL:
        for function in (<Code>frame.code).functions:
            if type(function) is Breakpoints:
                try:
                    (<Breakpoints>function).fail(state, error)
                except Exception as other:  # the debugger raises an exception to end the program
                    return other
                return error
        frame = frame.caller
    return error


cdef object leave_contexts(State *state, object error):
    """Call `__exit__` of the context managers that failing frames have entered, innermost first.

    Return the exception to raise: `error`, or the last exception that an `__exit__` raised. As in PyTorch,
    the arguments of `__exit__` are None, and its result does not suppress the exception.
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


cdef Callee callee_of(State *state, object called):
    """Return the callee of the call instruction at the pc of the frame."""
    cdef const int32_t *args
    cdef Object x
    if type(called) is not Method:
        return <Callee>called
    args = (<Code>state.frame.code).operand_pool + state.frame.pc.c
    x = <Object>(<IValue *>frame_registers(state.frame))[args[1]].v.o
    (<Method>called).resolve(x.cls)
    return (<Method>called).callee


cdef int call_slow_path(State *state) except -1:
    """Prepare the execution of a call instruction that the interpreter loop could not execute.

    Depending on the cause, compile the callee, select specialized code, refill the budget or grow the stack.
    The loop then repeats the instruction. Return SUSPENDED if the program must be suspended.
    """
    cdef Code code = <Code>state.frame.code
    if state.frame.pc.op == ENTER_SPECIALIZATION:
        return specialize(state, <Specializations>code.function_at[state.frame.pc.a])
    cdef Callee callee = callee_of(state, <object>code.function_at[state.frame.pc.b])
    cdef int status
    if state.depth >= state.depth_limit:
        raise StackExceeded(stack_message(state.depth_limit, callee.name))
    if callee.ready == NULL:
        callee.prepare()
    if state.budget <= 0:
        status = check_signals_and_limits(state, False)
        if status:
            return SUSPENDED if status > 0 else raise_set_error()
    elif frame_size(callee.code) > <size_t>(state.end - state.top):
        enter_chunk(state, frame_size(callee.code))
    return 0


cdef int specialize(State *state, Specializations specializations) except -1:
    """Select or compile the specialized code for the innermost frame, and enlarge the frame if needed."""
    cdef IValue *r = <IValue *>frame_registers(state.frame)
    cdef PyObject *code = code_of(specializations, r, False)
    if code == NULL:
        specializations.settle(r)
        return 0
    move_frame(state, <Code>code)
    exchange_code(state, <Code>code)
    return 0


cdef extern from *:
    """
    /* Propagates an exception that is already set. */
    static int raise_set_error(void) { return -1; }
    """
    int raise_set_error() except -1


cdef int raise_failure(State *state, int status) except -1:
    """Raise the exception for an exit status. The failed instruction is before the pc of the frame."""
    cdef const Instruction *at = state.frame.pc - 1
    cdef char *r = frame_registers(state.frame)
    if status == FAILED:
        return raise_set_error()
    if status == BAD_INDEX and at.op == STR_GET:
        raise IndexError("string index out of range")
    if status == BAD_INDEX:
        return raise_list_index()
    if status == BAD_KEY:
        return raise_key_error(R(r, at.c))
    if status == BAD_ELEMENT:
        return raise_no_element(state, at)
    if status == BAD_CAST and at.op == CAST_TO:
        target_type = <TypeSpec>(<Code>state.frame.code).type_at[at.c]
        raise RuntimeError(f"a value of type {type_text(R(r, at.b))} is not of type {target_type.annotation_str}")
    if status == BAD_CAST:
        raise RuntimeError(f"Unexpected value {value_text(R(r, at.b))}: the value does not have the expected type")
    if status == BAD_ATTRIBUTE:
        cls = (<Object>O(r, at.b)).cls
        raise RuntimeError(f"'{cls.name}' object has no value for attribute '{cls.names[at.c]}' yet")
    if status == BAD_LENGTH:
        raise RuntimeError(f"Expected {at.b} elements in a list but found {list_size(O(r, at.a))}")
    if status == RAISED:
        message = box(R(r, at.a))
        raise ScriptRuntimeError("" if message is None else str(message), class_name=box(R(r, at.b)) or "RuntimeError")
    return raise_status(status)


cdef int raise_no_element(State *state, const Instruction *at) except -1:
    """Raise the IndexError that `select` raises for the invalid index of a failed access to a tensor element.

    If all indices are valid, raise RuntimeError, because the tensor was changed during a loop.
    """
    cdef Code code = <Code>state.frame.code
    cdef const IValue *r = <IValue *>frame_registers(state.frame)
    row = code.rows[at - code.instructions]
    cdef const int32_t *items = code.operand_pool + <int>(row[1] if row[0] in (STORE_FLOAT, STORE_INT) else row[2])
    select = operator_function("select")
    x = <object>r[items[1]].v.o
    for k in range(2, items[0] + 1):
        x = select(x, 0, r[items[k]].v.i)
    raise RuntimeError("a tensor changed its shape or memory during a loop over its elements")


# ---------------------------------------------------------------- futures

cdef inline Future step_back(State *state):
    """Move the pc back to the WAIT instruction at which the loop returned, and return the future of the WAIT."""
    state.frame.pc -= 1
    return awaited_future(state)


cdef inline Future awaited_future(State *state):
    """Return the future of the WAIT instruction at the pc."""
    return <Future>O(frame_registers(state.frame), state.frame.pc.b)


cdef int read_future(State *state) except -1:
    """Execute the WAIT instruction at the pc. Its future must be finished."""
    cdef Future future = awaited_future(state)
    cdef const Instruction *at = state.frame.pc
    state.frame.pc += 1
    return future.take(<TypeSpec>(<Code>state.frame.code).type_at[at.c], R(frame_registers(state.frame), at.a))


cdef int fork(State *state) except -1:
    """Execute the FORK instruction that precedes the pc. It counts as many steps as an operator."""
    cdef Code code = <Code>state.frame.code
    cdef const Instruction *at = state.frame.pc - 1
    cdef char *r = frame_registers(state.frame)
    cdef int32_t *args = code.operand_pool + at.c
    cdef ScriptCoroutine program
    cdef IValue *parameter
    cdef int i
    check_limits()
    state.budget -= FORK_FUEL
    program = begin(<Callee>code.function_at[at.b])
    parameter = <IValue *>frame_registers(program.state.frame)
    for i in range(args[0]):
        parameter[i] = (<IValue *>r)[args[i + 1]]
        retain(&parameter[i])
    set_object(R(r, at.a), program.future)
    program.queue()
    return 0


# ---------------------------------------------------------------- programs that can be suspended

cdef enum:
    FORK_FUEL = 16
    PROGRAM_BYTES = 8192  # bytes counted for a suspended program: its objects, and the memory pages that its frames use


cdef ScriptCoroutine begin(Callee function):
    cdef ScriptCoroutine program = ScriptCoroutine.__new__(ScriptCoroutine)
    if function.ready == NULL:
        function.prepare()
    program.function = function
    program.future = Future()
    program.future.producer = program
    program.inherited = ThreadContextSnapshot()
    program.condition = STOPPED
    program.state = allocate_state()
    if limited:
        take_program(PROGRAM_BYTES)
        program.counted = True
    first_frame(program.state, function.code)
    retain_code(program)
    return program


cdef bint waits_for(Future future, ScriptCoroutine program):
    """Return whether a future depends on a program, directly or through other programs that wait for it."""
    cdef ScriptCoroutine producer
    while future is not None and future.producer is not None:
        producer = <ScriptCoroutine>future.producer
        if producer is program:
            return True
        future = producer.awaited if producer.condition == PARKED else None
    return False


# The frames have borrowed references to code, which functions own. A suspended program owns references to
# this code, because the garbage collector could otherwise free the functions before it frees the program.

cdef void retain_code(ScriptCoroutine program) noexcept:
    cdef Frame *frame = program.state.frame
    while frame != NULL:
        Py_INCREF(<object>frame.code)
        frame = frame.caller
    program.holding = True


cdef void drop_code(ScriptCoroutine program) noexcept:
    cdef Frame *frame = program.state.frame
    while program.holding and frame != NULL:
        Py_DECREF(<object>frame.code)
        frame = frame.caller
    program.holding = False


cdef void end_frames(ScriptCoroutine program) noexcept:
    cdef State *state = program.state
    cdef PyObject *code
    while state.frame != NULL:
        code = state.frame.code
        release_registers(state.frame)
        pop_frame(state)
        if program.holding:
            Py_DECREF(<object>code)
    program.holding = False


cdef int fail_waiting(State *state) except -1:
    """End a program with a RuntimeError, because its WAIT would be a deadlock."""
    state.frame.pc += 1
    return fail(state, RuntimeError("wait: the future waits for the program that waits for it (a deadlock)"))


@cython.no_gc_clear                # never cleared: `__dealloc__` needs the code and the limits to release the frames
cdef class ScriptCoroutine:
    def __dealloc__(self):
        self.end()

    def __repr__(self):
        return f"<Execution of {self.function.name}, {CONDITIONS[self.condition]}>"

    cdef void end(self) noexcept:
        """Release the frames and their memory.

        Subtract the size of the memory from the limits that counted it.
        """
        cdef void *before
        if self.state != NULL:
            before = exchange_limits(self.inherited.limits)
            end_frames(self)
            release_state(self.state)
            self.state = NULL
            if self.counted:
                credit_program(PROGRAM_BYTES)
            exchange_limits(before)
        self.condition = ENDED

    @property
    def is_queued(self):
        """True while the program waits for a thread of the pool."""
        return self.condition == QUEUED

    @property
    def finished(self):
        """True after the program has ended with a result or an exception."""
        return self.condition == ENDED

    @property
    def stack(self):
        """Return the call stack of a suspended program as (function, source range), outermost first.

        Empty while the program runs.
        """
        cdef bint collecting
        if self.state == NULL or self.condition == RUNNING:
            return []
        # The garbage collector is disabled. Its finalizers may let another thread run, and that thread may
        # resume the program.
        collecting = PyGC_Disable()
        try:
            return script_stack(self.state)
        finally:
            if collecting:
                PyGC_Enable()

    def run(self, steps=None):
        """Run to the end, or for about `steps` backward jumps and calls. Return whether the program ended.

        Block while the program waits for a future. `future` receives the program's result or exception. The
        limits of the calling thread apply, but the grad mode of the thread that created the program.
        """
        cdef int64_t slice = INT64_MAX if steps is None else <int64_t>steps
        if slice < 1:
            raise ValueError(f"run: steps must be at least 1, not {steps}")
        while self.condition != ENDED:
            if self.condition != STOPPED:
                raise RuntimeError(f"{self} cannot be resumed: it is not stopped")
            self.state.slice = slice
            if self.resume() == SUSPENDED:
                return False
            if self.condition == PARKED:
                try:
                    self.awaited.block()
                finally:
                    self.condition = STOPPED
        return True

    def suspend(self):
        """Request the suspension of the program that another thread runs. Its `run` call then returns False."""
        if self.state != NULL:
            self.state.suspending = True

    def queue(self):
        """Queue the program for the thread pool."""
        if self.condition != ENDED:
            self.condition = QUEUED
            from ts._core.vm import interop_pool  # imported at first use, because most scripts never fork

            interop_pool.submit(self)

    def run_queued(self):
        """If the program is still queued, run it until it ends or waits for a future.

        If the program waits, it is queued again when this future finishes.
        """
        if self.condition != QUEUED:
            return
        self.condition = RUNNING  # set before the limits are changed, which may run other threads
        cdef void *before = exchange_limits(self.inherited.limits)
        try:
            self.resume()
        finally:
            exchange_limits(before)
        if self.condition == PARKED:
            self.awaited.add_done_callback(self.wake)

    def run_inline(self):
        """Run the program in this thread until it ends or waits for a future.

        If the program waits, it is queued for the thread pool when this future finishes.
        """
        if self.condition != STOPPED:
            raise RuntimeError(f"{self} cannot be resumed: it is not stopped")
        self.condition = QUEUED
        self.run_queued()

    def wake(self, future):
        """Queue the program, because the future that it waits for has finished."""
        self.queue()

    cdef int resume(self) except -1:
        """Run until the program ends, waits or is suspended, and return the status of `advance`.

        At the end, `future` receives the result or the exception.
        """
        cdef int status
        self.condition = RUNNING
        drop_code(self)
        self.awaited = None
        self.state.suspending = False
        try:
            self.inherited.trade_flags()
            try:
                check_limits()
                status = advance(self.state)
            finally:
                self.inherited.trade_flags()
            if status == WAITING:
                self.awaited = awaited_future(self.state)
                if waits_for(self.awaited, self):
                    fail_waiting(self.state)
            if status != DONE:
                retain_code(self)
                self.condition = PARKED if status == WAITING else STOPPED
                return status
            result = box_shallow(&self.state.result)
            release(&self.state.result)
        except BaseException as error:
            self.end()
            self.future.finish(None, error, False)
            return DONE
        self.end()
        self.future.finish(result, None, False)
        return DONE


seal(ScriptCoroutine)


# `traverse` visits the attributes and the frames of suspended programs. The traversal that Cython generates
# would visit only the attributes. Visiting the frames is necessary to collect a program that waits for an
# unreachable future together with this future.

cdef extern from "Python.h":
    ctypedef int (*Visit "visitproc")(PyObject *x, void *arg) noexcept
    ctypedef int (*Traverse "traverseproc")(PyObject *x, Visit visit, void *arg) noexcept
    ctypedef struct TypeSlots "PyTypeObject":
        Traverse tp_traverse
    void PyType_Modified(TypeSlots *t) noexcept


cdef Traverse visit_attributes = (<TypeSlots *>ScriptCoroutine).tp_traverse


cdef int visit_program(PyObject *x, Visit visit, void *arg) noexcept:
    cdef int status = visit_attributes(x, visit, arg)
    cdef Frame *frame = NULL
    cdef IValue *value
    cdef int i
    if (<ScriptCoroutine>x).state != NULL and (<ScriptCoroutine>x).condition != RUNNING:
        frame = (<ScriptCoroutine>x).state.frame
    while frame != NULL:
        if status == 0 and (<ScriptCoroutine>x).holding:
            status = visit(frame.code, arg)
        for i in range((<Code>frame.code).owned_count):
            value = R(frame_registers(frame), (<Code>frame.code).owned[i] * <int>sizeof(IValue))
            if status == 0 and value.tag == TAG_OBJECT and value.v.o != NULL:
                status = visit(value.v.o, arg)
        frame = frame.caller
    return status


(<TypeSlots *>ScriptCoroutine).tp_traverse = visit_program
PyType_Modified(<TypeSlots *>ScriptCoroutine)

cdef tuple CONDITIONS = ("queued", "running", "waiting", "suspended", "finished")
