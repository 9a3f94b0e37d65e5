"""Compiled functions that Python can call.

A call unboxes the arguments into a frame, runs the frame, and boxes the result. A subclass defines
`_prepare`, which compiles the function at its first call:

    class ScriptFunction(Function):
        def _prepare(self): return lower(optimised_graph)

    f = ScriptFunction("f", [("x", INT_SPEC), ("y", INT_SPEC, 2)], "f(int x, int y=2) -> int")
    f(1, y=3)

A call runs one of three graph variants. If autograd records the call, it runs the differentiated graph.
Without optimization or with autocast, it runs the unoptimized graph, because autocast changes the dtypes that
the optimizer assumes. All other calls run the optimized graph.
"""

from cpython.long cimport PyLong_CheckExact
from cpython.ref cimport PyObject

from ts._core.dispatch.profiler_recorder cimport Event, begin_event, end_event
from ts._core.thread.context cimport AUTOCAST, PROFILING, TRACING, Flag, context_flags, differentiating, set_flag, tracer, tracing
from ts._core.thread.monotonic_clock cimport monotonic_ns
from ts._core.thread.stack cimport stack_is_low
from ts._core.tensor.tensor cimport Tensor, needs_grad
from ts._core.vm.code cimport compilation_ns
from ts._core.vm.execution cimport ScriptCoroutine, begin, execute
from ts._core.vm.failure cimport remove_traceback
from ts._core.vm.frame cimport State, first_frame, frame_registers, release_state, release_frames, allocate_state
from ts._core.value.container cimport Dict, List, TAG_DELETED, Tuple
from ts._core.value.ivalue cimport (
    ANY_SPEC, IValue, KIND_INT, TAG_NONE, TAG_OBJECT, TypeSpec, box, copy_value, release, unbox,
)
from ts._core.value.objects cimport Object

from ts._core.dispatch.argument_errors import argument_error
from ts._core.tensor.array_coercion import with_tensors
from ts.errors import LimitExceeded, StackExceeded, closest, no_such_argument

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *x) noexcept
    long long PyLong_AsLongLongAndOverflow(object x, int *overflow) except? -1


# Borrowed reference to the Function that was called last, or NULL. When this Function is deallocated, it
# resets the variable to NULL.
cdef PyObject *last_called = NULL


def last_executed():
    """Return the function that Python called last, on any thread.

    Return None if Python has called no function, or if the function was deallocated.
    """
    return <object>last_called if last_called != NULL and Py_REFCNT(last_called) > 0 else None


cdef void set_last_executed(Function function) noexcept:
    """Make `last_executed` return `function`, which may be None. The reference is borrowed."""
    global last_called
    last_called = NULL if function is None else <PyObject *>function


def is_optimizing():
    """Return whether this thread runs optimized graphs."""
    return not context_flags() & AS_WRITTEN


def set_optimizing(bint on):
    """Enable or disable optimized graphs in this thread, and return the previous setting."""
    return not set_flag(<Flag>UNOPTIMIZED, not on)


cdef enum Tier:
    UNDECIDED        # before the first call
    BASELINE
    OPTIMIZED


cdef tuple TIER_NAMES = ("", "baseline", "optimized")
# A function is optimized after this number of calls of baseline code, or after this run time. `ts.runtime.tiers` sets both.
cdef int64_t max_baseline_calls = 0
cdef int64_t max_baseline_ns = 0


def set_baseline_limits(int64_t calls, int64_t nanoseconds):
    """Set after how many calls, or after which run time, a function is optimized. Return the previous values."""
    global max_baseline_calls, max_baseline_ns
    before = max_baseline_calls, max_baseline_ns
    max_baseline_calls, max_baseline_ns = calls, nanoseconds
    return before


cdef enum:
    AS_WRITTEN = UNOPTIMIZED | AUTOCAST  # context flags with which a call runs the unoptimized graph


cdef enum:
    # Maximal number of arguments and nested items that are searched for tensors that require grad. If a call
    # has more, the search ends and the call runs the differentiated graph.
    MAX_QUERIES = 4096


cdef bint any_requires_grad(tuple args, dict kwargs) except -1:
    """Return whether an argument is, or may contain, a tensor that requires grad."""
    cdef int left = MAX_QUERIES
    for x in args:
        if may_require_grad(x, &left):
            return True
    return any_inside(kwargs.values(), &left) if kwargs else False


def args_require_grad(tuple args not None):
    """Return whether a tensor among `args` requires grad.

    A list, module, etc. counts if it may contain such a tensor.
    """
    return any_requires_grad(args, {})


cdef bint any_inside(object items, int *left) except -1:
    for x in items:
        if may_require_grad(x, left):
            return True
    return False


cdef bint may_require_grad(object x, int *left) except -1:
    cdef Py_ssize_t i
    if isinstance(x, Tensor):
        return needs_grad(<Tensor>x)
    left[0] -= 1
    if left[0] <= 0:
        return True
    if type(x) is Object:
        return any_of((<Object>x).slots, (<Object>x).size, left)
    if type(x) is Tuple:
        return any_of((<Tuple>x).items, (<Tuple>x).size, left)
    if type(x) is List:
        return (<List>x).item == TAG_NONE and any_of(<IValue *>(<List>x).items, (<List>x).size, left)
    if type(x) is Dict:
        for i in range((<Dict>x).used):
            if (<Dict>x).entries[i].key.tag != TAG_DELETED and any_of(&(<Dict>x).entries[i].value, 1, left):
                return True
        return False
    if isinstance(x, (list, tuple)):
        return any_inside(x, left)
    return isinstance(x, dict) and any_inside(x.values(), left)


cdef bint any_of(IValue *values, Py_ssize_t n, int *left) except -1:
    cdef Py_ssize_t i
    for i in range(n):
        if values[i].tag == TAG_OBJECT and values[i].v.o != NULL and may_require_grad(<object>values[i].v.o, left):
            return True
    return False


cdef class Function:
    def __dealloc__(self):
        global last_called
        if last_called == <PyObject *>self:
            last_called = NULL

    def __cinit__(self, *_, **__):
        self.name = self.declaration = ""
        self.arguments = self.names = ()
        self.defaults = {}

    def __init__(
        self, str name not None, arguments=(), str declaration not None="", int by_name=0, TypeSpec result not None=ANY_SPEC
    ):
        if self.ready != NULL or self.arguments:
            raise TypeError(f"{self!r} cannot be initialized twice: code may depend on its arguments")
        self.name = name
        self.result = result
        self.declaration = declaration or f"{name}(...)"
        self.arguments = tuple(arguments)
        for argument in self.arguments:
            if len(argument) < 2 or not isinstance(argument[1], TypeSpec):
                raise TypeError(f"expected (name, type, ...) for an argument of {name}, got {argument!r}")
        self.argument_count = len(self.arguments)
        self.positional_count = self.argument_count - by_name
        self.plain_count = -1 if by_name else self.argument_count
        self.names = tuple([argument[0] for argument in self.arguments])
        self.specs = tuple([argument[1] for argument in self.arguments])
        self.defaults = {argument[0]: argument[2] for argument in self.arguments if len(argument) > 2}

    def __repr__(self):
        return f"<{type(self).__name__} {self.name}>"

    def __call__(self, *args, **kwargs):
        cdef unsigned int flags = context_flags()
        if flags & (TRACING | PROFILING | AS_WRITTEN):
            return self.call_watched(args, kwargs)
        if differentiating(flags) and any_requires_grad(args, kwargs):
            return self.with_tape().call(args, kwargs)
        return self.call(args, kwargs)

    cdef object call_watched(self, tuple args, dict kwargs):
        """Execute a call for which a tracer, the profiler or autocast is active, or optimization is disabled."""
        cdef Event event
        cdef Function runs
        if tracing():
            return tracer().function(self, args, kwargs)
        runs = self.in_force(args, kwargs)
        event = begin_event("function", self)
        try:
            return runs.call(args, kwargs)
        finally:
            end_event(event)

    cdef Function in_force(self, tuple args, dict kwargs):
        cdef unsigned int flags = context_flags()
        if flags & AS_WRITTEN:
            return self.without_optimisation()
        return self.with_tape() if differentiating(flags) and any_requires_grad(args, kwargs) else self

    cdef Function with_tape(self):
        if self.differentiated is None:
            self.differentiated = self.with_gradients()
        return self.differentiated

    def without_optimisation(self):
        """Return the function variant with the unoptimized graph, or `self` if no such variant exists."""
        return self

    def with_gradients(self):
        """Return the function variant with the differentiated graph, which runs in grad mode.

        Return `self` if no such variant exists.
        """
        return self

    @property
    def by_name(self):
        """Number of keyword-only arguments at the end of the argument list."""
        return self.argument_count - self.positional_count

    @property
    def compiled_code(self):
        """Return the general (unspecialized) Code that calls without gradients run in this thread.

        The Code is compiled at the first access.
        """
        cdef Function runs = self.without_optimisation() if context_flags() & AS_WRITTEN else self
        if runs.ready == NULL:
            runs.prepare()
        plans = runs.code.plans
        return runs.code if plans is None else plans.code_for_all()

    @property
    def plans(self):
        """Return the specializations of `compiled_code`, or None without specializations."""
        cdef Function runs = self.without_optimisation() if context_flags() & AS_WRITTEN else self
        return None if runs.ready == NULL else runs.code.plans

    cdef object call(self, tuple args, dict kwargs):
        global last_called
        cdef State *state
        cdef IValue result
        if self.ready == NULL:
            if self.runs_baseline():
                return self.call_baseline(args, kwargs)
            self.prepare()
        last_called = <PyObject *>self
        if stack_is_low():
            raise StackExceeded(f"the thread's stack is full: infinite recursion through Python? (calls of {self.name})")
        if kwargs or len(args) != self.plain_count:
            args = self.bind(args, kwargs)
        state = allocate_state()
        try:
            first_frame(state, self.code)
            self.write_parameters(state, args)
            execute(state)
        except BaseException as error:
            release_state(state)
            raise remove_traceback(error)
        # The result is moved to a local variable, because boxing it runs Python code, which may reuse the
        # released state
        result = state.result
        release_state(state)
        try:
            return box(&result)
        finally:
            release(&result)

    cdef bint runs_baseline(self) except -1:
        if self.tier == UNDECIDED:
            self.tier = BASELINE if self._begins_with_baseline() else OPTIMIZED
        if self.tier == BASELINE and (self.baseline_calls >= max_baseline_calls or self.baseline_ns >= max_baseline_ns):
            self.tier = OPTIMIZED
        return self.tier == BASELINE

    cdef object call_baseline(self, tuple args, dict kwargs):
        """Run baseline code, and count the call and its run time. The time of a call that compiles is not counted."""
        global last_called
        cdef Function runs = self.baseline()
        cdef int64_t compiled = compilation_ns()
        cdef int64_t begin = monotonic_ns()
        try:
            return runs.call(args, kwargs)
        finally:
            if compiled == compilation_ns():
                self.baseline_ns += monotonic_ns() - begin
            self.baseline_calls += 1
            last_called = <PyObject *>self

    def _begins_with_baseline(self):
        """Return whether the first calls of the function run the code of `baseline()`."""
        return False

    def baseline(self):
        """Return the function variant that the first calls run, or `self` if no such variant exists."""
        return self

    @property
    def tier_state(self):
        """Return (tier, number of baseline calls, their run time in ns). The tier is "", "baseline" or "optimized"."""
        return TIER_NAMES[OPTIMIZED if self.ready != NULL else self.tier], self.baseline_calls, self.baseline_ns

    cdef int run_values(self, IValue *values, IValue *result) except -1:
        cdef State *state
        cdef IValue *r
        cdef int i
        if self.ready == NULL:
            self.prepare()
        if stack_is_low():
            raise StackExceeded(f"the thread's stack is full (calls of {self.name})")
        state = allocate_state()
        try:
            first_frame(state, self.code)
            r = <IValue *>frame_registers(state.frame)
            for i in range(self.argument_count):
                copy_value(&r[i], &values[i])
            execute(state)
        except BaseException as error:
            release_state(state)
            raise remove_traceback(error)
        result[0] = state.result
        release_state(state)
        return 0

    cdef int write_parameters(self, State *state, tuple args) except -1:
        """Unbox the arguments into the innermost frame. If this fails, release all frames."""
        cdef IValue *r = <IValue *>frame_registers(state.frame)
        cdef int i = 0, overflow = 0
        try:
            for i in range(self.argument_count):
                x = args[i]
                if PyLong_CheckExact(x) and (<TypeSpec>self.specs[i]).kind == KIND_INT:
                    r[i].v.i = PyLong_AsLongLongAndOverflow(x, &overflow)
                    if overflow == 0:
                        continue
                unbox(x, <TypeSpec>self.specs[i], &r[i])
        except LimitExceeded:
            release_frames(state)
            raise
        except (TypeError, ValueError, OverflowError, RuntimeError) as error:
            release_frames(state)
            foreign = with_tensors(args, self.specs)  # try again with arrays of other libraries converted to tensors
            if foreign is not None:
                first_frame(state, self.code)
                return self.write_parameters(state, foreign)
            raise argument_error(
                self.name, self.names[i], <TypeSpec>self.specs[i], i, args[i], self.declaration, error
            ) from None
        return 0

    def start(self, *args, **kwargs):
        """Return a `ScriptCoroutine` for a call with these arguments. The coroutine has not started yet."""
        cdef ScriptCoroutine program
        if self.ready == NULL:
            self.prepare()
        if kwargs or len(args) != self.plain_count:
            args = self.bind(args, kwargs)
        program = begin(self.in_force(args, {}))
        self.write_parameters(program.state, args)
        return program

    def bind(self, tuple args, dict kwargs):
        """Return positional arguments for all parameters, with defaults. Raise PyTorch's error for an invalid call."""
        if len(args) + len(kwargs) > self.argument_count:
            raise RuntimeError(
                f"{self.name}() expected at most {self.argument_count} argument(s) but received {len(args) + len(kwargs)}"
                f" argument(s). Declaration: {self.declaration}"
            )
        if len(args) > self.positional_count:
            raise RuntimeError(
                f"{self.name}() takes {self.positional_count} positional argument(s) but {len(args)} was/were given."
                f"  Declaration: {self.declaration}"
            )
        values = list(args)
        unused = dict(kwargs)
        for name in self.names[:len(args)]:
            if name in unused:
                raise RuntimeError(
                    f"Argument '{name}' specified both as positional and keyword argument. Schema: {self.declaration}"
                )
        for name in self.names[len(args):]:
            if name in unused:
                values.append(unused.pop(name))
            elif name in self.defaults:
                values.append(self.defaults[name])
            else:
                unknown = [other for other in unused if other not in self.names]
                raise RuntimeError(
                    f"{self.name}() is missing value for argument '{name}'. Declaration: {self.declaration}"
                    f"{with_hint(no_such_argument(unknown[0], self.names) if unknown else '')}"
                )
        for name in unused:
            suggestion = closest(name, self.names)
            meant = f"did you mean '{suggestion}'?" if suggestion else ""
            raise RuntimeError(
                f"Unknown keyword argument '{name}' for operator '{self.name}'. Schema: {self.declaration}"
                f"{with_hint(meant)}"
            )
        return tuple(values)


cdef str with_hint(str hint):
    """Return `hint` as the last line of an error message, or "" if the hint is empty."""
    return f"\nHint: {hint}" if hint else ""
