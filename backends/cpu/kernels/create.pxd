"""What kernels that make tensors are asked for: place, dtype and sizes."""

from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue

# Whether layout, device and pin_memory ask for an ordinary CPU tensor.
cdef bint plain_place(IValue *layout, IValue *device, IValue *pinned) noexcept
# The dtype to make; -1 where there is no kernel for it.  `missing` -1: the default dtype.
cdef int wanted(IValue *dtype, int missing) except -2
# The sizes in a list; false where they are none, or too many.
cdef bint read_sizes(IValue *x, npy_intp *dims, int *nd) noexcept
# Write a number in the dtype; false where that has none of its category, or it does not fit.
cdef bint store(IValue *number, int kind, char *out) noexcept
