cdef void *row_v3(const char *name, int of_doubles) noexcept nogil
