"""The context of each thread: one flag word that whatever an operator passes through may ask.

    set_grad_enabled(False)           of the calling thread, as all of these
    set_tracer(tracer)                from now on `tracer` sees its operators, conversions to Python, scripted
                                      functions and modules: a `ts.tracing.tracer.Tracer`
    context_flags()                   in C: GRAD_DISABLED | TRACING

A tracer sees one thread: what that thread forks is not recorded.
"""

from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject

cdef extern from *:
    """
    static _Thread_local Context context_here = {0, NULL, NULL};

    #define add_to(count, n) __atomic_add_fetch(count, n, __ATOMIC_RELAXED)
    """
    Context *context_address "&context_here"
    int add_to(int *count, int n) noexcept nogil

flagged_threads = 0


cdef Context *context() noexcept nogil:
    return context_address


cdef int set_flags(unsigned int flags) noexcept nogil:
    cdef Context *here = context()
    if (flags != 0) != (here.flags != 0):
        add_to(&flagged_threads, 1 if flags else -1)
    here.flags = flags
    return 0


cdef bint set_flag(Flag flag, bint on) noexcept nogil:
    cdef unsigned int before = context().flags
    set_flags(before | flag if on else before & ~<unsigned int>flag)
    return (before & flag) != 0


cdef unsigned int exchange_flags(unsigned int flags) noexcept nogil:
    cdef unsigned int before = context().flags
    set_flags((flags & ~<unsigned int>LIMITED) | (before & LIMITED))
    return before


def is_grad_enabled():
    """Whether operations are recorded for gradients."""
    return not context_flags() & GRAD_DISABLED


def set_grad_enabled(bint enabled):
    """Switch that; what it was before comes back."""
    return not set_flag(GRAD_DISABLED, not enabled)


def is_inference_mode_enabled():
    """Whether this is inside of `inference_mode`."""
    return context_flags() & INFERENCE != 0


def set_inference_mode_enabled(bint enabled):
    """Switch that; what it was before comes back."""
    return set_flag(INFERENCE, enabled)


def current_tracer():
    """Who records what this thread does, or None."""
    return tracer() if tracing() else None


def set_tracer(recorder):
    """Let `recorder` do so from now on; None for nobody."""
    cdef Context *here = context()
    cdef PyObject *before = here.tracer
    if recorder is not None:
        Py_INCREF(recorder)
    here.tracer = NULL if recorder is None else <PyObject *>recorder
    set_flag(TRACING, recorder is not None)
    Py_XDECREF(before)
