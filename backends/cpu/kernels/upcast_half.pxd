"""Fallback of float32 C kernels: it converts half-precision arguments to float32, and rounds the results.

If the call has an argument `dtype` or no half-precision tensor, the fallback calls
`run_with_contiguous_inputs` instead. Example of a registration:

    register_kernel("aten::softplus", softplus, FLOAT32_CONTIGUOUS)
"""

from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport IValue

cdef int run_upcast_to_float32(Operator op, IValue *r, const int32_t *at) except -1
