"""Autograd tape: operators with inputs that require grad record a backward node."""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

# Report to the caller of a fusion group that its operators must run one by one: the first result is False.
cdef int leave(Operator op, IValue *r, const int32_t *at) except -1
