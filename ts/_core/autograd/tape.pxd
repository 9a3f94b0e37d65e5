"""Autograd tape: records a backward node for each operator call with an input that requires grad."""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

# Report that a fusion group or differentiable graph did not run: set the first result to False. The caller then runs
# the operators one by one.
cdef int leave(Operator op, IValue *r, const int32_t *at) except -1
