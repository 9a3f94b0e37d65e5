"""Context propagation, which executes work on another thread in the context of the thread that created it.

The context consists of the limits, the grad mode, the autocast state, and one object set by `carry`. Example:

    inherited = ThreadContextSnapshot()
    Thread(target=lambda: inherited.run(work))      `work` runs in the context of this thread
"""

cimport cython
from cpython.ref cimport Py_XDECREF, Py_XINCREF, PyObject

from ts._core.dispatch.autocast cimport exchange_autocast_flags, inherited_autocast_flags
from ts._core.thread.context cimport LIMITED, TRACING, context, context_flags, exchange_flags
from ts._core.vm.meter cimport release_limits, exchange_limits, retain_limits

cdef extern from *:
    """
    static _Thread_local PyObject *carried_here = NULL;   /* a reference, or NULL */
    """
    PyObject *carried_here


def carried():
    """Return the object that `carry` set in this thread or that it inherits (None by default)."""
    return None if carried_here == NULL else <object>carried_here


def carry(x):
    """Set the object that `carried` returns in this thread, and in work that this thread starts on other threads.

    None removes the object.
    """
    global carried_here
    cdef PyObject *before = carried_here
    carried_here = NULL if x is None else <PyObject *>x
    Py_XINCREF(carried_here)
    Py_XDECREF(before)


@cython.final
cdef class ThreadContextSnapshot:
    def __cinit__(self):
        self.flags = context_flags() & ~<unsigned int>(LIMITED | TRACING)
        self.transform, self.min_writable_transform = context().transform, context().min_writable_transform
        self.autocast = inherited_autocast_flags()
        self.limits = retain_limits()
        self.carried = carried_here
        Py_XINCREF(self.carried)

    def __dealloc__(self):
        Py_XDECREF(self.carried)
        release_limits(self.limits)

    cdef void trade_flags(self) noexcept:
        global carried_here
        self.carried, carried_here = carried_here, self.carried
        self.flags = exchange_flags(self.flags)
        self.transform, context().transform = context().transform, self.transform
        self.min_writable_transform, context().min_writable_transform = context().min_writable_transform, self.min_writable_transform
        self.autocast = exchange_autocast_flags(self.autocast)

    def run(self, work):
        """Call `work()` on the current thread in the thread context of this snapshot, and return the result
        of the call.
        """
        cdef void *before = exchange_limits(self.limits)
        self.trade_flags()
        try:
            return work()
        finally:
            self.trade_flags()
            exchange_limits(before)
