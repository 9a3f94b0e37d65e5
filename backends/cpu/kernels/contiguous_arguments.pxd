"""Fallback of C kernels that require contiguous tensors: it copies the non-contiguous arguments.

    register_kernel("aten::tril", tril, CONTIGUOUS)

Arguments with gaps between elements are copied if their dimensions are in C order. Arguments with another
dimension order are copied unless the result's layout depends on it (field `layout` of the record). The Python
kernel of the record runs if no argument needs a copy or an argument cannot be copied.
"""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

cdef int run_with_contiguous_inputs(Operator op, IValue *r, const int32_t *at) except -1
