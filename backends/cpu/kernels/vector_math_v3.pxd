from ts.backends.cpu.kernels.row_loops cimport RowLoops

cdef void *row_v3(const char *name, int of_doubles) noexcept nogil
cdef const RowLoops *row_loops_v3() noexcept nogil
