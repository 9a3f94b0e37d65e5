"""Context of each thread: mode flags, tracer and limits.

The fields are:

    flags       one word, which is 0 in most programs
    tracer      the object that records the thread's operators, if TRACING is set
    limits      the limits of `ts.limits`, if LIMITED is set

Every thread has its own context, initially empty. Forked programs and worker threads start with the context
of the thread that created them (`inherited`).
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t


cdef enum Flag:
    GRAD_DISABLED = 1             # autograd does not record operators
    INFERENCE = 2                 # the thread is inside of an `inference_mode` block
    AUTOCAST = 4
    TRACING = 8
    PROFILING = 16
    LIMITED = 32
    LAYERED = 64                  # the thread may use tensors with layers: batched tensors of `vmap`, or dual tensors
    MODES = 128                   # a `TorchFunctionMode` intercepts function calls
    AS_TENSORS = 256              # the `__torch_function__` methods of tensor subclasses are not called
    DISPATCH_MODES = 512          # a `TorchDispatchMode` intercepts operators
    DIFFERENTIATED = 1024         # the thread is inside of a function that `grad`, `vjp` or `jvp` differentiates

cdef extern from *:
    """
    typedef struct {
        unsigned int flags;
        PyObject *tracer;             /* a reference, or NULL */
        void *limits;                 /* a reference to `ResourceLimits` of `meter`, or NULL */
        unsigned int process_flags;   /* the process-wide flags already copied to `flags` */
        int64_t transform;            /* number of the innermost `grad`, `vjp` or `jvp`, or 0. New tensors get it. */
        int64_t min_writable_transform;      /* Tensors with smaller numbers are captured: in-place operators reject them. */
    } Context;
    """
    ctypedef struct Context:
        unsigned int flags
        PyObject *tracer
        void *limits
        unsigned int process_flags
        int64_t transform
        int64_t min_writable_transform

# 2 * n + r, where n is the number of threads whose flags are not 0, and r is 1 if a tensor of this process
# has ever required grad, else 0. Calls of operators read the flags of their thread only if this number is at
# least 2, and `requires_grad` of tensors only if it is odd.
cdef int attention

cdef enum:
    GRADIENTS_REQUIRED = 1

cdef void set_gradients_required() noexcept nogil

# Number of tensor classes in this process that define `__torch_function__`. If the number is 0, calls do not
# search their arguments for instances of such classes.
cdef int overriding

# Set a flag in all current and future threads. A thread may later clear the flag for itself.
cdef int set_process_flag(Flag flag) except -1

# Return the context of this thread.
cdef Context *context() noexcept nogil
# Set or clear a flag of this thread, and return its previous value.
cdef bint set_flag(Flag flag, bint on) noexcept nogil
# Set the flags of this thread except LIMITED, and return the previous flags.
cdef unsigned int exchange_flags(unsigned int flags) noexcept nogil


cdef inline unsigned int context_flags() noexcept nogil:
    """Return the flags of this thread."""
    return context().flags if attention > GRADIENTS_REQUIRED else 0


cdef inline int64_t current_transform() noexcept nogil:
    """Return the number of the innermost `grad`, `vjp` or `jvp` of this thread, or 0."""
    return context().transform if context_flags() & DIFFERENTIATED else 0


cdef inline bint differentiating(unsigned int flags) noexcept nogil:
    """Return whether autograd records operators of a thread with these context flags."""
    return attention & GRADIENTS_REQUIRED != 0 and not flags & GRAD_DISABLED


cdef inline bint tracing() noexcept nogil:
    """Return whether a tracer is active in this thread."""
    return (context_flags() & TRACING) != 0


cdef inline bint watched() noexcept nogil:
    """Return whether a tracer or a function mode is active in this thread."""
    return (context_flags() & (TRACING | MODES)) != 0


# Python function that calls the active `TorchFunctionMode`s of a thread. `ts._core.dispatch.modes` sets it.
cdef PyObject *modes


cdef inline object watcher():
    """Return the handler of function modes if a function mode is active in this thread, else the active tracer."""
    return <object>modes if context_flags() & MODES else <object>context().tracer


cdef inline object tracer():
    """Return the active tracer of this thread. The caller has checked that `tracing()` is True."""
    return <object>context().tracer
