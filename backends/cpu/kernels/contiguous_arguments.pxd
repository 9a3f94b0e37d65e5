"""Copies of non-contiguous arguments for C kernels that are registered with CONTIGUOUS.

If an argument has gaps between its elements, the operator copies it and calls the C kernel again. Arguments
with another dimension order are copied only if the result's layout does not depend on this order. Example of
a registration:

    register_kernel("aten::tril", tril, CONTIGUOUS)
"""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

cdef int run_with_contiguous_inputs(Operator op, IValue *r, const int32_t *at) except -1
