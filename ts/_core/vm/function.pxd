"""Functions that Python can call."""

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
    cdef int plain_count              # how many arguments a call by position has; -1: some are by name only
    cdef int positional_count
    cdef tuple names
    cdef dict defaults
    cdef Function differentiated      # graph variant with gradients, or None before first use
    cdef object __weakref__
    cdef dict __dict__

    # What a call by this thread runs.
    cdef Function in_force(self, tuple args, dict kwargs)
    cdef Function with_tape(self)
    # Run it on values that conform to its parameters; `result` is a new reference.
    cdef int run_values(self, IValue *values, IValue *result) except -1
    cdef object call(self, tuple args, dict kwargs)
    cdef object call_watched(self, tuple args, dict kwargs)
    cdef int write_parameters(self, State *state, tuple args) except -1
