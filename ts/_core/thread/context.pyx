"""Per-thread context (thread-local storage): one word of mode flags, read on the operator path.

Examples:

    set_grad_enabled(False)           sets the grad mode of the calling thread
    with GradMode(False): ...         sets the grad mode for a block
    with TracingScope(tracer): ...    `tracer` records operators, conversions to Python, and calls of scripted
                                      functions in the block
    context_flags()                   C only: returns the thread's flags, such as GRAD_DISABLED | TRACING

`__enter__` and `__exit__` of the blocks are C functions, in which no signal handler runs. Therefore, an
interrupt cannot leave the flags of a block set after its end. Tasks that a traced thread forks are not
recorded.
"""

from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject

cdef extern from *:
    """
    static _Thread_local Context context_here = {0, NULL, NULL, 0, 0, 0};

    #define add_to(count, n) __atomic_add_fetch(count, n, __ATOMIC_RELAXED)
    #define set_bits(word, bits) __atomic_or_fetch(word, bits, __ATOMIC_RELAXED)
    """
    Context *context_address "&context_here"
    int add_to(int *count, int n) noexcept nogil
    int set_bits(int *word, int bits) noexcept nogil

attention = 0
overriding = 0
cdef unsigned int process_flags = 0  # flags set for all threads: `context` adds them to the flags of each thread
modes = NULL


cdef Context *context() noexcept nogil:
    cdef Context *here = context_address
    cdef unsigned int missing = process_flags & ~here.process_flags
    if missing:
        here.process_flags = process_flags
        set_flags(here.flags | missing)
    return here


cdef int set_process_flag(Flag flag) except -1:
    global process_flags
    if not process_flags & flag:
        process_flags |= flag
        add_to(&attention, 2)  # as for one more thread with flags: operators then read the flags of their thread
    return 0


cdef int set_flags(unsigned int flags) noexcept nogil:
    cdef Context *here = context()
    if (flags != 0) != (here.flags != 0):
        add_to(&attention, 2 if flags else -2)
    here.flags = flags
    return 0


cdef void set_gradients_required() noexcept nogil:
    set_bits(&attention, GRADIENTS_REQUIRED)


cdef bint set_flag(Flag flag, bint on) noexcept nogil:
    cdef unsigned int before = context_flags()
    if on != (before & flag != 0):
        set_flags(before | flag if on else before & ~<unsigned int>flag)
    return (before & flag) != 0


cdef unsigned int exchange_flags(unsigned int flags) noexcept nogil:
    cdef unsigned int before = context().flags
    set_flags((flags & ~<unsigned int>LIMITED) | (before & LIMITED))
    return before


def is_grad_enabled():
    """Return whether grad mode is enabled in this thread."""
    return not context_flags() & GRAD_DISABLED


def set_grad_enabled(bint enabled):
    """Enable or disable grad mode in this thread, and return the previous setting."""
    return not set_flag(GRAD_DISABLED, not enabled)


def is_limited():
    """Return whether `ts.limits` are active in this thread. If so, each operator checks them."""
    return context_flags() & LIMITED != 0


def is_inference_mode_enabled():
    """Return whether inference mode is enabled in this thread."""
    return context_flags() & INFERENCE != 0


def set_modes(watcher not None):
    """Register `watcher`, which receives all function calls of threads with an active `TorchFunctionMode`."""
    global modes
    Py_INCREF(watcher)
    modes = <PyObject *>watcher


def count_overriding():
    """Increment the number of tensor subclasses that define `__torch_function__`."""
    global overriding
    overriding += 1


def enter_modes(bint on):
    """Enable or disable function modes in this thread, and return the previous setting."""
    if modes == NULL:
        raise RuntimeError("no handler for function modes is set: call `set_modes` first")
    return set_flag(MODES, on)


def current_modes():
    """Return the object that calls the function modes of this thread, or None if no mode is active."""
    return <object>modes if context_flags() & MODES else None


def current_tracer():
    """Return the active tracer of this thread, or None without a tracer."""
    return tracer() if tracing() else None


cdef class FlagBlock:
    """Reentrant context manager that sets context flags of the thread.

    mask         the flags that the block changes
    flag_values  the values of these flags inside of the block
    """

    cdef unsigned int mask, flag_values
    cdef list before              # flags before each `__enter__` whose `__exit__` has not run, outermost first
    cdef unsigned int last        # flags that the last `__exit__` set. An `__exit__` without `__enter__` sets them again.

    def __cinit__(self, *args, **kwargs):
        self.before = []

    def __enter__(self):
        self.before.append(context().flags & self.mask)
        set_flags(context().flags & ~self.mask | self.flag_values)

    def __exit__(self, kind, error, trace):
        if self.before:
            self.last = self.before.pop()
        set_flags(context().flags & ~self.mask | self.last)


cdef class GradMode(FlagBlock):
    """Context manager that enables or disables grad mode."""

    def __init__(self, bint enabled):
        self.mask = GRAD_DISABLED
        self.flag_values = 0 if enabled else GRAD_DISABLED


cdef class GradModeGuard:
    """Set the grad mode when the object is created.

    At the end of a `with` block, restore the previous mode.
    """

    cdef readonly bint mode, prev

    def __init__(self, bint mode):
        self.mode = mode
        self.prev = set_grad_enabled(mode)

    def __enter__(self):
        set_grad_enabled(self.mode)

    def __exit__(self, kind, error, trace):
        set_grad_enabled(self.prev)


cdef int64_t transform_count = 0


cdef class TransformScope:
    """Context manager for the call of a function that `grad`, `vjp` or `jvp` differentiates.

    Tensors created before the block are captured, and in-place operators on them raise an error.
    """

    cdef int64_t transform, min_writable_transform

    def __enter__(self):
        global transform_count
        cdef Context *here = context()
        self.transform, self.min_writable_transform = current_transform(), here.min_writable_transform
        transform_count += 1
        here.transform = here.min_writable_transform = transform_count
        set_flag(DIFFERENTIATED, True)

    def __exit__(self, kind, error, trace):
        cdef Context *here = context()
        here.transform, here.min_writable_transform = self.transform, self.min_writable_transform
        set_flag(DIFFERENTIATED, self.transform != 0)


def exchange_min_writable_transform(int64_t number):
    """Set the smallest transform number of tensors that in-place operators of this thread accept. Return the old number."""
    cdef Context *here = context()
    previous = here.min_writable_transform
    here.min_writable_transform = number
    return previous


def get_min_writable_transform():
    """Return the smallest transform number of tensors that in-place operators of this thread accept."""
    return context().min_writable_transform


cdef class InferenceMode(FlagBlock):
    """Context manager that enables or disables inference mode (no autograd, no version counters)."""

    def __init__(self, bint enabled):
        self.mask = INFERENCE | GRAD_DISABLED
        self.flag_values = self.mask if enabled else 0


cdef class CompileTimeMode(FlagBlock):
    """Context manager for constant folding: disables autocast, inference mode and function modes.

    The folded constants are then valid in all modes.
    """

    def __init__(self):
        self.mask = AUTOCAST | INFERENCE | MODES
        self.flag_values = 0


cdef class DisableTorchFunction(FlagBlock):
    """Context manager that disables or enables `__torch_function__` of classes and, with `modes=True`, of modes."""

    def __init__(self, bint enabled=True, *, bint modes=False):
        self.mask = AS_TENSORS | MODES if modes else AS_TENSORS
        self.flag_values = AS_TENSORS if enabled else 0


cdef class TracingScope:
    """Context manager that makes `recorder` the tracer of this thread. If it is None, tracing is disabled."""

    cdef object recorder
    cdef list before

    def __init__(self, recorder):
        self.recorder = recorder
        self.before = []

    def __enter__(self):
        self.before.append(current_tracer())
        set_tracer(self.recorder)

    def __exit__(self, kind, error, trace):
        set_tracer(self.before.pop())


cdef int set_tracer(recorder) except -1:
    cdef Context *here = context()
    cdef PyObject *before = here.tracer
    if recorder is not None:
        Py_INCREF(recorder)
    here.tracer = NULL if recorder is None else <PyObject *>recorder
    set_flag(TRACING, recorder is not None)
    Py_XDECREF(before)
    return 0
