cdef void *row_v4(const char *name, int of_doubles) noexcept nogil
