"""Copies of non-contiguous arguments for C kernels that are registered with CONTIGUOUS.

    register_kernel("aten::tril", tril, CONTIGUOUS)

The flag CONTIGUOUS makes the operator's fallback copy the arguments and call the C kernel again. Two kinds of
arguments are copied: those with gaps between elements, and those with another dimension order. The second
kind is copied only if the result's layout does not depend on this order. In all other cases, the Python
kernel of the record runs.
"""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

cdef int run_with_contiguous_inputs(Operator op, IValue *r, const int32_t *at) except -1
