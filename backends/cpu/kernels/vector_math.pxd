"""Row kernels of elementary functions that NumPy lacks or computes more slowly; see `vector_math.h`."""

from numpy cimport npy_intp

from ts.backends.cpu.kernels.row_loops cimport RowLoops

ctypedef void (*FloatRow)(const float *, npy_intp, float *) noexcept nogil
ctypedef void (*DoubleRow)(const double *, npy_intp, double *) noexcept nogil

# Loops with NumPy's signature: contiguous elements are passed to the row kernel (`data`) directly, strided
# ones in tiles.
cdef void floats_by_row(char **args, const npy_intp *n, const npy_intp *steps, void *row) noexcept nogil
cdef void doubles_by_row(char **args, const npy_intp *n, const npy_intp *steps, void *row) noexcept nogil
# Return the row kernel of a function by NumPy's or SciPy's name; NULL if NumPy's loop should be used.
cdef FloatRow float_row(str name) except? NULL
cdef DoubleRow double_row(str name) except? NULL
# Return the row kernels of this process's SIMD level.
cdef const RowLoops *row_loops_here() noexcept
