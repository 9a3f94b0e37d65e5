"""Log of the operators executed by a thread, with arguments and results.

The attribute `lines` has an entry for each operator:

    with OperatorLog(is_group, looks_inside) as writer:
        y = ts.tanh(x) * 2
    writer.lines                   # [(aten::tanh, [x], [t]), (aten::mul.Scalar, [t, 2], [y])]

If autograd records the operators that a composite operator calls, `lines` has an entry for each of these.
Otherwise, `lines` has one entry for the composite operator. `OperatorObserver` observes or replaces the
results of each operator.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport LOG_KEY, PROFILER_KEY, Operator, call_after, invoke_after, register_key, run_in_python
from ts._core.tensor.tensor cimport Tensor
from ts._core.thread.context cimport PROFILING, context_flags, set_flag
from ts._core.value.container cimport List
from ts._core.value.ivalue cimport IValue, box, copy_value, set_bool

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident() noexcept

cdef dict active_logs = {}                 # thread id -> innermost active log of the thread


cdef class OperatorLog:
    """Context manager that logs the operators executed by its thread."""

    cdef readonly list lines           # list of (operator, arguments, results)
    cdef object is_group               # function: operator -> True for a fusion group
    # function(operator) that returns True if autograd records the operators that `operator` calls instead of
    # `operator` itself
    cdef object looks_inside
    cdef bint before
    cdef OperatorLog outer

    def __init__(self, is_group not None, looks_inside not None):
        self.lines = []
        self.is_group, self.looks_inside = is_group, looks_inside

    def __enter__(self):
        thread = PyThread_get_thread_ident()
        self.outer = active_logs.get(thread)
        active_logs[thread] = self
        self.before = set_flag(PROFILING, True)
        return self

    def __exit__(self, kind, error, trace):
        thread = PyThread_get_thread_ident()
        set_flag(PROFILING, self.before)
        if self.outer is None:
            active_logs.pop(thread, None)
        else:
            active_logs[thread] = self.outer
        self.outer = None


cdef class OperatorObserver(OperatorLog):
    """Observer of all non-composite operators that run in its `with` block. It writes no log.

    The constructor receives two callbacks, each of which may be None:

    replace_call(operator, arguments)          returns replacement results, or None to run the operator
    after_call(operator, arguments, results)   receives the list of results after the operator has run
    """

    cdef object replace_call           # callback, or None
    cdef object after_call             # callback, or None
    cdef object result                 # results that `replace_call` returned, until they are written to the result registers
    # True while a callback runs. It stays True after a callback has raised an exception. Operators are not
    # observed while it is True.
    cdef bint failed

    def __init__(self, replace_call=None, after_call=None):
        self.replace_call, self.after_call = replace_call, after_call

    def __enter__(self):
        self.failed = False
        return OperatorLog.__enter__(self)

    cdef bint has(self, Operator op, list args) except -1:
        """Store the results that `replace_call` returns in `self.result`. Return False if it returns no results."""
        if self.replace_call is None or self.failed:
            return False
        self.failed = True
        with PauseLogging():
            self.result = self.replace_call(op, args)
        self.failed = False
        return self.result is not None

    cdef int see(self, Operator op, list args, list results) except -1:
        if self.after_call is not None and not self.failed:
            self.failed = True
            with PauseLogging():
                self.after_call(op, args, results)
            self.failed = False
        return 0


cdef class PauseLogging:
    """Context manager that pauses logging in this thread while the compiler works."""

    cdef bint paused, before

    def __enter__(self):
        self.paused = PyThread_get_thread_ident() in active_logs if active_logs else False
        if self.paused:
            self.before = set_flag(PROFILING, False)

    def __exit__(self, kind, error, trace):
        if self.paused:
            set_flag(PROFILING, self.before)


cdef int write_operator(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1:
    cdef OperatorLog log = active_logs.get(PyThread_get_thread_ident()) if active_logs else None
    cdef list args
    cdef int i
    if log is None:
        return invoke_after(LOG_KEY, op, r, at, code, instruction)
    if op.record is None:              # Operators of the language (without an operator record) are not logged.
        return invoke_below_log(op, r, at)
    if isinstance(log, OperatorObserver):
        return invoke_below_log(op, r, at) if op.tensor_kernel else invoke_and_observe(<OperatorObserver>log, op, r, at)
    if log.is_group(op):
        set_bool(&r[at[op.nargs]], False)
        for i in range(1, op.nrets):
            copy_value(&r[at[op.nargs + i]], &r[at[op.tensor_at]])
        return 0
    args = values_at(r, at, op.nargs)
    if log.looks_inside(op, args):
        return invoke_below_log(op, r, at)
    invoke_quietly(op, r, at)
    log.lines.append((op, args, values_at(r, at + op.nargs, op.nrets)))
    return 0


cdef object write_call(Operator op, list args):
    cdef OperatorLog log = active_logs.get(PyThread_get_thread_ident()) if active_logs else None
    if log is None:
        return call_after(LOG_KEY, op, args)
    if isinstance(log, OperatorObserver) and (op.tensor_kernel or (<OperatorObserver>log).has(op, args)):
        return call_after(PROFILER_KEY, op, args) if op.tensor_kernel else result_of(<OperatorObserver>log)
    set_flag(PROFILING, False)
    try:
        result = call_after(PROFILER_KEY, op, args)
    finally:
        set_flag(PROFILING, True)
    results = list(result) if op.nrets > 1 else [result] if op.nrets else []
    if isinstance(log, OperatorObserver):
        (<OperatorObserver>log).see(op, args, results)
    else:
        log.lines.append((op, args, results))
    return result


cdef int invoke_and_observe(OperatorObserver keeper, Operator op, IValue *r, const int32_t *at) except -1:
    cdef list args = values_at(r, at, op.nargs)
    if keeper.has(op, args):
        return run_in_python(op, give_result, r, at)
    invoke_quietly(op, r, at)
    return keeper.see(op, args, values_at(r, at + op.nargs, op.nrets))


cdef object give_result(Operator op, list args):
    return result_of(<OperatorObserver>active_logs[PyThread_get_thread_ident()])


cdef object result_of(OperatorObserver keeper):
    result, keeper.result = keeper.result, None
    return result


cdef inline int invoke_below_log(Operator op, IValue *r, const int32_t *at) except -1:
    """Run an operator by the dispatch keys that follow PROFILER_KEY: check the limits, then run the kernel."""
    return invoke_after(PROFILER_KEY, op, r, at, NULL, NULL)


cdef int invoke_quietly(Operator op, IValue *r, const int32_t *at) except -1:
    """Run an operator without logging the operators that it calls."""
    set_flag(PROFILING, False)
    try:
        return invoke_below_log(op, r, at)
    finally:
        set_flag(PROFILING, True)


cdef list values_at(IValue *r, const int32_t *at, int count):
    """Return the values in `count` registers, where lists are copies."""
    return [plain(box(&r[at[i]])) for i in range(count)]


cdef object plain(object x):
    """Return a copy of a list. Other values are returned unchanged."""
    return list(x) if type(x) is List else x


def identity(Tensor x not None):
    """Return a key of the tensor's array.

    Tensors with the same array have equal keys, such as a tensor and its detached alias.
    """
    return <size_t><PyObject *>x.array


register_key(LOG_KEY, PROFILING, write_operator, write_call)
