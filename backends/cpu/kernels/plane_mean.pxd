"""Means of whole planes: adaptive pooling to one place."""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

# Whether a list of sizes says one place.
cdef bint are_ones(IValue *x) noexcept
# The kernel for such sizes.
cdef int mean_of_planes(Operator op, IValue *r, const int32_t *at) except -1
