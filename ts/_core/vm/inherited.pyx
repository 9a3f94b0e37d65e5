"""Work for other threads, done as on the thread that asked for it.

    inherited = Inherited()
    Thread(target=lambda: inherited.run(work))      under this thread's limits, without gradients if it has none
"""

cimport cython

from ts._core.dispatch.autocast cimport exchange_switches, inherited_switches
from ts._core.thread.context cimport LIMITED, TRACING, context_flags, exchange_flags
from ts._core.vm.meter cimport drop_limits, exchange_limits, hold_limits


@cython.final
cdef class Inherited:
    def __cinit__(self):
        self.flags = context_flags() & ~<unsigned int>(LIMITED | TRACING)
        self.autocast = inherited_switches()
        self.limits = hold_limits()

    def __dealloc__(self):
        drop_limits(self.limits)

    cdef void trade_flags(self) noexcept:
        self.flags = exchange_flags(self.flags)
        self.autocast = exchange_switches(self.autocast)

    def run(self, work):
        """work(), on any thread, as on the one that made this."""
        cdef void *before = exchange_limits(self.limits)
        self.trade_flags()
        try:
            return work()
        finally:
            self.trade_flags()
            exchange_limits(before)
