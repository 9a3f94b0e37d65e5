"""Compiled functions that Python can call (`function.pyx`)."""

from libc.stdint cimport int64_t

from ts._core.value.ivalue cimport IValue
from ts._core.vm.code cimport Callee
from ts._core.vm.frame cimport State


cdef enum:
    UNOPTIMIZED = 1 << 16             # context flag beyond `context.Flag`: the thread runs unoptimized graphs


cdef class Function(Callee):
    """A compiled function that Python can call.  Subclasses implement `_prepare`, which compiles the Code."""
    cdef readonly str declaration     # the schema in PyTorch's syntax, for messages
    cdef readonly tuple arguments     # tuples (name, TypeSpec) or (name, TypeSpec, default)
    cdef int argument_count
    # Number of positional arguments in calls that need no `bind`, because they pass exactly these arguments.
    # It is -1 if a parameter is keyword-only.
    cdef int plain_count
    cdef int positional_count
    cdef tuple names
    cdef dict defaults
    cdef int tier                     # a constant `Tier` of `function.pyx`
    cdef int64_t baseline_calls       # number of calls that ran baseline code
    cdef int64_t baseline_ns          # their run time in nanoseconds, without compilation
    cdef Function differentiated  # variant of the function whose graph computes gradients, or None before the first use
    cdef object __weakref__
    cdef dict __dict__

    # Return the variant of the function that a call in this thread runs: the unoptimized variant, the variant
    # with gradients, or `self`.
    cdef Function in_force(self, tuple args, dict kwargs)
    cdef Function with_tape(self)
    # Run the function with `values`, which must have the types of the parameters. Write the result to `result` with a
    # new reference.
    cdef int run_values(self, IValue *values, IValue *result) except -1
    cdef object call(self, tuple args, dict kwargs)
    # Return whether a call that finds no optimized code runs baseline code.
    cdef bint runs_baseline(self) except -1
    cdef object call_baseline(self, tuple args, dict kwargs)
    cdef object call_watched(self, tuple args, dict kwargs)
    cdef int write_parameters(self, State *state, tuple args) except -1

cdef void set_last_executed(Function function) noexcept
