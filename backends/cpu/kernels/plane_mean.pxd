"""Global average pooling: adaptive average pooling to one element."""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

# Return whether `x` is a list of one or two sizes that are all 1.
cdef bint are_ones(IValue *x) noexcept
# Kernel of adaptive average pooling with output sizes that are all 1: the mean of each plane.
cdef int mean_of_planes(Operator op, IValue *r, const int32_t *at) except -1
