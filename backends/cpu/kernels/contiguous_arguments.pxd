"""Calls of C kernels that require contiguous tensors, with contiguous copies of non-contiguous arguments.

    if contiguous_array_or_null(&r[at[0]]) == NULL:
        return run_with_contiguous_inputs(op, r, at)      # instead of `call_python_kernel`

The Python kernel of the operator record runs instead if no argument needs a copy, or if the layout of the
result depends on the layout of the arguments (field `layout` of the record). Arguments with gaps between
elements, but with dimensions in C order, are always copied.
"""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

cdef int run_with_contiguous_inputs(Operator op, IValue *r, const int32_t *at) except -1
