"""Interpreter meter (fuel), with safepoint polling for signal handling, limits and preemption.

The meter counts 1 for a backward jump or a call, and 16 for an operator. When the budget is used up, the
interpreter handles signals such as Ctrl-C, checks limits, and lets other threads run.

A block sets limits, each of which is a number or None. Blocks can be nested:

    with LimitsBlock(fuel, seconds, bytes, depth):
        ...

Code without object operands releases the GIL at its first check. At later checks, at least 20 ms apart, it
acquires the GIL to run signal handlers.
"""

from cpython.pystate cimport PyThreadState
from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport free, malloc

from ts._core.thread.allowance cimport MemoryBudget, as_limit, release_allowance, retain_allowance, new_allowance, set_allowance
from ts._core.thread.context cimport LIMITED, context, set_flag
from ts._core.thread.deadline cimport NO_DEADLINE, check_time, now_seconds, set_deadline
from ts._core.vm.frame cimport State
from ts.errors import FuelExceeded

cdef extern from "Python.h":
    PyThreadState *PyEval_SaveThread() noexcept nogil
    void PyEval_RestoreThread(PyThreadState *thread) noexcept nogil

cdef extern from *:
    """
    /* atomic, because programs on several threads may share one step limit */
    #define take_fuel(fuel, n) __atomic_fetch_sub(fuel, n, __ATOMIC_RELAXED)
    """
    int64_t take_fuel(int64_t *fuel, int64_t n) noexcept nogil

cdef enum:
    QUANTUM = 4096
    DEPTH_LIMIT = 65536

# seconds after which a program without the GIL acquires it to check for signals
cdef double SIGNAL_SECONDS = 0.02
cdef double GIL_RELEASE_INTERVAL_SECONDS = 0.005      # interval at which the GIL is released so that other threads can run


cdef struct ResourceLimits:
    # Limits of one `with ts.limits(...)` block. A limit that the block does not set has the largest possible
    # value.
    ResourceLimits *outer                     # limits of the enclosing block (owned reference), or NULL
    int users  # reference count: the thread, inner limits and forked programs refer to the limits
    int64_t fuel  # remaining steps. It may become negative, because one operator may count several steps.
    int64_t initial_fuel
    double deadline                   # the earliest deadline of this block and its outer blocks
    double seconds                    # argument `seconds` of the block whose deadline this is
    MemoryBudget *memory                 # memory budget of the block (owned reference), or NULL
    int depth


cdef inline ResourceLimits *innermost() noexcept nogil:
    """Return the limits of the innermost block in this thread, or NULL without limits."""
    return <ResourceLimits *>context().limits


cdef class LimitsBlock:
    """Context manager of `ts.limits`. No signal handler runs in `__enter__` and `__exit__`."""

    cdef readonly object fuel, seconds, bytes, depth

    def __init__(self, fuel=None, seconds=None, bytes=None, depth=None):
        self.fuel = fuel
        self.seconds = seconds
        self.bytes = bytes
        self.depth = depth

    def __enter__(self):
        push_limits(self.fuel, self.seconds, self.bytes, self.depth)
        return self

    def __exit__(self, kind, error, trace):
        try:
            raised = as_limit(error)
        finally:
            pop_limits()
        if raised is not None and raised is not error:
            raise raised from error


cdef int push_limits(fuel, seconds, bytes, depth) except -1:
    cdef ResourceLimits *outer = innermost()
    cdef ResourceLimits limits
    limits.outer = outer
    limits.users = 1
    limits.fuel = limits.initial_fuel = INT64_MAX if fuel is None else min(fuel, INT64_MAX)
    limits.seconds = 0 if seconds is None else seconds
    limits.deadline = NO_DEADLINE if seconds is None else now_seconds() + limits.seconds
    limits.depth = DEPTH_LIMIT if depth is None else min(depth, DEPTH_LIMIT)
    if outer != NULL:
        if outer.deadline < limits.deadline:
            limits.deadline, limits.seconds = outer.deadline, outer.seconds
        limits.depth = min(limits.depth, outer.depth)
    cdef ResourceLimits *allocated = <ResourceLimits *>malloc(sizeof(ResourceLimits))
    if allocated == NULL:
        raise MemoryError()
    limits.memory = NULL if outer == NULL else outer.memory
    if bytes is not None:
        try:
            limits.memory = new_allowance(min(bytes, INT64_MAX))
        except MemoryError:
            free(allocated)
            raise
    else:
        retain_allowance(limits.memory)
    allocated[0] = limits
    exchange_limits(allocated)
    return 0


cdef int pop_limits() except -1:
    cdef ResourceLimits *limits = innermost()
    if limits == NULL:
        raise RuntimeError("the thread has no active limits to leave")
    exchange_limits(limits.outer)
    if limits.outer != NULL:
        limits.outer.users += 1
    release_limits(limits)
    return 0


cdef void *retain_limits() noexcept:
    cdef ResourceLimits *limits = innermost()
    if limits != NULL:
        limits.users += 1
    return limits


cdef void release_limits(void *held) noexcept:
    cdef ResourceLimits *limits = <ResourceLimits *>held
    cdef ResourceLimits *outer
    while limits != NULL:
        limits.users -= 1
        if limits.users > 0:
            return
        outer = limits.outer
        release_allowance(limits.memory)
        free(limits)
        limits = outer


cdef void *exchange_limits(void *limits) noexcept:
    cdef ResourceLimits *before = innermost()
    if limits != before:
        context().limits = limits
        set_flag(LIMITED, limits != NULL)
        set_allowance(NULL if limits == NULL else (<ResourceLimits *>limits).memory)
        if limits == NULL:
            set_deadline(NO_DEADLINE, 0)
        else:
            set_deadline((<ResourceLimits *>limits).deadline, (<ResourceLimits *>limits).seconds)
    return before


cdef void start_meter(State *state) noexcept nogil:
    cdef ResourceLimits *limits = innermost()
    state.quantum = max(min(QUANTUM, state.slice), 0)
    state.depth_limit = DEPTH_LIMIT if limits == NULL else limits.depth
    while limits != NULL:
        state.quantum = max(min(state.quantum, limits.fuel), 0)
        limits = limits.outer
    state.budget = state.quantum


cdef void charge(State *state) noexcept nogil:
    cdef ResourceLimits *limits = innermost()
    while limits != NULL:
        if limits.fuel != INT64_MAX:
            take_fuel(&limits.fuel, state.quantum - state.budget)
        limits = limits.outer
    if state.slice != INT64_MAX:
        state.slice -= state.quantum - state.budget
    state.quantum = state.budget = 0


# Function type of `check_limits` for calls from nogil functions. The caller of the function must hold the
# GIL.
ctypedef int (*Check)() noexcept nogil


cdef int check_signals_and_limits(State *state, bint may_release) noexcept nogil:
    cdef double now = now_seconds()
    cdef bint limited = innermost() != NULL
    cdef int status = 0
    charge(state)
    if limited or state.thread == NULL or now - state.last_check_time > SIGNAL_SECONDS:
        if state.thread != NULL:
            PyEval_RestoreThread(state.thread)
            state.thread = NULL
            state.last_check_time = now
        elif now - state.last_check_time > GIL_RELEASE_INTERVAL_SECONDS:
            PyEval_RestoreThread(PyEval_SaveThread())    # release and acquire the GIL, so that other threads can run
            state.last_check_time = now
        status = (<Check>check_limits)()
    if status == 0 and (state.suspending or state.slice <= 0):
        return 1
    if status == 0:
        start_meter(state)
        if may_release and state.thread == NULL:
            state.thread = PyEval_SaveThread()
    return status


cdef str stack_message(int depth, str name):
    allowed = f"ts.limits(depth={depth}) allows" if depth < DEPTH_LIMIT else "the interpreter allows"
    return f"more than the {depth} nested calls that {allowed}: infinite recursion? (calls of {name})"


cdef int check_limits() except -1:
    """Raise the exception of a signal handler or the error of an exceeded limit. Otherwise return 0."""
    cdef ResourceLimits *limits = innermost()
    check_time()
    while limits != NULL:
        if limits.fuel <= 0:
            raise FuelExceeded(
                f"the program used more fuel than ts.limits(fuel={limits.initial_fuel}) allows: "
                f"{limits.initial_fuel - limits.fuel} units were used"
            )
        limits = limits.outer
    return 0
