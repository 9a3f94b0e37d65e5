"""Arguments of tensor factories: device, dtype and sizes."""

from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue

# Return whether the argument `device` is None or the CPU without an index.
cdef bint is_cpu(IValue *device) noexcept
# Return whether the arguments layout, device and pin_memory select an ordinary CPU tensor.
cdef bint is_plain_cpu(IValue *layout, IValue *device, IValue *pinned) noexcept
# Return the ScalarType for the argument `dtype`, or -1 if the dtype is unsupported. If `dtype` is None, the
# ScalarType is `missing`, or the default dtype if `missing` is -1.
cdef int read_dtype(IValue *dtype, int missing) except -2
# Write the list of sizes `x` to `dims` and its length to `nd`. Return False if `x` is no list of valid sizes.
cdef bint read_sizes(IValue *x, npy_intp *dims, int *nd) noexcept
# Write the number `scalar` to memory as an element of dtype `kind`. Return False if the dtype cannot
# represent the number, or if the dtype has a lower category than the number (int is lower than float).
cdef bint store_scalar(IValue *scalar, int kind, char *out) noexcept
