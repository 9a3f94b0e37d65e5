"""Copies of non-contiguous arguments for C kernels that are registered with CONTIGUOUS.

    register_kernel("aten::tril", tril, CONTIGUOUS)

A copied argument either has gaps between elements and dimensions in C order, or it has another dimension
order and the layout of the result does not depend on this order (field `layout` of the record). If there is
no such argument, or if one cannot be copied, the Python kernel of the record runs.
"""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

cdef int run_with_contiguous_inputs(Operator op, IValue *r, const int32_t *at) except -1
