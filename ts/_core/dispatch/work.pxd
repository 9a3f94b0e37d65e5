"""Work estimate of operators, checked under `ts.limits(seconds=...)`."""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

# Before a kernel runs on these registers: TimeExceeded when it could not be done in time.
cdef int before_operator(Operator op, IValue *r, const int32_t *at) except -1
