"""Arguments of tensor factories: device, dtype and sizes."""

from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue

# Return whether layout, device and pin_memory select an ordinary CPU tensor.
cdef bint is_plain_cpu(IValue *layout, IValue *device, IValue *pinned) noexcept
# Return the dtype to create, by default `missing`, or the default dtype if that is -1; return -1 if the dtype
# is unsupported.
cdef int read_dtype(IValue *dtype, int missing) except -2
# Read a list of sizes; return False for other values and sizes out of range.
cdef bint read_sizes(IValue *x, npy_intp *dims, int *nd) noexcept
# Write a number in a dtype of at least its category; return False if its value does not fit.
cdef bint store_scalar(IValue *number, int kind, char *out) noexcept
