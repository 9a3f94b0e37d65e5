"""Autograd tape: operators with inputs that require grad record a backward node."""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

# Report that the operators of a group have to run one by one.
cdef int leave(Operator op, IValue *r, const int32_t *at) except -1
