"""Second call of a kernel, with half-precision arguments converted to float32. The results are rounded once.

    if kind != FLOAT and kind != DOUBLE:
        return run_upcast_to_float32(op, r, at)     # for other arguments: `run_with_contiguous_inputs`

This is correct only for operators that PyTorch computes in float32, and if no argument requests another dtype.
"""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

cdef int run_upcast_to_float32(Operator op, IValue *r, const int32_t *at) except -1
# Return whether a register holds a float16 or bfloat16 tensor.
cdef bint is_half_tensor(IValue *x) noexcept
