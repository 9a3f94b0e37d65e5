"""Running a float32 kernel on half-precision tensors: compute in float32, and round the results once.

    if kind != FLOAT and kind != DOUBLE:
        return run_upcast_to_float32(op, r, at)     # falls back to `run_with_contiguous_inputs`

Use this only for operators that PyTorch computes in float32, and not if an argument requests another dtype.
"""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

cdef int run_upcast_to_float32(Operator op, IValue *r, const int32_t *at) except -1
# Return whether a register holds a float16 or bfloat16 tensor.
cdef bint is_half_tensor(IValue *x) noexcept
