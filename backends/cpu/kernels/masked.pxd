"""Selection of tensor elements by bool masks."""

from libc.stdint cimport int32_t

from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.tensor_iterator cimport Loop

# Return source[by] as an array, where `by` is a mask with the shape of `source`. Return None if the arguments
# are unsupported. `source` and `by` must be among the `nargs` arguments or in lists among them.
cdef object select_by_mask(int nargs, IValue *r, const int32_t *at, IValue *source, IValue *by)

# Return an inner loop with operands (mask, x, y, out) that writes x where the mask is true, else y, for
# elements of `width` bytes.
cdef Loop selection_loop(npy_intp width) noexcept

# Write a number as an element of dtype `kind`. Return False if the dtype cannot represent its value or has
# another category (bool, int, float).
cdef bint store_exact_scalar(IValue *scalar, int kind, char *out) noexcept
