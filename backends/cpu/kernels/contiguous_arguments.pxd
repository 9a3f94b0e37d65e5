"""Second call of a C kernel that requires contiguous tensors, with copies of its non-contiguous arguments.

    if contiguous_array_or_null(&r[at[0]]) == NULL:
        return run_with_contiguous_inputs(op, r, at)      # instead of `call_python_kernel`

Arguments with gaps between elements are copied if their dimensions are in C order. Arguments with another
dimension order are copied unless the result's layout depends on it (field `layout` of the record). The Python
kernel of the record runs if no argument needs a copy or an argument cannot be copied.
"""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

cdef int run_with_contiguous_inputs(Operator op, IValue *r, const int32_t *at) except -1
