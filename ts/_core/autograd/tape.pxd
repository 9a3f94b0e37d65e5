"""The tape: operators that take a tensor that wants a gradient leave a node behind."""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

# What a group of operators says where its operators are to run one by one.
cdef int leave(Operator op, IValue *r, const int32_t *at) except -1
