"""Conversions between dtypes."""

from numpy cimport npy_intp

# Return whether a conversion loop exists between two dtypes.
cdef bint has_conversion(int source, int target) noexcept nogil
# Conversion loop over contiguous elements. Its argument `data` comes from `conversion_data`, which encodes
# both dtypes.
cdef void convert_tile(char **args, const npy_intp *count, const npy_intp *strides, void *data) noexcept nogil
cdef void *conversion_data(int source, int target) noexcept nogil
