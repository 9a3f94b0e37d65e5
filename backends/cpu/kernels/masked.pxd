"""Selection by masks."""

from libc.stdint cimport int32_t

from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.walk cimport Loop

# Return source[by] as an array for a mask of the whole tensor; None if it is unsupported. Both registers are
# among the `nargs` arguments, or in their lists.
cdef object select_by_mask(int nargs, IValue *r, const int32_t *at, IValue *source, IValue *by)

# Return a loop that selects from the second operand if the first, the mask, is true, else from the third, for
# elements of `width` bytes.
cdef Loop selection_loop(npy_intp width) noexcept

# Write a number in the dtype `kind`; False if that is not exact or changes the category.
cdef bint store_exact_scalar(IValue *number, int kind, char *out) noexcept
