"""Loops of our own for elementary functions, where NumPy has none in vectors, or slower ones: `vector_math.h` has the mathematics."""

from numpy cimport npy_intp

from ts.backends.cpu.kernels.row_loops cimport RowLoops

ctypedef void (*FloatRow)(const float *, npy_intp, float *) noexcept nogil
ctypedef void (*DoubleRow)(const double *, npy_intp, double *) noexcept nogil

# With NumPy's signature of inner loops: elements that lie in order go through a row (`data`) as they are, others in tiles.
cdef void floats_by_row(char **args, const npy_intp *n, const npy_intp *steps, void *row) noexcept nogil
cdef void doubles_by_row(char **args, const npy_intp *n, const npy_intp *steps, void *row) noexcept nogil
# The row of a function, by NumPy's or SciPy's name; NULL where NumPy's loop serves.
cdef FloatRow float_row(str name) except? NULL
cdef DoubleRow double_row(str name) except? NULL
# This processor's loops over rows of floats.
cdef const RowLoops *row_loops_here() noexcept
