"""Elements of one dtype as those of another."""

from numpy cimport npy_intp

# Whether there is a loop from the one to the other.
cdef bint converts(int source, int target) noexcept nogil
# That loop, over elements without gaps; its data are the two dtypes.
cdef void convert_tile(char **args, const npy_intp *count, const npy_intp *steps, void *data) noexcept nogil
cdef void *conversion_data(int source, int target) noexcept nogil
