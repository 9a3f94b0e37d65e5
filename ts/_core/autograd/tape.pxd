"""Autograd tape: records a backward node for each operator call with an input that requires grad."""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

# Set the first result of a fusion group or differentiable graph to False. It tells the caller that the group
# did not run, so that the caller runs its operators one by one.
cdef int leave(Operator op, IValue *r, const int32_t *at) except -1
