"""Conversions between dtypes."""

from numpy cimport npy_intp

# Return whether a conversion loop exists between two dtypes.
cdef bint has_conversion(int source, int target) noexcept nogil
# Inner loop that converts contiguous elements from one dtype to another. The argument `data` encodes both
# dtypes. `conversion_data` returns it.
cdef void convert_tile(char **args, const npy_intp *count, const npy_intp *strides, void *data) noexcept nogil
cdef void *conversion_data(int source, int target) noexcept nogil
