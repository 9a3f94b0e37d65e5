"""Event recorder of the profiler: times of operators, functions, labels and compiler stages.

Input: calls in recorded threads, and stages of the compiler on all threads. Output: a list of `Event`.

A process has at most one active recorder. Without one, operator calls do no extra work. Example:

    recorder = Recorder(shapes=True, stacks=False, memory=True)
    recorder.start()                          # records this thread and programs that it forks
    ts.tanh(x)                                # adds an event: aten::tanh, from 1200 ns to 1900 ns
    recorder.stop()
    recorder.events, recorder.peak_bytes
"""

import sys

from cpython.object cimport PyObject
from libc.stdint cimport INT64_MAX, int32_t, int64_t

from ts._core.dispatch cimport record_kernels
from ts._core.dispatch.operator cimport PROFILER_KEY, Operator, backend_at, call_after, invoke_after, register_key
from ts._core.tensor.tensor cimport Tensor
from ts._core.thread.allowance cimport MemoryBudget, release_allowance, new_allowance, watch_allowance
from ts._core.thread.context cimport PROFILING, context_flags, set_flag
from ts._core.value.container cimport List, list_item
from ts._core.thread.monotonic_clock cimport monotonic_ns
from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_OBJECT
from ts._core.value.no_python_construction cimport seal

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident() noexcept

cdef extern from *:
    """
    #ifndef _GNU_SOURCE
    #define _GNU_SOURCE
    #endif
    #include <dlfcn.h>
    static const char *library_at(const void *address) {
        Dl_info found;
        return dladdr(address, &found) && found.dli_fname ? found.dli_fname : "";
    }
    """
    const char *library_at(const void *address) noexcept

cdef Recorder active = None           # the recorder that currently records this process, or None


cdef class Event:
    def __repr__(self):
        return f"<event {self.kind} {self.what}, {self.end - self.start} ns>"


cdef class Recorder:
    cdef readonly list events         # sorted by start time
    cdef bint shapes, stacks, memory
    cdef MemoryBudget *allowance
    cdef dict labels                  # thread id -> stack of label events that have not ended
    cdef unsigned long thread
    # peak memory of the thread that called `start`, relative to its memory at that time
    cdef readonly int64_t peak_bytes

    def __cinit__(self, bint shapes=False, bint stacks=False, bint memory=False):
        self.shapes, self.stacks, self.memory = shapes, stacks, memory
        self.events = []
        self.labels = {}

    def __dealloc__(self):
        release_allowance(self.allowance)

    def start(self):
        """Start recording this thread, or raise RuntimeError if another recorder is active."""
        global active
        if active is not None:
            raise RuntimeError("Can't start a profiler while another one is running: profilers cannot be nested")
        if self.memory and self.allowance == NULL:
            self.allowance = new_allowance(INT64_MAX)
        self.thread = PyThread_get_thread_ident()
        active = self
        if self.memory:
            watch_allowance(self.allowance)
        set_flag(PROFILING, True)

    def stop(self):
        """Stop recording. Raise RuntimeError unless this thread started the recorder."""
        global active
        if active is not self:
            raise RuntimeError("Can't stop a profiler that is not running")
        if self.thread != PyThread_get_thread_ident():
            raise RuntimeError("Can't stop a profiler on a thread other than the one that started it")
        set_flag(PROFILING, False)
        active = None
        if self.memory:
            watch_allowance(NULL)
            self.peak_bytes = self.allowance.peak

    @property
    def at_work(self):
        """Return whether this recorder is active."""
        return active is self

    cdef Event begin(self, str kind, what):
        cdef Event event = Event.__new__(Event)
        event.kind, event.what = kind, what
        event.backend = -1
        event.thread = PyThread_get_thread_ident()
        event.bytes_before = self.bytes_now(event.thread)
        if self.stacks:
            event.stack = python_stack()
        self.events.append(event)
        event.start = monotonic_ns()
        return event

    cdef int finish(self, Event event) except -1:
        event.end = monotonic_ns()
        event.bytes_after = self.bytes_now(event.thread)
        return 0

    cdef int64_t bytes_now(self, unsigned long thread) noexcept:
        return self.allowance.used if self.allowance != NULL and thread == self.thread else -1


seal(Event)


cdef Event begin_event(str kind, what):
    if active is None or not context_flags() & PROFILING:
        return None
    return active.begin(kind, what)


cdef int end_event(Event event) except -1:
    if event is not None:
        if active is not None:
            active.finish(event)
        else:
            event.end = monotonic_ns()
    return 0


# ---------------------------------------------------------------- operators

cdef int record_operator(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1:
    cdef Recorder recorder = active
    cdef Event event
    cdef int i, backend
    if recorder is None:                # The recorder was stopped while the context flag of this thread was set.
        return invoke_after(PROFILER_KEY, op, r, at, code, instruction)
    event = recorder.begin("operator", op)
    if code != NULL:
        event.code, event.instruction = <object>code, <size_t>instruction
    if recorder.shapes:
        event.inputs = tuple([describe_input(&r[at[i]]) for i in range(op.nargs)])
        event.start = monotonic_ns()
    backend = backend_at(op, r, at)     # before the call, because results may overwrite the registers of arguments
    try:
        invoke_after(PROFILER_KEY, op, r, at, code, instruction)
    finally:
        recorder.finish(event)
        event.kernel = <size_t><void *>op.kernels[backend]
    if op.nrets > 1 and r[at[op.nargs]].tag == TAG_BOOL:
        event.answer = bool(r[at[op.nargs]].v.i)
    return 0


cdef object record_call(Operator op, list args):
    cdef Recorder recorder = active
    cdef Event event
    if recorder is None:
        return call_after(PROFILER_KEY, op, args)
    event = recorder.begin("operator", op)
    if recorder.shapes:
        event.inputs = tuple([described_object(x) for x in args])
        event.start = monotonic_ns()
    try:
        return call_after(PROFILER_KEY, op, args)
    finally:
        recorder.finish(event)


cdef enum:
    NEAR = 64  # number of latest events among which the running event of a thread is searched


cdef int set_event_backend(Operator op, int backend) except -1:
    """Set `backend` in the event of the running operator `op`, whose Python kernel is about to run."""
    cdef Event event
    if active is None:
        return 0
    thread = PyThread_get_thread_ident()
    for event in active.events[:-NEAR - 1:-1]:
        if event.end == 0 and event.thread == thread:
            if event.what is op:
                event.backend = backend
            break                     # If the running event is that of another operator, its kernel has called `op` unrecorded.
    return 0


def library_of(size_t address):
    """Return the path of the shared library that contains a kernel's address, or "" if it is unknown."""
    return library_at(<const void *>address).decode("utf-8", "replace")


cdef object describe_input(IValue *x):
    """Return (sizes, dtype) of a tensor, a list of such tuples for a tensor list, or else None."""
    cdef List items
    cdef IValue item
    cdef Py_ssize_t i
    if x.tag != TAG_OBJECT or x.v.o == NULL:
        return None
    if type(<object>x.v.o) is List:
        items = <List>x.v.o
        result = []
        for i in range(items.size):
            item = list_item(<PyObject *>items, i)
            result.append(describe_input(&item))
        return result if None not in result and result else None
    return described_object(<object>x.v.o)


cdef object described_object(x):
    if isinstance(x, Tensor):
        return (tuple(x.shape), str(x.dtype).partition(".")[2])
    if type(x) is list and x and isinstance(x[0], Tensor):
        return [described_object(item) for item in x]
    return None


register_key(PROFILER_KEY, PROFILING, record_operator, record_call)
record_kernels.note_record = set_event_backend


# ---------------------------------------------------------------- labels and stages

def enter_label(str name, str args=None):
    """Begin the event of a label, and return the index of the event in this thread's stack of open labels.

    Return -1 if this thread is not recorded.
    """
    cdef Event event = begin_event("label", name)
    if event is None:
        return -1
    event.detail = args
    active.labels.setdefault(event.thread, []).append(event)
    return len(active.labels[event.thread]) - 1


def leave_label(Py_ssize_t index):
    """End the label with index `index`, and all labels nested in it that have not ended."""
    cdef list open
    if active is None or index < 0:
        return
    open = active.labels.get(PyThread_get_thread_ident(), [])
    while len(open) > index:
        end_event(open.pop())


def take_label(Py_ssize_t index):
    """Close the label with index `index` without ending its event.

    Return the event, or None if the label is not open.

    The event ends later, when `end_call` is called for it. Labels nested in the label end now.
    """
    cdef list open
    cdef Event event
    if active is None or index < 0:
        return None
    open = active.labels.get(PyThread_get_thread_ident(), [])
    if index >= len(open):
        return None
    event = open[index]
    while len(open) > index + 1:
        end_event(open.pop())
    open.pop()
    return event


def is_watched():
    """Return whether this thread is recorded."""
    return active is not None and context_flags() & PROFILING != 0


def begin_call(str name):
    """Begin the event of a call to another process, and return it. Any thread may end the event.

    Return None if this thread is not recorded.
    """
    return begin_event("call", name)


def end_call(Event event not None, detail):
    """End an event that `begin_call` returned. If `detail` is not None, the profiler's report shows it."""
    if detail is not None:
        event.detail = detail
    end_event(event)


cdef class Stage:
    """Context manager that records a compiler stage: `with Stage("lower", name): ...`."""

    cdef str name
    cdef object detail
    cdef Event event

    def __init__(self, str name, detail=None):
        self.name, self.detail = name, detail

    def __enter__(self):
        if active is not None:
            self.event = active.begin("stage", self.name)
            self.event.detail = self.detail

    def __exit__(self, kind, error, trace):
        end_event(self.event)
        self.event = None


# ---------------------------------------------------------------- stacks

cdef enum:
    MAX_STACK_FRAMES = 64                      # maximal number of recorded frames per stack


cdef tuple python_stack():
    cdef list result = []
    cdef object frame = sys._getframe()
    while frame is not None and len(result) < MAX_STACK_FRAMES:
        code = frame.f_code
        result.append((code.co_filename, frame.f_lineno, code.co_qualname))
        frame = frame.f_back
    return tuple(result)
