"""Selection of tensor elements by bool masks."""

from libc.stdint cimport int32_t

from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.tensor_iterator cimport Loop

# Return source[by] as an array, where `by` is a mask with the shape of `source`, or None if the arguments are
# unsupported. Both must be among the `nargs` arguments or in lists among them, so that `leave_gil` keeps them alive.
cdef object select_by_mask(int nargs, IValue *r, const int32_t *at, IValue *source, IValue *by)

# Return an inner loop with operands (mask, x, y, out) for elements of `width` bytes. The loop writes x to out
# where the mask is true, and y elsewhere.
cdef Loop selection_loop(npy_intp width) noexcept

# Write a number to `out` as an element of dtype `kind`. Return False if the category of the dtype (bool, int,
# float) is not that of the number, or if the dtype cannot represent the number.
cdef bint store_exact_scalar(IValue *scalar, int kind, char *out) noexcept
