"""Operator cost estimates (estimated time of kernels), checked under `ts.limits(seconds=...)`."""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

# Raise TimeExceeded if the estimated time of the operator with these arguments exceeds the rest of the time
# limit.
cdef int before_operator(Operator op, IValue *r, const int32_t *at) except -1
