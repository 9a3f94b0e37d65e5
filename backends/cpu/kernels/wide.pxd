"""A kernel for 32-bit floats, on tensors of 16-bit floats: it computes with them in 32 bits, and rounds its results once.

    if kind != FLOAT and kind != DOUBLE:
        return run_widened(op, r, at)       # instead of `run_in_order`, which runs for everything else

Only for operators that PyTorch computes so, and not where an argument asks for another dtype.
"""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

cdef int run_widened(Operator op, IValue *r, const int32_t *at) except -1
# Whether a register holds a tensor of 16-bit floats.
cdef bint is_short_tensor(IValue *x) noexcept
