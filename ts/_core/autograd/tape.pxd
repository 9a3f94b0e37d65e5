"""Autograd tape: records a backward node for each operator call with an input that requires grad."""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

# Set the first result of a fusion group or differentiable graph to False, which tells the caller that the
# group or graph did not run. The caller then runs the operators one by one.
cdef int leave(Operator op, IValue *r, const int32_t *at) except -1
