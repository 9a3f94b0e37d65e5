"""Compiled functions callable from Python; see `function.pyx`."""

from ts._core.value.ivalue cimport IValue
from ts._core.vm.code cimport Callee
from ts._core.vm.frame cimport State


cdef enum:
    UNOPTIMIZED = 1 << 16             # an additional context flag: run graphs as written


cdef class Function(Callee):
    """Compiled function callable from Python.  Subclasses implement `_prepare`, which compiles the Code."""
    cdef readonly str declaration     # PyTorch's schema text, for messages
    cdef readonly tuple arguments     # (name, TypeSpec) or (name, TypeSpec, default) each
    cdef int argument_count
    cdef int plain_count              # argument count of a fully positional call; -1 with keyword-only arguments
    cdef int positional_count
    cdef tuple names
    cdef dict defaults
    cdef Function differentiated      # graph variant with gradients, or None before first use
    cdef object __weakref__
    cdef dict __dict__

    # Return the graph variant that a call in this thread executes.
    cdef Function in_force(self, tuple args, dict kwargs)
    cdef Function with_tape(self)
    # Run on values that conform to the parameters; writes a new reference to `result`.
    cdef int run_values(self, IValue *values, IValue *result) except -1
    cdef object call(self, tuple args, dict kwargs)
    cdef object call_watched(self, tuple args, dict kwargs)
    cdef int write_parameters(self, State *state, tuple args) except -1
